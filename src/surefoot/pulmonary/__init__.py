"""The pulmonary circulation: a one-dimensional PDE model that knows nothing of optimization.

Research software, not a medical device.
"""

from surefoot.pulmonary.batch import simulate_many
from surefoot.pulmonary.failures import FailureKind, SimulationFailure
from surefoot.pulmonary.geometry import Bed, Junction, Network, Vessel
from surefoot.pulmonary.inflow import Ejection, FlowTable
from surefoot.pulmonary.settings import VARIANTS, Fluid, Grid, Settings, Tree, Variant
from surefoot.pulmonary.simulate import simulate
from surefoot.pulmonary.simulation import Simulation, Status, VesselNodes, VesselSummary

# The paper's box and nominal values [NH18, section 7.1]: (f_L, f_S, ξ), stiffnesses in dyn/cm².
PARAMETER_BOX = ((1.33e5, 5.33e5), (2.66e4, 1.066e5), (2.33, 3.0))
NOMINAL = (2.6e5, 5.0e4, 2.76)

__all__ = [
    "NOMINAL",
    "PARAMETER_BOX",
    "VARIANTS",
    "Bed",
    "Ejection",
    "FailureKind",
    "FlowTable",
    "Fluid",
    "Grid",
    "Junction",
    "Network",
    "Settings",
    "Simulation",
    "SimulationFailure",
    "Status",
    "Tree",
    "Variant",
    "Vessel",
    "VesselNodes",
    "VesselSummary",
    "simulate",
    "simulate_many",
]
