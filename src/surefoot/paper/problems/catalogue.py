"""The records of the 12 problems in the order of [NH18, Table 1].

Counts of minima are those of [NH18, Table 1]; docs/reference/problems.md says which of them a computation confirms.
Domains are those of [JPS93] and [HN99] (see functions.py); for CSF, the interval with Table 1's eight minima.
Minimizers (ascending) and f_star are printed by tools/polish_optima.py: 50-digit optima rounded to doubles.
"""

from itertools import product

from surefoot.paper.problems import functions
from surefoot.paper.problems.record import Problem

# SHU is s(x1) s(x2): lowest where one factor is at its least (negative) and the other at its greatest.
_SHUBERT_LEAST = (-7.708313735499347, -1.425128428319761, 4.858056878859825)
_SHUBERT_GREATEST = (-7.0835064076515595, -0.8003211004719731, 5.482864206707613)

CSF = Problem(
    name="Cosine Sine",
    abbreviation="CSF",
    function=functions.cosine_sine,
    lower=(0.0,),
    upper=(10.0,),
    n_local_minima=8,
    n_global_minima=1,
    minimizers=((4.4212443816661,),),
    f_star=-2.9092182615673625,
)
ROS = Problem(
    name="Rosenbrock",
    abbreviation="ROS",
    function=functions.rosenbrock,
    lower=(-5.0, -5.0),
    upper=(10.0, 10.0),
    n_local_minima=1,
    n_global_minima=1,
    minimizers=((1.0, 1.0),),
    f_star=0.0,
)
BRA = Problem(
    name="Branin RCOS",
    abbreviation="BRA",
    function=functions.branin,
    lower=(-5.0, 0.0),
    upper=(10.0, 15.0),
    n_local_minima=3,
    n_global_minima=3,
    minimizers=((-3.141592653589793, 12.275), (3.141592653589793, 2.275), (9.42477796076938, 2.475)),
    f_star=0.3978873577297383,
)
GPR = Problem(
    name="Goldstein and Price",
    abbreviation="GPR",
    function=functions.goldstein_price,
    lower=(-2.0, -2.0),
    upper=(2.0, 2.0),
    n_local_minima=4,
    n_global_minima=1,
    minimizers=((0.0, -1.0),),
    f_star=3.0,
)
CAM = Problem(
    name="Six-Hump Camel",
    abbreviation="CAM",
    function=functions.six_hump_camel,
    lower=(-3.0, -2.0),
    upper=(3.0, 2.0),
    n_local_minima=6,
    n_global_minima=2,
    minimizers=((-0.08984201310031806, 0.7126564030207396), (0.08984201310031806, -0.7126564030207396)),
    f_star=-1.0316284534898774,
)
SHU = Problem(
    name="Two-Dimensional Shubert",
    abbreviation="SHU",
    function=functions.shubert,
    lower=(-10.0, -10.0),
    upper=(10.0, 10.0),
    n_local_minima=760,
    n_global_minima=18,
    minimizers=tuple(
        sorted([*product(_SHUBERT_LEAST, _SHUBERT_GREATEST), *product(_SHUBERT_GREATEST, _SHUBERT_LEAST)])
    ),
    f_star=-186.73090883102384,
)
HM3 = Problem(
    name="Hartman 3",
    abbreviation="HM3",
    function=functions.hartman_3,
    lower=(0.0,) * 3,
    upper=(1.0,) * 3,
    n_local_minima=4,
    n_global_minima=1,
    minimizers=((0.11461433858967197, 0.5556488499718569, 0.8525469535208657),),
    f_star=-3.8627821478207554,
)
SH5 = Problem(
    name="Shekel 5",
    abbreviation="SH5",
    function=functions.shekel_5,
    lower=(0.0,) * 4,
    upper=(10.0,) * 4,
    n_local_minima=5,
    n_global_minima=1,
    minimizers=((4.000037152819676, 4.00013327659156, 4.000037152819676, 4.00013327659156),),
    f_star=-10.153199679058227,
)
SH7 = Problem(
    name="Shekel 7",
    abbreviation="SH7",
    function=functions.shekel_7,
    lower=(0.0,) * 4,
    upper=(10.0,) * 4,
    n_local_minima=7,
    n_global_minima=1,
    minimizers=((4.000572916185823, 4.000689366185305, 3.9994897088591506, 3.9996061588586316),),
    f_star=-10.40294056681866,
)
SH10 = Problem(
    name="Shekel 10",
    abbreviation="SH10",
    function=functions.shekel_10,
    lower=(0.0,) * 4,
    upper=(10.0,) * 4,
    n_local_minima=10,
    n_global_minima=1,
    minimizers=((4.000746531592046, 4.000592934138532, 3.9996633980403224, 3.9995098005868077),),
    f_star=-10.536409816692043,
)
HM6 = Problem(
    name="Hartman 6",
    abbreviation="HM6",
    function=functions.hartman_6,
    lower=(0.0,) * 6,
    upper=(1.0,) * 6,
    n_local_minima=4,
    n_global_minima=1,
    minimizers=(
        (
            0.20168951100670543,
            0.15001069182345797,
            0.476873974221897,
            0.2753324304940561,
            0.31165161660011326,
            0.6573005340656203,
        ),
    ),
    f_star=-3.3223680114155147,
)
RAS = Problem(
    name="Rastrigin",
    abbreviation="RAS",
    function=functions.rastrigin,
    lower=(-5.12,) * 10,
    upper=(5.12,) * 10,
    n_local_minima=11**10,
    n_global_minima=1,
    minimizers=((0.0,) * 10,),
    f_star=0.0,
)

ALL: tuple[Problem, ...] = (CSF, ROS, BRA, GPR, CAM, SHU, HM3, SH5, SH7, SH10, HM6, RAS)
