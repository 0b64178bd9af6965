"""Where suggestions are computed: what is refused, and what no file keeps. tests/parity has the numbers."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from surefoot import Optimizer, minimize
from surefoot.backend import engine
from surefoot.errors import DeviceMemoryError, InvalidInputError, UnknownNameError

BOUNDS = [(-1.0, 2.0), (0.0, 3.0)]


def bowl(x) -> float:
    return float((x[0] - 0.3) ** 2 + (x[1] - 1.0) ** 2)


def test_the_default_device_is_the_cpu() -> None:
    assert Optimizer(BOUNDS).device == "cpu"


def test_naming_the_default_device_changes_no_bit() -> None:
    plain, named = minimize(bowl, BOUNDS, n_evals=12), minimize(bowl, BOUNDS, n_evals=12, device="cpu")
    np.testing.assert_array_equal(plain.history.y, named.history.y)


@pytest.mark.parametrize("device", [0, None, ["cuda"]])
def test_a_device_that_is_no_text_is_refused(device) -> None:
    with pytest.raises(InvalidInputError, match="expected a device by name"):
        minimize(bowl, BOUNDS, n_evals=3, device=device)


def test_without_pytorch_the_error_names_the_extra(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import surefoot\nfrom surefoot.errors import MissingExtraError\n"
        "try:\n    surefoot.Optimizer([(0, 1)], device='cuda')\n"
        "except MissingExtraError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'surefoot[torch]'" in done.stdout, done.stderr


def test_a_keyword_of_other_libraries_leads_to_the_device() -> None:
    with pytest.raises(UnknownNameError, match="try device="):
        minimize(bowl, BOUNDS, use_gpu=True)


def test_no_document_says_the_device(tmp_path: Path) -> None:
    optimizer = Optimizer(BOUNDS, device="cpu")
    optimizer.tell([0.5, 1.0], 2.0)
    optimizer.save(tmp_path / "run.json")
    document = json.loads((tmp_path / "run.json").read_text())
    assert "device" not in document
    assert "device" not in document["settings"]


def test_a_gpu_without_memory_is_an_error_that_says_what_to_do() -> None:
    class OutOfMemoryError(RuntimeError):
        """As PyTorch has it."""

    with (
        pytest.raises(DeviceMemoryError, match=r"memory for 30000 evaluations; got .*; try a smaller max_points"),
        engine(30_000),
    ):
        raise OutOfMemoryError("CUDA out of memory. Tried to allocate 6.71 GiB.")


def test_other_errors_of_the_engine_stay_as_they_are() -> None:
    with pytest.raises(RuntimeError, match="a defect"), engine(10):
        raise RuntimeError("a defect")
