import csv

import numpy as np
import pytest

from surefoot.errors import InvalidInputError
from surefoot.paper.studies.benchmark import searches


def write_study(folder, search, shift):
    """PI is `shift` above ScaledEI in every seed, up to noise."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    with (folder / "distances.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["search", "kernel", "problem", "policy", "seed", "n50", "n200"])
        for seed in range(5):
            for policy, level in (("PI", -5.0 + shift), ("ScaledEI", -5.0), ("EI", -6.0)):
                writer.writerow([search, "se", "BRA", policy, seed, 0.0, level + 0.01 * rng.standard_normal()])
        writer.writerow([search, "se", "CAM", "EI", 0, 1.0, ""])  # not there yet
        writer.writerow([search, "matern52", "BRA", "EI", 0, 1.0, 7.0])
    return folder


def test_searches_stand_side_by_side_with_their_tests(tmp_path):
    folders = [write_study(tmp_path / "a", "gradient", 0.0), write_study(tmp_path / "b", "paper", 2.0)]
    text = searches.write(folders, tmp_path / "out", "se", 200, "how")
    row = next(line for line in text.splitlines() if line.startswith("| BRA"))
    assert [cell.strip() for cell in row.strip("|").split("|")][1:4] == ["-5.0", "-5.0", "-6.0"]
    assert [cell.strip() for cell in row.strip("|").split("|")][5:9] == ["-3.0", "-5.0", "-6.0", "0.00"]
    assert "| exact search | 1 | 0 |" in text
    assert "| the paper's search | 1 | 1 |" in text
    assert "CAM" not in text
    assert (tmp_path / "out" / "searches.png").stat().st_size > 10_000


def test_what_is_not_there_is_said(tmp_path):
    study = write_study(tmp_path / "a", "paper", 0.0)
    with pytest.raises(InvalidInputError, match="has none"):
        searches.read([tmp_path], "se", 200)
    with pytest.raises(InvalidInputError, match="50, 200"):
        searches.read([study], "se", 300)
    with pytest.raises(InvalidInputError, match="got none"):
        searches.write([study], tmp_path / "out", "no kernel", 200, "how")
