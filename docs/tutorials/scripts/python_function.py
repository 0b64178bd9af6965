"""
A Python function
=================

After this tutorial you can minimize a Python function that fails in parts of its domain, read what
came out, and choose a design that can be built.

You need ``pip install '.[run,plots]'`` in a clone of the repository. The program runs in seconds.
"""

# %%
# A function that fails
# ---------------------
#
# The function stands for a simulator. It takes a *point*: one value for each *parameter*. It
# returns one number, the *objective*, which is to be as small as possible. One call is an
# *evaluation*.
#
# This one is the cost of a tube. The wall must not be thinner than 3 mm: the mesh collapses
# there. Nobody has to tell surefoot so.

import surefoot


def tube(x):
    if x["d_outer"] - x["d_inner"] < 6:
        raise RuntimeError("mesh collapsed")
    area = x["d_outer"] ** 2 - x["d_inner"] ** 2
    return area / 100 + (x["d_inner"] - 35) ** 2 / 10


# %%
# Any exception is a *failure*. So are NaN and an infinity. A failure does not end the run. It is
# recorded with its reason, and surefoot learns where failures happen.
#
# Minimize it
# -----------
#
# The bounds say what the parameters are and where they may lie. ``n_evals`` is the budget: how
# many evaluations there are in all.

space = {"d_outer": (20, 60), "d_inner": (10, 50)}
result = surefoot.minimize(tube, space, n_evals=40)
print(result)

# %%
# The first six points spread over the whole space. With d parameters there are 2 d + 2 of them, 14
# at most.
# Every later point is a *suggestion*: the point where surefoot expects to gain most, given all
# evaluations so far. The note says how near the best point is to failing.
#
# Look at it
# ----------
#
# The left part shows every evaluation and the best value so far. The right part shows what the
# model believes about the objective. Crosses are failures.

figure = result.plot()

# %%
# ``result.table()`` has a row for every evaluation. ``pandas.DataFrame(result.table())`` makes a
# data frame of it.

for row in result.table()[:8]:
    print(row["number"], row["status"], row["value"], row["reason"])

# %%
# Ask where it fails
# ------------------
#
# ``success_probability`` is the probability that an evaluation succeeds, as learned so far. A
# wall of 10 mm is safe, and a wall of 1 mm is not.

print(result.success_probability([{"d_outer": 50, "d_inner": 30}, {"d_outer": 32, "d_inner": 30}]))

# %%
# The map shows it over the two parameters that it depends on most.

figure = result.plot_success()

# %%
# Choose a design that can be built
# ---------------------------------
#
# The best point often lies beside the failures. Nothing is built exactly. ``robust`` returns the
# best point that still succeeds, with a probability of 95 %, when every diameter is off by 0.5
# mm.

print(result.robust(0.95, within={"d_outer": 0.5, "d_inner": 0.5}))

# %%
# Go on
# -----
#
# You can give the evaluations to another call. The new budget includes them. ``save`` keeps them
# in a file, and ``minimize(tube, resume="tube.json", n_evals=60)`` goes on from there later.

more = surefoot.minimize(tube, space, n_evals=50, history=result.history)
print(more.fun, "after", more.nfev, "evaluations")

# %%
# Where next
# ----------
#
# - A simulator that can take Python down with it, or that hangs: :doc:`/howto/crashes`.
# - More about points that can be built, and maps of failures: :doc:`/howto/build`.
# - Limits that you know, or that its outputs have to meet: :doc:`constraints_and_crashes`.
# - Integers and choices: :doc:`/howto/integers`.
# - :doc:`/reference/api` lists all keywords of ``minimize``.
