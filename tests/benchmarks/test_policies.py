"""What policies cost, as the command prints it."""

from benchmarks.policies import main


def test_a_row_has_the_seconds_of_each_policy(capsys):
    main(["--n", "22", "--d", "2", "--policy", "EI", "PES", "--search", "gradient", "--repeats", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| search | d | n | EI | PES |"
    search, d, n, *seconds = (cell.strip() for cell in lines[2].strip("|").split("|"))
    assert (search, d, n) == ("gradient", "2", "22")
    assert all(float(cell) >= 0.0 for cell in seconds)
