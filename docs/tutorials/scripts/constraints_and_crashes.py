"""
Constraints and crashes
=======================

After this tutorial you can tell surefoot what is forbidden and which outputs have limits, and leave
the rest to be learned; all of it in one run.

You need ``pip install '.[run,plots]'`` in a clone of the repository. The program runs in seconds.
"""

# %%
# Three kinds of limits
# ---------------------
#
# ==================  ==========================================  =================================
# kind                example                                     who knows it
# ==================  ==========================================  =================================
# known constraint    ``a - b >= 0.3``                            you, before anything is evaluated
# limit on an output  ``stress <= 1``                             every evaluation that succeeds
# crash               the solver diverges                         nobody, until it happens
# ==================  ==========================================  =================================
#
# An *output* is a number that the function returns by name. Here they are the cost of a plate,
# which is to be as small as possible, and its stress, which has a limit. The solver diverges for
# large plates.

import surefoot


def plate(x):
    if x["a"] + 2 * x["b"] > 2.2:
        raise RuntimeError("the solver diverges")
    return {"cost": (x["a"] - 1) ** 2 + (x["b"] - 1) ** 2, "stress": x["a"] ** 2 + x["b"] ** 2}


result = surefoot.minimize(
    plate,
    {"a": (0, 2), "b": (0, 2)},
    n_evals=20,
    objective="cost",
    constraints=["a - b >= 0.3"],
    outputs={"stress": "<= 1"},
)
print(result)

# %%
# The best point lies where the constraint and the limit meet. The notes of the result say so.
#
# In the figure the grey part is forbidden. The dashed line is the limit of the stress as the model
# has it. On the black line an evaluation crashes with a probability of 1/2.

figure = result.plot()

# %%
# What was kept
# -------------
#
# No suggestion violates the known constraint. Some evaluations crash and some miss the limit:
# these had to be learned.

violated = sum(x["a"] - x["b"] < 0.3 for x in result.x_iters)
print(violated, "points violate the constraint")
print(result.n_failures, "of", result.nfev, "evaluations crash")
print(sum(result.within), "evaluations are within the limit")

# %%
# Is a limit active?
# ------------------
#
# ``result.limits`` has an entry for every limited output at the best point. ``active`` says
# whether the point lies at the limit. A limit that is not active costs nothing.

for limit in result.limits:
    print(limit.name, limit.value, limit.active)

# %%
# Crashes that take the program down
# ----------------------------------
#
# A segmentation fault would end Python. With ``isolate="process"`` every evaluation runs in a
# process of its own, and the fault is a failure like any other. ``timeout`` stops evaluations
# that hang.

import os
import signal


def fragile(x):
    if x[0] > 0.6:
        os.kill(os.getpid(), signal.SIGSEGV)
    return (x[0] - 0.5) ** 2


result = surefoot.minimize(fragile, [(0, 1)], n_evals=12, isolate="process", timeout=60)
print({row["reason"] for row in result.table() if row["status"] == "failed"})
print("best:", result.x, result.fun)

# %%
# Where next
# ----------
#
# - What can be written as a constraint or a limit: :doc:`/howto/constraints`.
# - What to do when too much fails: :doc:`/howto/crashes`.
# - How failures are learned: :doc:`/understanding/failures`.
