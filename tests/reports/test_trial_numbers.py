"""One numbering: what a report calls evaluation 7 is trial 7 of the study, whatever was left out before it."""

import re

import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState, create_trial

from surefoot.integrations.optuna_history import REASON, VOID, result_of
from surefoot.reports.optimization import report

pytest.importorskip("matplotlib")
X = {"x": FloatDistribution(0.0, 1.0)}


@pytest.fixture(scope="module")
def study() -> optuna.Study:
    """Trials 0 and 3 were never evaluated, 5 failed, 4 is the best."""
    study = optuna.create_study()
    values = {1: 0.5, 2: 0.4, 4: 0.1, 6: 0.3}
    for number in range(7):
        value = values.get(number)
        attributes = {} if value is not None else {REASON: "diverged"} if number == 5 else {VOID: "its worker was lost"}
        state = TrialState.FAIL if value is None else TrialState.COMPLETE
        study.add_trial(
            create_trial(
                state=state, value=value, params={"x": number / 10}, distributions=X, user_attrs=attributes
            )
        )  # fmt: skip
    return study


def test_a_result_of_a_study_has_the_numbers_of_its_trials(study) -> None:
    result = result_of(study)
    assert result.numbers == (1, 2, 4, 5, 6)
    assert [row["number"] for row in result.table()] == [1, 2, 4, 5, 6]


def test_the_report_names_trials_by_their_numbers(study, read) -> None:
    page = report(result_of(study), "Numbers")
    assert f"at evaluation {study.best_trial.number} " in read(page).text("dd")
    assert "diverged 5 " in read(page).text("td")
    best = re.findall(r'<th scope="row" class="number">(\d+)</th><td class="number">0\.', page)
    assert best == ["4", "6", "2", "1"]


def test_convergence_is_drawn_over_the_numbers_of_the_trials(study) -> None:
    from matplotlib.figure import Figure

    from surefoot.optimize.drawing import draw_convergence, draw_gap

    ax, gap = Figure().subplots(1, 2)
    draw_convergence(ax, result_of(study))
    evaluations, best, failed, _ = ax.lines
    assert list(evaluations.get_xdata()) == [1, 2, 4, 6]
    assert list(best.get_xdata()) == [1, 2, 4, 5, 6]
    assert list(failed.get_xdata()) == [5]
    draw_gap(gap, result_of(study))
    assert gap.get_xlim() == (1.0, 6.0)


def test_the_dashboard_s_figure_has_them_too(study) -> None:
    go = pytest.importorskip("plotly.graph_objects")
    from surefoot.runs.figures import convergence

    evaluations, best, failed = convergence(result_of(study), go).data
    assert (list(evaluations.x), list(best.x), list(failed.x)) == ([1, 2, 4, 6], [1, 2, 4, 5, 6], [5])
