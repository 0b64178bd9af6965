"""Array types and units shared by the whole simulator: float64, CGS inside, mmHg and ml/s at the boundary."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

DYN_PER_MMHG = 1333.22  # dyn/cm² in one mmHg; the constant of the 2014 program
