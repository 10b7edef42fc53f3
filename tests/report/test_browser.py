"""The page in a real browser: it works by mouse and keyboard, asks nobody for anything, and shows the run's numbers."""

import itertools
import json
import shutil
from dataclasses import replace

import pandas as pd
import pytest
from sklearn.datasets import make_multilabel_classification

pytestmark = pytest.mark.browser

DRAWN = "html[data-figures=drawn]"
SCRIPT = "<script>alert(1)</script>"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        pytest.skip(f"needs a browser: none of {', '.join(BROWSERS)} is on the path")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def tab(browser, report_folder):
    """The page, opened once for all tests, with a list of what it complains about, asks for and pops up."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    tab.heard = []
    tab.on("console", lambda message: tab.heard.append(message.text))
    tab.on("pageerror", lambda error: tab.heard.append(str(error)))
    tab.on("dialog", lambda dialog: (tab.heard.append(dialog.message), dialog.dismiss()))
    tab.asked = []
    tab.on("request", lambda request: tab.asked.append(request.url))
    tab.goto((report_folder / "report.html").as_uri())
    tab.wait_for_selector(DRAWN, state="attached")
    yield tab
    context.close()


@pytest.fixture
def opened(tab, report_folder):
    """The page as it is when it opens; after each test it has kept quiet and asked nobody for anything."""
    tab.evaluate(
        """() => {
            for (const select of document.querySelectorAll("select")) select.selectedIndex = 0;
            document.querySelector("select").dispatchEvent(new Event("change"));
        }"""
    )
    yield tab
    assert tab.heard == []
    assert {url for url in tab.asked if not url.startswith(("data:", "blob:"))} == {
        (report_folder / "report.html").as_uri()
    }


def column(tab, table: str, heading: str) -> list[str | None]:
    return tab.eval_on_selector(
        f"#{table} table",
        """(table, heading) => {
            const place = [...table.tHead.rows[0].cells].findIndex(cell => cell.innerText.includes(heading));
            return [...table.tBodies[0].rows].map(row => row.cells[place].dataset.value ?? null);
        }""",
        heading,
    )


def traces(tab, figure: str) -> list[dict]:
    drawn = f"document.querySelector('#figure-{figure} .plot')"
    wanted = "({name: one.name, visible: one.visible, x: [...one.x], y: [...one.y]})"
    return tab.evaluate(f"{drawn}.data.map(one => {wanted})")


def test_the_page_opens_without_complaint_or_request(opened):
    assert opened.title() == "Which aggregation for which loss?"
    assert opened.locator(".plot .main-svg").count() > 0


def test_the_numbers_on_the_page_are_those_of_the_results_file(opened, run_folder):
    rows = pd.read_parquet(run_folder / "rows.parquet")
    rows = rows[rows["size"] == 12]
    means = 100 * rows.groupby(["ensemble", "loss", "aggregation", "dataset"]).value.mean()
    shown = opened.eval_on_selector_all(
        "#tables table.comparison tbody tr",
        """rows => rows.flatMap(row => {
            const heads = [...row.closest("table").tHead.rows[0].cells].map(cell => cell.innerText);
            return [...row.cells].map((cell, place) => [cell, heads[place]])
                .filter(([cell]) => cell.querySelector(".error"))
                .map(([cell, dataset]) => [row.dataset.ensemble, row.dataset.loss, row.dataset.method, dataset,
                                           Number(cell.dataset.value), cell.querySelector(".value").innerText]);
        })""",
    )
    assert len(shown) == len(means)
    for ensemble, loss, method, dataset, value, text in shown:
        expected = means[ensemble, loss, method, dataset]
        expected = 100 - expected if loss == "f1" else expected
        assert value == pytest.approx(expected, abs=1e-9)
        assert text == f"{round(expected, 2):.2f}"


def test_a_heading_sorts_its_table_up_and_down(opened):
    before = column(opened, "table-f1", "weather")
    head = opened.locator("#table-f1 th", has_text="weather")
    head.locator("button").click()
    rising = [float(value) for value in column(opened, "table-f1", "weather")]
    assert head.get_attribute("aria-sort") == "ascending"
    assert rising == sorted(map(float, before)) != list(map(float, before))
    head.locator("button").press("Enter")
    assert [float(value) for value in column(opened, "table-f1", "weather")] == rising[::-1]
    assert head.get_attribute("aria-sort") == "descending"


def test_missing_values_stay_last_in_either_direction(opened):
    head = opened.locator("#table-hamming th", has_text="Avg. rank")
    for _ in range(2):
        head.locator("button").click()
        ranks = column(opened, "table-hamming", "Avg. rank")
        missing = [rank is None for rank in ranks]
        assert any(missing)
        assert missing == sorted(missing)


def test_the_filter_keeps_the_rows_whose_names_hold_every_word(opened):
    opened.fill("#filter", "EXTRA ptc-m")
    rows = opened.eval_on_selector_all(
        "table.comparison tbody tr:not([hidden])", "rows => rows.map(row => [row.dataset.ensemble, row.dataset.method])"
    )
    assert set(map(tuple, rows)) == {("extra", "ptc-mode"), ("extra", "ptc-mbr")}
    assert opened.inner_text("#filter-status") == "6 of 36 rows"
    opened.fill("#filter", "")
    assert opened.locator("table.comparison tbody tr:not([hidden])").count() == 36


@pytest.mark.parametrize(("kind", "name"), [("latex", "LaTeX"), ("markdown", "Markdown")])
def test_the_copy_button_copies_the_table(opened, kind, name):
    opened.click(f"#table-f1 button[data-copy={kind}]")
    opened.wait_for_selector(f"#table-f1 .copy [role=status]:text-is('Copied as {name}')")
    copied = opened.evaluate("navigator.clipboard.readText()")
    embedded = json.loads(opened.text_content("#copies"))
    assert copied.replace("\r\n", "\n") == embedded["table-f1"][kind]
    assert ("\\toprule" if kind == "latex" else "| --- |") in copied


def test_the_recommendation_is_copied_as_code_that_can_be_run(opened):
    opened.click("#use-0-0 button[data-copy=code]")
    opened.wait_for_selector("#use-0-0 .copy [role=status]:text-is('Copied as Python')")
    copied = opened.evaluate("navigator.clipboard.readText()").replace("\r\n", "\n")
    assert copied.startswith("from comitia import EMODTClassifier\nclassifier = EMODTClassifier(n_estimators=12")
    exec(copied, dict(zip("XY", make_multilabel_classification(random_state=0), strict=True)))


def test_copying_works_where_the_browser_lends_no_clipboard(opened):
    opened.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})")
    opened.click("#table-hamming button[data-copy=markdown]")
    opened.wait_for_selector("#table-hamming .copy [role=status]:text-is('Copied as Markdown')")
    opened.evaluate("delete navigator.clipboard")
    copied = opened.evaluate("navigator.clipboard.readText()")
    assert copied == json.loads(opened.text_content("#copies"))["table-hamming"]["markdown"]


def test_a_click_on_a_legend_entry_hides_and_shows_its_trace(opened):
    expect = pytest.importorskip("playwright.sync_api").expect
    entry = opened.locator("#figure-values .legend .traces").first
    entry.scroll_into_view_if_needed()
    drawn = opened.locator("#figure-values .scatterlayer .trace")
    shown = drawn.count()
    for opacity, hidden in (("0.5", True), ("1", False)):
        entry.locator(".legendtoggle").click()
        expect(entry).to_have_css("opacity", opacity)
        assert (traces(opened, "values")[0].get("visible") == "legendonly") == hidden
        expect(drawn).to_have_count(shown - hidden)


def test_hovering_shows_the_value(opened):
    opened.select_option("#choose-dataset", "weather")
    opened.locator("#figure-values").scroll_into_view_if_needed()
    first = traces(opened, "values")[0]
    x, y = opened.evaluate(
        """([x, y]) => {
            const plot = document.querySelector("#figure-values .plot"), box = plot.getBoundingClientRect();
            const {xaxis, yaxis} = plot._fullLayout;
            return [box.left + xaxis._offset + xaxis.d2p(x), box.top + yaxis._offset + yaxis.d2p(y)];
        }""",
        [first["x"][0], first["y"][0]],
    )
    opened.mouse.move(x - 2, y)
    opened.mouse.move(x, y)
    opened.wait_for_selector("#figure-values .hoverlayer .hovertext")
    assert f"mean {first['x'][0]:.2f} ±" in opened.text_content("#figure-values .hoverlayer")


def test_the_choice_of_dataset_changes_the_figures(opened, rows):
    everywhere = traces(opened, "values")
    assert len(everywhere[0]["x"]) == 4
    opened.select_option("#choose-dataset", "weather")
    chosen = traces(opened, "values")
    assert chosen != everywhere
    part = rows[(rows.dataset == "weather") & (rows.ensemble == "emodt") & (rows["size"] == 12)]
    expected = 100 * part[(part.loss == "hamming") & (part.aggregation == "gmv")].value.mean()
    assert chosen[0]["x"] == [pytest.approx(expected, abs=1e-7)]
    assert "on weather" in opened.inner_text("#figure-values figcaption")
    assert "weather" in opened.inner_text("#figure-labels figcaption")


def test_the_choices_of_measure_and_ensemble_change_the_figures(opened):
    seen = [traces(opened, "sizes")]
    opened.select_option("#choose-loss", "f1")
    seen.append(traces(opened, "sizes"))
    opened.select_option("#choose-ensemble", "extra")
    seen.append(traces(opened, "sizes"))
    assert seen[0] != seen[1] != seen[2]
    assert "F1-measure of extra" in opened.inner_text("#figure-sizes figcaption")


def test_markup_as_names_is_text_in_tables_choices_and_figures(opened):
    assert opened.locator("#table-f1 th", has_text=SCRIPT).count() == 1
    assert opened.locator(f"#choose-dataset option[value='{SCRIPT}']").inner_text() == SCRIPT
    drawn = opened.text_content("#figure-values .xaxislayer-above")
    assert SCRIPT[:20] in drawn
    assert "sea & <b>land</b>" in drawn
    opened.select_option("#choose-dataset", SCRIPT)
    assert SCRIPT in opened.inner_text("#figure-values figcaption")
    assert "<script>alert(1)" in opened.text_content("#figure-labels .xaxislayer-above")
    assert opened.locator("#provenance", has_text=f"comitia compare {SCRIPT}").count() == 1


def test_light_and_dark_follow_the_system_and_the_button(opened):
    def ground() -> str:
        return opened.evaluate("getComputedStyle(document.body).backgroundColor")

    light = ground()
    opened.click("#theme")
    dark = ground()
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(20, 23, 27)")
    axis = "document.querySelector('#figure-values .xtick text').style.fill"
    assert opened.evaluate(axis) == "rgb(232, 234, 237)"
    assert opened.get_attribute("#theme", "aria-pressed") == "true"
    opened.click("#theme")
    opened.emulate_media(color_scheme="dark")
    assert ground() == light
    opened.evaluate("delete document.documentElement.dataset.theme")
    assert ground() == dark
    opened.emulate_media(color_scheme="light")


def test_everything_that_acts_can_be_reached_and_has_a_name(opened):
    opened.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
    unnamed = opened.eval_on_selector_all(
        "button, select, input, a, summary, [role=region]",
        """all => all.filter(one => !one.closest('.plot')).filter(one => one.tabIndex < 0 ||
             !(one.innerText || one.ariaLabel || one.labels?.[0]?.innerText)).map(one => one.outerHTML)""",
    )
    assert unnamed == []
    levels = opened.eval_on_selector_all("h1, h2, h3", "all => all.map(one => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))
    assert opened.locator("img:not([alt])").count() == 0
    assert opened.locator("table:not(:has(caption))").count() == 0


@pytest.mark.parametrize("width", [390, 768])
def test_on_a_narrow_screen_nothing_sticks_out(opened, width):
    opened.set_viewport_size({"width": width, "height": 900})
    opened.reload()
    opened.wait_for_selector(DRAWN, state="attached")
    opened.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    edges = opened.eval_on_selector_all(".main-svg", "all => all.map(one => one.getBoundingClientRect().right)")
    assert len(edges) > 4
    assert max(edges) <= width
    opened.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.parametrize("width", [390, 1280])
def test_the_picture_cuts_off_no_name_and_its_lanes_begin_at_one_place(opened, width):
    opened.set_viewport_size({"width": width, "height": 900})
    for panel in opened.query_selector_all("#picture .panel"):
        edges = "all => all.map(one => one.getBoundingClientRect().left)"
        assert len(set(panel.eval_on_selector_all(".track", edges))) == 1
        too_wide = "all => all.map(one => one.scrollWidth - one.clientWidth)"
        assert max(panel.eval_on_selector_all(".who", too_wide)) <= 0
    opened.set_viewport_size({"width": 1280, "height": 900})


def test_a_command_is_not_broken_within_an_option(browser, run, tmp_path):
    alone = replace(run, rows=run.rows[run.rows.dataset == "weather"], digits=None)
    (tmp_path / "report.html").write_text(replace(alone, source=("songs.csv", "--labels-in", "tags")).html())
    tab = browser.new_page(viewport={"width": 390, "height": 900})
    tab.goto((tmp_path / "report.html").as_uri())
    lines = "all => all.map(one => [one.innerText, one.getBoundingClientRect().height])"
    words = tab.eval_on_selector_all(".card pre .word", lines)
    assert "--labels-in" in dict(words)
    assert len({height for _, height in words}) == 1
    for width in range(320, 1400, 60):
        tab.set_viewport_size({"width": width, "height": 900})
        words = tab.eval_on_selector_all("figcaption .word", lines)
        assert {option for option, _ in words} == {"--abstain-rate"}
        assert 0 < max(height for _, height in words) < 30
    tab.close()


def test_one_dataset_uses_the_width_of_the_page(browser, run, tmp_path):
    alone = replace(run, rows=run.rows[run.rows.dataset == "weather"], digits=None)
    (tmp_path / "report.html").write_text(alone.html())
    tab = browser.new_page(viewport={"width": 1440, "height": 900})
    tab.goto((tmp_path / "report.html").as_uri())
    for part in ("#answer .cards", "#picture .panels", "#tables .tables"):
        edges = tab.eval_on_selector_all(f"{part} > *", "all => all.map(one => one.getBoundingClientRect().toJSON())")
        assert len({edge["top"] for edge in edges}) == 1  # beside each other
        assert max(edge["right"] for edge in edges) - min(edge["left"] for edge in edges) > 0.95 * 1440
    tab.close()


def test_printing_shows_everything_dark_on_light_and_no_controls(opened):
    opened.click("#theme")
    opened.emulate_media(media="print")
    opened.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not opened.locator("nav, .filter, .copy, .choices").first.is_visible()
    axis = "document.querySelector('#figure-values .xtick text').style.fill"
    assert opened.evaluate(axis) == "rgb(0, 0, 0)"
    assert opened.pdf()[:4] == b"%PDF"


def test_a_cell_of_a_notebook_shows_the_answer_and_keeps_to_itself(browser, run):
    """As a notebook has it: a piece of HTML among others, with names that would like to be scripts."""
    context = browser.new_context(viewport={"width": 900, "height": 700})
    tab = context.new_page()
    heard = []
    tab.on("console", lambda message: heard.append(message.text))
    tab.on("pageerror", lambda error: heard.append(str(error)))
    tab.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
    tab.set_content(f"<!doctype html><p id=other>other</p><div id=cell>{run._repr_html_()}</div>")
    shown = tab.inner_text("#cell")
    for loss in run.losses:
        assert run.recommendation(loss).choice in shown
        assert run.recommendation(loss).code in shown
        for name, brief in run.recommendation(loss).abbreviations.items():
            assert f"{name}: {brief}" in shown
    tab.locator("summary", has_text="F1-measure").click()
    assert tab.locator("#cell table th", has_text=SCRIPT).last.is_visible()
    assert tab.evaluate("document.querySelector('#cell script') === null")
    assert tab.evaluate("getComputedStyle(document.getElementById('other')).fontFamily") != tab.evaluate(
        "getComputedStyle(document.querySelector('.comitia-results')).fontFamily"
    )
    assert tab.evaluate("document.documentElement.scrollWidth") <= 900
    assert heard == []
    context.close()
