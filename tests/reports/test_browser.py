"""Pages as a person sees them: opened in a real browser, without a window, at two widths, and printed."""

import json
import re
import subprocess
from html import escape, unescape
from pathlib import Path

import pytest

from surefoot import minimize
from surefoot.inference.result import Inference
from surefoot.reports.optimization import write_report
from surefoot.reports.pdf import browser_command, find_browser, print_pdf
from surefoot.reports.pulmonary import write_report as write_pulmonary_report

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.skipif(find_browser() is None, reason="no Chromium is installed")

WIDTHS = (1280, 400)
NAME = "stiffness_of_the_large_vessels_in_dyn_per_square_centimetre"

# Runs in the page when it is laid out, and leaves what it measured in the document that holds it.
MEASURE = """<script>
addEventListener("load", () => setTimeout(() => {
  const box = e => e.getBoundingClientRect(), all = s => [...document.querySelectorAll(s)];
  const outside = svg => [...svg.querySelectorAll("text")].filter(t => {
    const a = box(t), b = box(svg);
    return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1 || a.bottom > b.bottom + 1;
  }).map(t => t.textContent);
  const seen = {
    width: innerWidth,
    needed: document.documentElement.scrollWidth,
    headings: all("h1, h2").filter(e => box(e).height > 0).map(e => e.textContent),
    figures: all(".drawings svg").map(e => [Math.round(box(e).width), Math.round(box(e).height)]),
    clipped: all(".drawings svg").flatMap(outside),
    wide: all("main > section > *").filter(e => box(e).right > innerWidth).map(e => e.className || e.tagName),
    requests: performance.getEntriesByType("resource").map(r => r.name).filter(n => !n.startsWith("data:")),
    tables: all(".table").map(e => [
      e.scrollWidth - e.clientWidth, getComputedStyle(e.querySelector("caption span"), "::after").content
    ]),
    background: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(document.body).color,
    text: document.body.innerText,
  };
  const out = parent.document.createElement("pre");
  out.className = "measured";
  out.textContent = JSON.stringify(seen);
  parent.document.body.append(out);
}, 200));
</script></body>"""


def look(page: Path, *options: str) -> dict[int, dict]:
    """What a person would see at each width (in a frame: a window cannot be that narrow), and the console."""
    inside = escape(page.read_text().replace("</body>", MEASURE))
    frames = (
        f'<iframe srcdoc="{inside}" style="width: {width}px; height: 900px; border: 0"></iframe>' for width in WIDTHS
    )
    holder = page.with_name(f"{page.stem}-held.html")
    holder.write_text(f'<!DOCTYPE html><meta charset="utf-8"><body style="margin: 0">{"".join(frames)}</body>')
    command = browser_command(find_browser(), str(page.parent / f"profile-{page.stem}{len(options)}"))
    done = subprocess.run(
        [*command, "--enable-logging=stderr", "--window-size=1700,900", "--virtual-time-budget=5000", *options,
         "--dump-dom", holder.as_uri()],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    found = re.findall(r'<pre class="measured">(.*?)</pre>', done.stdout, re.DOTALL)
    assert len(found) == len(WIDTHS), done.stderr[-2000:]
    console = re.findall(r"CONSOLE.*", done.stderr)
    return {seen["width"]: {**seen, "console": console} for seen in (json.loads(unescape(text)) for text in found)}


def simulator(x) -> float:
    if x[NAME] > 0.4:
        raise FloatingPointError("the mesh collapsed " + "in a very long word: " + "x" * 90)
    return (x[NAME] - 0.1) ** 2 + (x["b"] + 0.2) ** 2 + x["c"]


@pytest.fixture(scope="module")
def pages(inference: Inference, tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    run = minimize(simulator, {NAME: (-1.0, 1.0), "b": (-1.0, 1.0), "c": (0.0, 1.0)}, n_evals=26, n_init=16)
    return {
        "optimization": write_report(run, folder / "optimization.html", title="A run that fails"),
        "pulmonary": write_pulmonary_report(inference, folder / "pulmonary.html"),
    }


@pytest.fixture(scope="module", params=["optimization", "pulmonary"])
def name(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def looked(name: str, pages: dict[str, Path]) -> dict[int, dict]:
    return look(pages[name])


@pytest.fixture(scope="module", params=WIDTHS)
def seen(request, looked: dict[int, dict]) -> dict:
    return looked[request.param]


HEADINGS = {
    "optimization": [
        "A run that fails", "Result", "Convergence", "What the model believes", "What matters",
        "Failures", "Time", "Settings",
    ],
    "pulmonary": [
        "Pulmonary circulation: stiffness and rarefaction", "In short", "The three indicators", "Where it was measured",
        "Measured and fitted", "How far to trust it", "Simulations that failed", "How it was done", "Sources",
    ],
}  # fmt: skip
FIGURES = {"optimization": 2 + 3 + 1 + 2 + 1, "pulmonary": 4 + 1 + 22 + 6 + 1}
NUMBERS = {"optimization": ["failed", "FloatingPointError"], "pulmonary": ["26.12", "5.012", "2.7604", "interval"]}


def test_the_headings_are_visible_in_their_order(seen: dict, name: str) -> None:
    assert seen["headings"] == HEADINGS[name]


def test_the_numbers_are_visible(seen: dict, name: str) -> None:
    assert all(number in seen["text"] for number in NUMBERS[name])


def test_every_figure_has_a_size(seen: dict, name: str) -> None:
    assert len(seen["figures"]) == FIGURES[name]
    assert all(width > 150 and height > 50 for width, height in seen["figures"])


def test_no_label_of_a_figure_is_cut_off(seen: dict) -> None:
    assert seen["clipped"] == []


def test_nothing_is_wider_than_the_window(seen: dict) -> None:
    assert seen["needed"] <= seen["width"]
    assert seen["wide"] == []


def test_the_tables_that_scroll_say_so_and_no_others(seen: dict) -> None:
    hidden = [(pixels, "scroll sideways" in said) for pixels, said in seen["tables"]]
    assert all(said == (pixels > 0) for pixels, said in hidden if pixels != 1)  # one pixel may be a rounded fraction
    assert seen["width"] > 1000 or any(pixels > 1 for pixels, _ in hidden)


def test_nothing_is_requested(seen: dict) -> None:
    assert seen["requests"] == []


def test_the_console_stays_empty(seen: dict) -> None:
    assert seen["console"] == []


def test_a_dark_screen_gets_light_ink_on_a_dark_ground(pages: dict[str, Path]) -> None:
    seen = look(pages["optimization"], "--blink-settings=preferredColorScheme=0")[1280]
    background, ink = (sum(map(int, re.findall(r"\d+", seen[key])[:3])) for key in ("background", "ink"))
    assert background < 100 < 600 < ink


def test_what_the_checks_look_for_is_found_on_a_bad_page(tmp_path: Path) -> None:
    bad = '<body><main><section><p style="width: 3000px">wide</p><img src="http://127.0.0.1:9/missing.png">'
    (tmp_path / "bad.html").write_text(f"{bad}<script>console.error('ouch')</script></section></main></body>")
    seen = look(tmp_path / "bad.html")[1280]
    assert seen["needed"] > seen["width"]
    assert seen["wide"] == ["P"]
    assert any("ouch" in line for line in seen["console"])
    assert any("missing.png" in name for name in seen["requests"])


def test_a_page_is_printed_as_pdf(pages: dict[str, Path], tmp_path: Path) -> None:
    printed = print_pdf(pages["optimization"], tmp_path / "page.pdf").read_bytes()
    assert printed.startswith(b"%PDF")
    assert len(printed) > 20_000
