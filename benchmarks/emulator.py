"""How exact is the emulator of the pulmonary posterior, with the trees' conductances as inputs and with ξ itself?

    python -m benchmarks.emulator [--variant original]

At the nominal patient (10 dB, all signals): the emulator is fitted to simulations spread over the posterior's region
and compared with others at draws from its Gaussian approximation. Errors are in posterior standard deviations.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from surefoot.calibration.box import Box
from surefoot.calibration.emulator import fit_emulator
from surefoot.calibration.inputs import make_inputs
from surefoot.calibration.posterior import emulator_error
from surefoot.calibration.region import HALF_WIDTH, Pool, first_region
from surefoot.inference.lungs import parameters, root_loss
from surefoot.inference.result import NAMES
from surefoot.inference.synthesize import RESOLUTION, synthesize
from surefoot.pulmonary import NOMINAL, PARAMETER_BOX, Settings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", default="published")
    parser.add_argument("--simulations", type=int, nargs="*", default=[20, 30, 60])
    parser.add_argument("--tests", type=int, default=30)
    options = parser.parse_args()
    settings = Settings().with_variant(options.variant)
    resolution = RESOLUTION if options.variant == "published" else (0.0, 0.0)
    root = root_loss(synthesize(NOMINAL, settings=settings, resolution=resolution), settings)
    measured = root.loss.measured
    stepped, plain = Box.of(parameters(settings)), Box.of(dict(zip(NAMES, PARAMETER_BOX, strict=True)))
    pool = Pool(lambda units: [root.predicted(stepped.point(unit)) for unit in units])
    region = first_region(pool, stepped.space.encode(NOMINAL), measured, stepped)
    rng = np.random.default_rng(0)
    units = region.lattice(max(options.simulations), rng)
    tests = region.centre + rng.standard_normal((options.tests, 3)) @ region.C.T
    simulated, fresh = np.asarray(pool.simulate(units)), pool.simulate(tests)
    print(f"{options.variant}: region of ±{HALF_WIDTH:g} standard deviations, {options.tests} tests")
    for n in options.simulations:
        for name, box in (("conductances", stepped), ("xi", plain)):
            inputs = make_inputs(box, *region.corners())
            emulator = fit_emulator(inputs, units[:n], simulated[:n], measured, 0)
            error = emulator_error(emulator, region, tests, fresh)
            print(f"{n:4d} simulations, inputs f_L, f_S and {name:12s}: error {error:.2g} standard deviations")


if __name__ == "__main__":
    main()
