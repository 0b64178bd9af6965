"""Signals in CSV files."""

import numpy as np
import pytest

from surefoot.errors import InvalidInputError
from surefoot.inference.data_file import read_signals, write_signals

N = 64
ROWS = [(0.7 / N * j, 15 + 8 * np.sin(2 * np.pi * j / N), 100 + 90 * np.cos(2 * np.pi * j / N)) for j in range(N)]


def file(tmp_path, header="t_s,p_MPA_mmHg,q_MPA_mls", rows=ROWS, top=""):
    path = tmp_path / "patient.csv"
    path.write_text(top + header + "\n" + "\n".join(",".join(str(cell) for cell in row) for row in rows) + "\n")
    return path


def test_what_is_written_is_read_back(tmp_path, patient):
    write_signals(patient, tmp_path / "p.csv")
    back = read_signals(tmp_path / "p.csv")
    assert back.names == patient.names
    assert back.truth == patient.truth
    for a, b in zip(back, patient, strict=True):
        np.testing.assert_allclose(a.value, b.value, rtol=1e-7)
        np.testing.assert_allclose(a.time_s, b.time_s, atol=1e-8)
        assert a.noise_sd == pytest.approx(b.noise_sd, rel=1e-6)
        assert a.noise_from == "given"


def test_noise_levels_that_are_not_there_are_estimated(tmp_path):
    rng = np.random.default_rng(0)
    rows = [(t, p + rng.standard_normal(), q + 10 * rng.standard_normal()) for t, p, q in ROWS]
    data = read_signals(file(tmp_path, rows=rows))
    assert [s.noise_from for s in data] == ["estimated", "estimated"]
    assert data.get("p_MPA").noise_sd == pytest.approx(1.0, rel=0.25)


def test_columns_in_other_units_are_converted_and_noted(tmp_path):
    rows = [(1000 * t, 133.322 * p, 0.06 * q) for t, p, q in ROWS]
    data = read_signals(file(tmp_path, "t_ms,p_MPA_Pa,q_MPA_l_min", rows))
    np.testing.assert_allclose(data.get("p_MPA").value, [p for _, p, _ in ROWS])
    np.testing.assert_allclose(data.get("q_MPA").value, [q for _, _, q in ROWS])
    assert "p_MPA: converted from Pa to mmHg" in data.notes


def test_a_noise_level_is_converted_with_its_column(tmp_path):
    rows = [(t, 133.322 * p, 133.322) for t, p, _ in ROWS]
    data = read_signals(file(tmp_path, "t_s,p_MPA_Pa,sd_p_MPA_Pa", rows))
    assert data.get("p_MPA").noise_sd == pytest.approx(1.0)


def test_pressure_in_pascal_under_the_name_of_mmhg_is_refused(tmp_path):
    rows = [(t, 133.322 * p, q) for t, p, q in ROWS]
    with pytest.raises(InvalidInputError, match=r"expected a mean pressure .*mmHg for p_MPA; got 2000.*p_MPA_Pa"):
        read_signals(file(tmp_path, rows=rows))


def test_empty_cells_are_gaps(tmp_path):
    rows = [(t, "" if 5 <= j < 9 else p, "nan" if j == 0 else q) for j, (t, p, q) in enumerate(ROWS)]
    data = read_signals(file(tmp_path, rows=rows))
    assert (data.get("p_MPA").value.size, data.get("q_MPA").value.size) == (60, 63)


def test_an_empty_column_is_left_out_with_a_note(tmp_path):
    data = read_signals(file(tmp_path, rows=[(t, p, "") for t, p, _ in ROWS]))
    assert data.names == ("p_MPA",)
    assert data.notes == ("q_MPA: no values, left out",)


def test_another_period_must_be_said(tmp_path):
    path = file(tmp_path, rows=[(t * 0.9 / 0.7, p, q) for t, p, q in ROWS])
    with pytest.raises(InvalidInputError, match=r"cover one beat of 0.7 s .*got 0.9 s; try --period 0.9"):
        read_signals(path)
    assert read_signals(path, period_s=0.9).period_s == 0.9
    assert read_signals(file(tmp_path, top="# period_s = 0.7\n")).period_s == 0.7


def test_times_in_milliseconds_are_recognized(tmp_path):
    with pytest.raises(InvalidInputError, match=r"try naming the column t_ms"):
        read_signals(file(tmp_path, rows=[(1000 * t, p, q) for t, p, q in ROWS]))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("time,p_MPA_mmHg,q_MPA_mls", "expected a column t_s"),
        ("t_s,p_MPA_mmHg,p_AORTA_mmHg", "got 'p_AORTA_mmHg'"),
        ("t_s,p_MPA_mmHg,q_MPA_gallons", "expected a unit among mls.*got 'gallons'"),
        ("t_s,p_MPA_mmHg,p_MPA_mmHg", "expected column names to be unique"),
        ("t_s,p_MPA_mmHg,p_MPA", "expected one column for p_MPA; got several"),
        ("t_s,p_MPA_mmHg,sd_q_MPA_mls", "expected one noise level"),
    ],
)
def test_a_header_that_makes_no_sense_is_refused(tmp_path, header, message):
    with pytest.raises(InvalidInputError, match=message):
        read_signals(file(tmp_path, header))


def test_a_noise_level_without_its_signal_is_refused(tmp_path):
    rows = [(t, p, 1.0) for t, p, _ in ROWS]
    with pytest.raises(InvalidInputError, match=r"expected a signal for the noise level sd_q_MPA"):
        read_signals(file(tmp_path, "t_s,p_MPA_mmHg,sd_q_MPA_mls", rows))


def test_an_unknown_key_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match=r"expected keys among period_s.*got 'perid_s'"):
        read_signals(file(tmp_path, top="# perid_s = 0.7\n"))


def test_text_in_a_cell_is_refused_with_its_column(tmp_path):
    with pytest.raises(InvalidInputError, match=r"expected numbers for p_MPA_mmHg .*got 'high'"):
        read_signals(file(tmp_path, rows=[*ROWS[:-1], (0.69, "high", 100)]))


def test_a_row_of_another_length_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match=r"expected 3 cells in every row .*got 2 in row 3"):
        read_signals(file(tmp_path, rows=[ROWS[0], (0.1, 15.0), *ROWS[2:]]))


@pytest.mark.parametrize("text", ["", "t_s,p_MPA_mmHg\n"])
def test_a_file_without_rows_is_refused(tmp_path, text):
    (tmp_path / "empty.csv").write_text(text)
    with pytest.raises(InvalidInputError, match=r"expected a header and rows"):
        read_signals(tmp_path / "empty.csv")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match=r"expected a readable CSV file"):
        read_signals(tmp_path / "nothing.csv")
