"""The built site: links and images lead somewhere, nobody else is asked for anything, headings are in order."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "link": "href", "source": "src", "iframe": "src", "object": "data"}


class Page(HTMLParser):
    """What a page links to, loads and is divided into."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.headings: list[int] = []
        self.images_without_text = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {given[name] or "" for name in ("id", "name") if name in given}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")
        if tag in LOADED and given.get(LOADED[tag]) and given.get("rel") not in ("canonical", "index", "search"):
            self.loaded.append(given[LOADED[tag]] or "")
        if tag == "img" and "alt" not in given:
            self.images_without_text += 1
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))


def main(folder: str) -> None:
    root = Path(folder).resolve()
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in sorted(root.rglob("*.html"))
        if "_static" not in path.relative_to(root).parts
    }
    if not pages:
        sys.exit(f"{root} has no pages")
    problems = [
        f"{path.relative_to(root)}: {text}" for path, page in pages.items() for text in faults(path, page, pages)
    ]
    import look_at_site  # beside this file, where a script finds it and pytest does not

    seen = look_at_site.faults(root, list(pages))
    problems += seen or []
    if problems:
        sys.exit(f"{len(problems)} problems\n  " + "\n  ".join(problems[:60]))
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links: all lead somewhere")
    print(
        "There is no browser with playwright: nobody has looked at them."
        if seen is None
        else "They fit on a phone; contrast and the keyboard's focus are what they should be."
    )


def faults(path: Path, page: Page, pages: dict[Path, Page]) -> list[str]:
    found = [f"loads {address} from elsewhere" for address in page.loaded if urlsplit(address).netloc]
    for address in {*page.links, *page.loaded}:
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.exists():
            found.append(f"{address} is not there")
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
            found.append(f"{address} has no such place")
    if page.images_without_text:
        found.append(f"{page.images_without_text} images without a text")
    if page.headings.count(1) > 1:
        found.append(f"{page.headings.count(1)} main headings")
    for before, after in zip(page.headings, page.headings[1:], strict=False):
        if after > before + 1:
            found.append(f"a heading h{after} follows h{before}")
    return found


if __name__ == "__main__":
    main(sys.argv[1])
