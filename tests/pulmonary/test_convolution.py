"""The block convolution is the direct sum, rounded differently."""

import numpy as np
import pytest

from surefoot.pulmonary.kernels.convolution import (
    B,
    Past,
    W,
    block_spectrum,
    far_sums,
    fft,
    kernel_spectra,
    near_sums,
    near_taps,
    twiddles,
)


def test_the_small_transform_is_numpys() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=2 * B) + 1j * rng.normal(size=2 * B)
    re, im = x.real.copy(), x.imag.copy()
    fft(re, im, twiddles())
    np.testing.assert_allclose(re + 1j * im, np.fft.fft(x), atol=1e-12)


@pytest.mark.parametrize("step", [0, 1, B - 1, B, 3 * B + 17, 4 * B - 1])
def test_far_and_near_parts_add_up_to_the_direct_sum(step: int) -> None:
    rng = np.random.default_rng(2)
    steps = 4 * B
    kernels = rng.normal(size=(1, 3, steps))
    before, now = rng.normal(size=(2, steps)), rng.normal(size=(2, steps))
    tables = twiddles()
    past = Past(np.zeros((1, 4, 2, 2, W)), np.zeros((1, 2, B)), np.empty((2, 2 * B)), np.empty((4, W)))
    block = step // B
    for i in range(4):  # blocks of this beat that are done, else the previous beat's
        source = now if i < block else before
        p = source[:, i * B : (i + 1) * B]
        block_spectrum(p[0], p[1], tables, past.work, past.spectra[0, i])
    far_sums(block, 0, kernel_spectra(kernels)[0], tables, past)
    far = past.far[0]
    p = now[:, block * B : (block + 1) * B]
    near = near_sums(step % B, np.ascontiguousarray(p[0]), np.ascontiguousarray(p[1]), near_taps(kernels)[0])

    line = np.concatenate([before, now], axis=1)
    past = line[:, steps + step - np.arange(1, steps)]  # p[step - m], m = 1 .. steps - 1
    y11, y12, y22 = kernels[0, :, 1:]
    direct = (y11 @ past[0] + y12 @ past[1], y12 @ past[0] + y22 @ past[1])
    found = (far[0, step % B] + near[0], far[1, step % B] + near[1])
    np.testing.assert_allclose(found, direct, atol=1e-12)
