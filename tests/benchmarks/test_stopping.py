"""The study of the probability of a gain, and that of progress, on numbers that are known."""

import numpy as np
import pytest

from benchmarks import progress, stopping


def made(n=4000, calibration=(3.0, 0.6, 1.5)):
    rng = np.random.default_rng(0)
    rows = [
        {"function": "f", "seed": str(k // 9), "d": 3, "n": 10 + 10 * (k % 9), "more_than": "1 %", "q": rng.random()}
        for k in range(n)
    ]
    p = stopping.predicted([{**row, "gained": 0} for row in rows], calibration)
    return [{**row, "gained": int(rng.random() < q)} for row, q in zip(rows, p, strict=True)]


def test_the_calibration_that_made_the_gains_is_found_again():
    assert stopping.fitted(made()) == pytest.approx([3.0, 0.6, 1.5], abs=0.35)


def test_a_calibrated_probability_has_a_better_score_than_the_base_rate():
    scores = stopping.scores(made(), (3.0, 0.6, 1.5))
    assert float(scores[2]) < float(scores[4])


def test_a_stop_that_misses_a_gain_is_counted():
    rows = [
        {"function": "f", "seed": "0", "d": 1, "n": 80, "more_than": "1 %", "q": 0.0, "gained": 1},
        {"function": "f", "seed": "1", "d": 1, "n": 80, "more_than": "1 %", "q": 1.0, "gained": 1},
    ]
    said = stopping.stops(rows, np.array([0.01, 0.9]), "1 %")
    assert said.startswith("more than 1 %: 1 of 2 runs would have stopped (median at 80 of 100); 1 of them")


def test_a_run_of_the_study_has_a_row_for_every_state_and_gain(monkeypatch):
    monkeypatch.setattr(stopping, "STATES", (10, 12))
    rows = stopping.run("BRA", 0)
    assert [(row["n"], row["more_than"]) for row in rows] == [(n, m) for n in (10, 12) for m in stopping.MORE_THAN]
    assert all(0.0 <= row["q"] <= 1.0 for row in rows)


def test_progress_that_tells_the_distance_helps_the_censored_model():
    default, without, censored, _ = progress.losses(progress.telling(), 20, 0)
    assert censored < without
    assert default > 0.0
