"""The site as a person uses it: opened in headless Chromium. `make docs` builds it first.

With SITE_SCREENSHOTS=folder the pages are also kept as pictures, for people to look at.
"""

import functools
import http.server
import os
import threading
from pathlib import Path

import pytest

from surefoot.reports.pdf import find_browser

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "site"
SECTIONS = ["Start", "Tutorials", "How-to guides", "Understanding", "Reference", "Evidence", "Contributing"]
DESK, PHONE = {"width": 1280, "height": 850}, {"width": 390, "height": 844}

pytestmark = pytest.mark.docs


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *args):  # noqa: A002 - the name of the base class
        pass


@pytest.fixture(scope="module")
def address():
    assert (SITE / "index.html").exists(), "expected the site in build/site; try make docs"
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = find_browser()
    if chromium is None:
        pytest.skip("no Chromium is installed")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser, address):
    """Opens a page of the site; what its scripts complain about is in `page.complaints`."""
    contexts = []

    def opened(path: str, size=DESK, **options):
        context = browser.new_context(viewport=size, **options)
        contexts.append(context)
        page = context.new_page()
        page.complaints = []
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("response", lambda r: page.complaints.append(r.url) if r.status >= 400 else None)
        page.goto(f"{address}/{path}")
        return page

    yield opened
    for context in contexts:
        context.close()


def keep(page, name: str) -> None:
    folder = os.environ.get("SITE_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png")


def brightness(page, what: str) -> float:
    """Of a colour of the page's body, from 0 to 765."""
    colour = page.evaluate(f"getComputedStyle(document.body).{what}")
    return sum(float(part) for part in colour.split("(")[1].strip(")").split(",")[:3])


def test_every_section_is_reached_from_the_first_page(open_page):
    page = open_page("index.html")
    keep(page, "first")
    for section in SECTIONS:
        page.locator(".bd-header .navbar-nav a", has_text=section).first.click()
        assert page.locator("article h1").first.inner_text().startswith(section)
    assert page.complaints == []


def test_the_search_finds_a_page_by_a_word(open_page):
    page = open_page("search.html?q=heartbeat")
    page.locator("#search-results ul.search li a").first.wait_for()
    keep(page, "search")
    found = page.locator("#search-results ul.search li a").all_inner_texts()
    assert any("What survives what" in text or "Problem file" in text for text in found)


def test_the_search_opens_from_the_keyboard_and_leads_to_results(open_page):
    page = open_page("index.html")
    page.locator("button.search-button-field, button.search-button").first.click()
    page.keyboard.type("robust")
    page.keyboard.press("Enter")
    page.locator("#search-results ul.search li a").first.wait_for()
    assert page.locator("#search-results ul.search li a").count() >= 2


def test_a_block_of_code_is_copied_without_its_prompt(open_page):
    page = open_page("start/index.html", permissions=["clipboard-read", "clipboard-write"])
    block = page.locator("div.highlight", has_text="pip install").first
    block.hover()
    block.locator("button.copybtn").click()
    assert page.evaluate("navigator.clipboard.readText()").strip() == "pip install '.[run,plots]'"


@pytest.mark.parametrize("path", ["index.html", "tutorials/gallery/python_function.html", "reference/api.html"])
def test_a_dark_screen_gets_light_ink_on_a_dark_ground(open_page, path):
    light, dark = open_page(path), open_page(path, color_scheme="dark")
    keep(dark, "dark-" + Path(path).stem)
    assert brightness(light, "backgroundColor") > 600 > 300 > brightness(light, "color")
    assert brightness(dark, "backgroundColor") < 150 < 450 < brightness(dark, "color")


def test_the_button_switches_to_the_dark_theme(open_page):
    page = open_page("index.html")
    page.locator(".bd-header button.theme-switch-button:visible").first.click()
    page.locator(".bd-header button.theme-change-button[data-mode=dark]:visible").first.click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert brightness(page, "backgroundColor") < 150


PAGES = [
    str(path.relative_to(SITE))
    for path in sorted(SITE.rglob("*.html"))
    if not {"repository", "_static"} & set(path.parts)
]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_fits_a_phone(open_page, path):
    page = open_page(path, PHONE)
    keep(page, "phone-" + path.removesuffix(".html").replace("/", "-"))
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.complaints == []


def test_a_table_that_is_wider_than_a_phone_says_that_it_scrolls(open_page):
    page = open_page("contributing/walks.html", PHONE)
    if not page.evaluate("CSS.supports('container-type', 'scroll-state')"):
        pytest.skip("this Chromium cannot tell what scrolls")
    table = ".pst-scrollable-table-container > table"
    said = page.evaluate(f"getComputedStyle(document.querySelector('{table}'), '::before').content")
    assert "scroll sideways" in said
    wide = open_page("howto/index.html")
    assert wide.evaluate(f"getComputedStyle(document.querySelector('{table}'), '::before').content") == "none"


def test_the_menu_of_a_phone_leads_to_another_section(open_page):
    page = open_page("index.html", PHONE)
    page.locator("button.primary-toggle, label.primary-toggle").first.click()
    page.locator("dialog a, .bd-sidebar-primary a").filter(has_text="Tutorials").first.click()
    assert page.locator("article h1").first.inner_text().startswith("Tutorials")


def test_every_figure_has_a_size_and_a_text_of_its_own(open_page):
    page = open_page("tutorials/gallery/python_function.html")
    keep(page, "tutorial")
    figures = page.locator("article img")
    assert figures.count() >= 2
    for i in range(figures.count()):
        box = figures.nth(i).bounding_box()
        assert box["width"] > 200
        assert box["height"] > 100
        assert figures.nth(i).get_attribute("alt")
