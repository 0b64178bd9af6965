"""Convolution of the trees' kernels with one beat of pressure history, by blocks.

Wanted at every step j of a beat:  H = Σ_{m=1}^{Nt-1} k[m] p[j - m], four kernels per tree, Nt = 4096 taps:
65 000 multiplications per step if done as written. Cut time into blocks of B steps. Seen from block b,

    ... | block b-2 | block b-1 | block b: . . . j . |      D = Nt/B blocks back to one beat ago
         '------- far: known -----'  near: 1..j-1

the far part is known when the block begins, for all its B steps at once. Block b-d contributes through the
taps (d-1)B .. (d+1)B - 1 only, so with the padded transforms Z_i = FFT([block i, 0]) and G_d = FFT(those 2B
taps)

    far = last B entries of IFFT( Σ_{d=1}^{D} Z_{b-d} G_d ),   Z of each block computed once.

The near part, at most B - 1 terms, is summed directly. It is the same sum, rounded differently: the
difference is about 1e-15 times Σ|k| max|p|, far below the tolerance of Newton's method. A tree's two
pressures travel as one complex signal. Spectra are stored as separate real and imaginary arrays of W >= B +
1 bins (padding is zero).
"""

import math
from typing import NamedTuple

import numpy as np

from surefoot.pulmonary.arrays import Floats
from surefoot.pulmonary.jit import njit
from surefoot.pulmonary.kernels.records import Transform

B = 128  # steps per block; 64 is 7 % slower, 32 more so
W = 136  # bins per spectrum, B + 1 rounded up to whole vectors


class Past(NamedTuple):
    """What the block convolution keeps while a beat runs."""

    spectra: Floats  # (trees, D, 2, 2, W) of the last D blocks, (side, re/im); block i of the beat in row i
    far: Floats  # (trees, 2, B) far part of H for the steps of the current block
    work: Floats  # (2, 2B) re and im of a signal
    sums: Floats  # (4, W)


def twiddles() -> Transform:
    """The tables of a transform of length 2B."""
    size = 2 * B
    angle = 2.0 * math.pi * np.arange(B) / size
    bits = size.bit_length() - 1
    reverse = np.array([int(f"{i:0{bits}b}"[::-1], 2) for i in range(size)], dtype=np.int64)
    return Transform(np.cos(angle), -np.sin(angle), reverse)


def kernel_spectra(kernels: Floats) -> Floats:
    """(trees, 3, 2, D, W): G_d of each kernel in (trees, 3, Nt), scaled by 1/2B for the inverse below."""
    trees, three, steps = kernels.shape
    blocks = np.concatenate([kernels, np.zeros((trees, three, B))], axis=-1).reshape(trees, three, steps // B + 1, B)
    taps = np.concatenate([blocks[:, :, :-1], blocks[:, :, 1:]], axis=-1)  # (trees, 3, D, 2B)
    G = np.fft.rfft(taps, axis=-1) / (2 * B)
    spectra = np.zeros((trees, three, 2, steps // B, W))
    spectra[:, :, 0, :, : B + 1] = G.real
    spectra[:, :, 1, :, : B + 1] = G.imag
    return spectra


def near_taps(kernels: Floats) -> Floats:
    """(trees, 3, B): tap B - t at place t, so that the near sum runs forward through both arrays."""
    return np.ascontiguousarray(kernels[..., B:0:-1])


@njit
def fft(re: Floats, im: Floats, transform: Transform) -> None:
    """In-place complex transform of length 2B, decimation in time."""
    cos, sin, reverse = transform
    size = re.size
    for i in range(size):
        j = reverse[i]
        if i < j:
            re[i], re[j] = re[j], re[i]
            im[i], im[j] = im[j], im[i]
    span = 1
    while span < size:
        stride = B // span
        for start in range(0, size, 2 * span):
            for k in range(span):
                c, s = cos[k * stride], sin[k * stride]
                i = start + k
                j = i + span
                tr, ti = re[j] * c - im[j] * s, re[j] * s + im[j] * c
                re[j], im[j] = re[i] - tr, im[i] - ti
                re[i], im[i] = re[i] + tr, im[i] + ti
        span *= 2


@njit
def block_spectrum(p_a: Floats, p_v: Floats, transform: Transform, work: Floats, out: Floats) -> None:
    """out (2, 2, W) = spectra (side, re/im) of one zero-padded block of both pressures."""
    re, im = work[0], work[1]
    for i in range(B):
        re[i], im[i] = p_a[i], p_v[i]
        re[B + i], im[B + i] = 0.0, 0.0
    fft(re, im, transform)
    for k in range(B + 1):
        j = (2 * B - k) % (2 * B)
        out[0, 0, k], out[0, 1, k] = 0.5 * (re[k] + re[j]), 0.5 * (im[k] - im[j])
        out[1, 0, k], out[1, 1, k] = 0.5 * (im[k] + im[j]), 0.5 * (re[j] - re[k])


@njit
def _add_product(Zr: Floats, Zi: Floats, Gr: Floats, Gi: Floats, acc_r: Floats, acc_i: Floats) -> None:
    """acc += Z G; two loops so that each writes one array."""
    for k in range(W):
        acc_r[k] += Zr[k] * Gr[k] - Zi[k] * Gi[k]
    for k in range(W):
        acc_i[k] += Zr[k] * Gi[k] + Zi[k] * Gr[k]


@njit
def far_sums(b: int, tree: int, G: Floats, transform: Transform, past: Past) -> None:
    """The far part of H of one tree for the B steps of block b, into past.far; G (3, 2, D, W): its kernels' spectra.

    Rows >= b of past.spectra are the previous beat's.
    """
    Z, acc, out = past.spectra[tree], past.sums, past.far[tree]
    blocks = Z.shape[0]
    acc[:] = 0.0
    for d in range(1, blocks + 1):
        z = Z[(b - d) % blocks]
        _add_product(z[0, 0], z[0, 1], G[0, 0, d - 1], G[0, 1, d - 1], acc[0], acc[1])
        _add_product(z[1, 0], z[1, 1], G[1, 0, d - 1], G[1, 1, d - 1], acc[0], acc[1])
        _add_product(z[0, 0], z[0, 1], G[1, 0, d - 1], G[1, 1, d - 1], acc[2], acc[3])
        _add_product(z[1, 0], z[1, 1], G[2, 0, d - 1], G[2, 1, d - 1], acc[2], acc[3])
    re, im = past.work[0], past.work[1]
    for k in range(B + 1):  # spectrum of H_a + i H_v, real and imaginary swapped: the forward transform inverts
        im[k], re[k] = acc[0, k] - acc[3, k], acc[1, k] + acc[2, k]
    for k in range(1, B):
        im[2 * B - k], re[2 * B - k] = acc[0, k] + acc[3, k], acc[2, k] - acc[1, k]
    fft(re, im, transform)
    for i in range(B):
        out[0, i], out[1, i] = im[B + i], re[B + i]


@njit
def near_sums(j: int, p_a: Floats, p_v: Floats, taps: Floats) -> tuple[float, float]:
    """Direct sums over the j steps of the current block that are already done."""
    k11, k12, k22 = taps[0], taps[1], taps[2]
    sum_a = 0.0
    sum_v = 0.0
    for i in range(j):
        t = B - j + i
        sum_a += k11[t] * p_a[i] + k12[t] * p_v[i]
        sum_v += k12[t] * p_a[i] + k22[t] * p_v[i]
    return sum_a, sum_v
