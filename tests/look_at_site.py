"""The built site in a headless browser: what only a browser can tell; nothing, where there is none."""

import shutil
import sys
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PHONE, WIDE = {"width": 390, "height": 844}, {"width": 1300, "height": 900}

# Nothing may stick out of a phone's screen, and a heading that does not fit is cut off without a scroll bar.
TOO_WIDE = """() => {
    const root = document.documentElement, found = [];
    if (root.scrollWidth > root.clientWidth) found.push(`is ${root.scrollWidth - root.clientWidth} pixels too wide`);
    for (const heading of document.querySelectorAll("h1, h2, h3")) {
        const range = document.createRange();
        range.selectNodeContents(heading);
        const { right, width } = range.getBoundingClientRect();
        if (width > 0 && right > root.clientWidth + 1) found.push(`cuts off the heading ${heading.textContent}`);
    }
    return found;
}"""

# WCAG 2: 4.5 to 1, and 3 to 1 for large text.
TOO_PALE = """() => {
    const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => {
        const [r, g, b] = numbers(colour).map((c) => c / 255)
            .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor, parts = numbers(colour);
            if (parts.length < 4 || parts[3] > 0.99) return colour;
        }
        return "rgb(255, 255, 255)";
    };
    const found = new Set(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement, style = getComputedStyle(element);
        if (!node.textContent.trim() || !element.checkVisibility({ visibilityProperty: true })) continue;
        if (element.closest("svg, script, style, math") || !element.getClientRects().length) continue;
        const [a, b] = [light(style.color), light(behind(element))].sort((x, y) => y - x);
        const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < (large ? 3 : 4.5) - 0.01)
            found.add(`writes "${node.textContent.trim().slice(0, 30)}" at ${ratio.toFixed(1)} to 1`);
    }
    return [...found];
}"""

# What the keyboard has reached must be seen: an outline, a shadow, or another look than without focus.
UNSEEN = """() => {
    const at = document.activeElement;
    if (!at || at === document.body) return null;
    const look = () => {
        const style = getComputedStyle(at), outline = style.outlineStyle === "none" ? "" : style.outlineWidth;
        return [outline, style.boxShadow, style.color, style.backgroundColor, style.textDecorationLine].join();
    };
    const focused = look();
    at.blur();
    const same = focused === look();
    at.focus();
    return same ? (at.textContent.trim() || at.getAttribute("aria-label") || at.tagName).slice(0, 40) : null;
}"""

LOOKED_AT = (
    "index.html", "start.html", "guide/scaling.html", "guide/decisions.html", "gallery/index.html",
    "gallery/calibration.html", "api/index.html", "api/comitia.ensembles.CommitteeClassifier.html",
    "results/peers.html",
)  # fmt: skip


def faults(root: Path, pages: list[Path]) -> list[str] | None:
    """Return what is wrong; None where there is no browser."""
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        return None
    if executable is None:
        return None
    found = []
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_context(viewport=PHONE).new_page()
        for path in pages:
            tab.goto(path.as_uri())
            found += [f"{path.relative_to(root)} on a phone: {text}" for text in tab.evaluate(TOO_WIDE)]
        for scheme in ("light", "dark"):
            tab = browser.new_context(viewport=WIDE, color_scheme=scheme).new_page()
            for name in LOOKED_AT:
                tab.goto((root / name).as_uri())
                tab.add_style_tag(content="* { transition: none !important; }")
                found += [f"{name}, {scheme}: {text}" for text in tab.evaluate(TOO_PALE)]
                for _ in range(12):
                    tab.keyboard.press("Tab")
                    if unseen := tab.evaluate(UNSEEN):
                        found.append(f"{name}, {scheme}: the focus on {unseen!r} is not seen")
        browser.close()
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    print("\n".join(faults(folder, [folder / name for name in LOOKED_AT]) or ["nothing found"]))
