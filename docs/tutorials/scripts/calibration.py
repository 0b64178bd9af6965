"""
A calibration with intervals
============================

After this tutorial you can find the parameters of a simulator that explain noisy data, and say how
well the data determine them.

You need ``pip install '.[run,plots,calibration]'`` in a clone of the repository. The program runs
in about half a minute.
"""

# %%
# Data and a simulator
# --------------------
#
# A mass hangs on a spring with a damper. We measured its position 50 times, with a noise of 0.05.
# The *parameters* that we want are the damping and the stiffness. The simulator returns what the
# data would be without noise. It raises an exception where the mass does not swing.

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

from surefoot import Real
from surefoot.calibration import Signal, calibrate

times = np.linspace(0, 10, 50)


def simulate(x):
    c, k = x["damping"], x["stiffness"]
    if c * c > 4 * k:
        raise ValueError("overdamped")
    return solve_ivp(lambda t, y: [y[1], -c * y[1] - k * y[0]], (0, 10), [1, 0], t_eval=times).y[0]


# %%
# The data of this tutorial are made up, so that we know the truth: a damping of 0.4 and a
# stiffness of 4. A ``Signal`` is a measured series with the standard deviation of its noise.

clean = simulate({"damping": 0.4, "stiffness": 4.0})
measured = clean + 0.05 * np.random.default_rng(1).standard_normal(50)
data = Signal("position", measured, noise_sd=0.05, at=times)

# %%
# Calibrate
# ---------
#
# The bounds are the *prior*: every value between them is equally plausible before the data are
# seen. With ``log=True`` that holds for the logarithm.

parameters = {"damping": (0.05, 4.0), "stiffness": Real(0.5, 50.0, log=True)}
result = calibrate(simulate, parameters, data, n_evals=30)

# %%
# First comes a search for the *best fit*, the parameters of least squared error. Then comes the
# *posterior*: all parameters that are plausible given the data. An *interval* holds 90 % of it.

print("best fit:", result.best)
for interval in result.posterior.intervals:
    low, high = interval.low, interval.high
    print(f"{interval.name}: {interval.median:.3f}, 90 % between {low:.3f} and {high:.3f}")

# %%
# Can it be trusted?
# ------------------
#
# Three things tell. ``converged`` says that the sampling has settled. ``chi2_per_value`` is the
# squared error in units of the noise: about 1 if the simulator explains the data. ``notes`` say
# what a reader must know; none is good news.

print("converged:", result.posterior.converged)
print("chi2 per value:", [round(r.chi2_per_value, 2) for r in result.residuals])
print("notes:", [*result.notes, *result.posterior.notes])
print(result.n_failures, "of", result.n_evals, "simulations failed:", result.failures)

# %%
# The fit beside the data, and the posterior:

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(times, measured, "k.", label="measured")
left.plot(times, result.fit["position"], label="best fit")
left.set(xlabel="time", ylabel="position")
left.legend()
right.plot(*result.posterior.samples.T, ".", markersize=2, label="posterior")
right.plot(0.4, 4.0, "r*", markersize=12, label="truth")
right.set(xlabel="damping", ylabel="stiffness")
right.legend()

# %%
# Where next
# ----------
#
# - :doc:`/understanding/inference` tells what is done inside, and how often the intervals hold.
# - ``examples/predators.py`` is a larger example with two signals and five parameters.
# - :doc:`/reference/api` lists all keywords of ``calibrate``.
