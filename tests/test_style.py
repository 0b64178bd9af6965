"""One palette for everything that is drawn, told apart by everybody."""

import itertools
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from surefoot.style import DARK, LIGHT, LINES, SUCCESS_SCALE, css_variables

ROOT = Path(__file__).parents[1]
# linear RGB as seen without one kind of cones: Machado, Oliveira, Fernandes (2009), severity 1
SEEN = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def linear(colour: str) -> np.ndarray:
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
    xyz = np.asarray(to_xyz) @ np.clip(rgb, 0, 1) / [0.95047, 1.0, 1.08883]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def luminance(colour: str) -> float:
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("eyes", SEEN)
@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_any_two_lines_are_told_apart(palette: dict[str, str], eyes: str) -> None:
    seen = {name: lab(np.asarray(SEEN[eyes]) @ linear(palette[name])) for name in LINES}
    apart = {(a, b): np.linalg.norm(seen[a] - seen[b]) for a, b in itertools.combinations(LINES, 2)}
    assert min(apart.values()) >= 15, min(apart, key=apart.get)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_lines_and_words_stand_out_from_the_page(palette: dict[str, str]) -> None:
    assert min(contrast(palette[name], palette["paper"]) for name in LINES) >= 3.0
    assert min(contrast(palette[name], palette["panel"]) for name in ("ink", "muted", "blue", "red")) >= 4.5


def test_success_goes_from_dark_to_light_to_dark() -> None:
    low, *_, high = [luminance(colour) for _, colour in SUCCESS_SCALE]
    assert max(low, high) < 0.2 < 0.8 < luminance(SUCCESS_SCALE[2][1])


def test_both_schemes_have_the_same_names() -> None:
    assert set(LIGHT) == set(DARK)
    assert css_variables().count("--blue: #") == 2


def test_nobody_else_has_colours_of_their_own() -> None:
    places = [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.css"), *(ROOT / "benchmarks").rglob("*.py")]
    own = {
        path.name: found
        for path in places
        if path.name != "style.py" and (found := re.findall(r"#[0-9a-fA-F]{6}\b", path.read_text(encoding="utf-8")))
    }
    assert own == {}


def test_drawing_leaves_the_settings_of_others_alone(tmp_path: Path) -> None:
    code = (
        "import matplotlib; matplotlib.use('Agg'); before = dict(matplotlib.rcParams)\n"
        "import surefoot\n"
        "surefoot.minimize(lambda x: x[0], [(0, 1)], n_evals=4).plot('r.png')\n"
        "print(before == dict(matplotlib.rcParams))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "True\n", done.stderr
