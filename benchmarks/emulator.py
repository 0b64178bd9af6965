"""How exact is the emulator of the pulmonary posterior, with the trees' conductances as inputs and with ξ itself?

    python -m benchmarks.emulator [--variant original]

At the nominal patient (10 dB, all signals): the emulator is fitted to simulations spread over the posterior's region
and compared with others at draws from its Gaussian approximation. Errors are in posterior standard deviations.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from surefoot.inference.emulator import Features, fit_emulator, log_conductances, make_features
from surefoot.inference.loss import Loss
from surefoot.inference.objective import Objective
from surefoot.inference.posterior import HALF_WIDTH, Pool, emulator_error, first_region
from surefoot.inference.synthesize import RESOLUTION, synthesize
from surefoot.pulmonary import NOMINAL, PARAMETER_BOX, Settings

LOW, HIGH = np.asarray(PARAMETER_BOX).T


class PlainFeatures(Features):
    """ξ in place of the conductances."""

    def exact(self, units, xi):
        """Inputs of points given by units and their ξ."""
        return self._scaled(units, np.repeat(xi[:, None], self.table.shape[1], axis=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", default="published")
    parser.add_argument("--simulations", type=int, nargs="*", default=[20, 30, 60])
    parser.add_argument("--tests", type=int, default=30)
    options = parser.parse_args()
    settings = Settings().with_variant(options.variant)
    resolution = RESOLUTION if options.variant == "published" else (0.0, 0.0)
    loss = Loss(synthesize(NOMINAL, settings=settings, resolution=resolution))
    objective = Objective(loss, settings)
    pool = Pool(lambda units: [loss.predicted(objective.beat(LOW + u * (HIGH - LOW))) for u in units])
    start = (np.asarray(NOMINAL) - LOW) / (HIGH - LOW)
    region = first_region(
        pool, start, loss.measured, lambda xi: log_conductances(settings, LOW[2] + xi * (HIGH[2] - LOW[2]))
    )
    rng = np.random.default_rng(0)
    units = region.lattice(max(options.simulations), rng)
    tests = region.centre + rng.standard_normal((options.tests, 3)) @ region.C.T
    simulated, fresh = np.asarray(pool.simulate(units)), pool.simulate(tests)
    low, high = region.corners()
    xi = tuple(LOW[2] + np.array([low[2], high[2]]) * (HIGH[2] - LOW[2]))
    features = make_features(settings, low, high, xi)
    grid = np.repeat(features.xi[:, None], features.table.shape[1], axis=1)
    ends = np.append(low[:2], grid[0]), np.append(high[:2], grid[-1])
    plain = PlainFeatures(settings, features.xi, grid, *ends)
    print(f"{options.variant}: region of ±{HALF_WIDTH:g} standard deviations, {options.tests} tests")
    for n in options.simulations:
        for name, inputs in (("conductances", features), ("xi", plain)):
            at = LOW[2] + units[:n, 2] * (HIGH[2] - LOW[2])
            emulator = fit_emulator(inputs, units[:n], at, simulated[:n], loss.measured, 0)
            error = emulator_error(emulator, region, tests, LOW[2] + tests[:, 2] * (HIGH[2] - LOW[2]), fresh)
            print(f"{n:4d} simulations, inputs f_L, f_S and {name:12s}: error {error:.2g} standard deviations")


if __name__ == "__main__":
    main()
