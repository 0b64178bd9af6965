"""Run the tests that promise bits under several arithmetics: `python tools/arithmetics.py [pytest's arguments]`.

Which kernels BLAS and NumPy take depends on the processor, and kernels round differently. What is promised bit by bit
must hold with each of them. This runs what is marked `bits` as the machine is found, as one with AVX2 and FMA but
without AVX-512, and as one without FMA. Elsewhere than on x86-64 there is only the first.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__  # names that this NumPy knows


def arithmetics() -> dict[str, dict[str, str]]:
    """Names and environments. Only features that this processor has can be switched off without a warning."""
    found: dict[str, dict[str, str]] = {"as found": {}}
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return found
    present = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    wide = [name for name in present if name.startswith("AVX512") or name == "X86_V4"]
    found["AVX2 and FMA, no AVX-512"] = {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": " ".join(wide)}
    found["no FMA"] = {"OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": " ".join(present)}
    return found


def main() -> int:
    """Run them all; the number of arithmetics in which something failed."""
    failed = []
    for name, environment in arithmetics().items():
        print(f"--- {name}: {environment or 'no setting'}", flush=True)
        command = [sys.executable, "-m", "pytest", "-m", "bits and not slow and not torch", *sys.argv[1:]]
        if subprocess.run(command, env={**os.environ, **environment}, check=False).returncode:
            failed.append(name)
    print(f"failed under: {', '.join(failed)}" if failed else "every promise of bits held under every arithmetic")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
