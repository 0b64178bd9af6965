from benchmarks.stuck import FAR, LAST, PROBLEMS, End, end_of, task_of


def test_a_run_that_goes_on_elsewhere_is_far_but_not_stuck():
    assert End(2.0 * FAR, 0).is_far
    assert not End(2.0 * FAR, 0).is_stuck


def test_a_run_at_the_least_value_is_not_stuck_however_it_refines():
    assert not End(0.5 * FAR, LAST).is_stuck


def test_every_problem_has_a_least_value():
    assert all(task_of(name).f_star <= 0.0 for name in PROBLEMS)


def test_distances_are_in_standard_deviations():
    task = task_of("Styblinski-Tang 4")
    one, ten = (end_of(task, unit, 1, 12).distance for unit in (1.0, 10.0))
    assert one == 10.0 * ten
