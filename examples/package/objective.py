"""What surefoot calls: the parameters as a dict in, outputs by name out. An exception is a failure with its reason."""

import spring


def simulate(x):
    return spring.settle(x["stiffness"], x["damping"])
