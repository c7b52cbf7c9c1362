# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads the extension and compares its operators, bit for bit, with the same computations in NumPy and torch.

  python compare.py EXTENSION.so
"""
import sys

import numpy as np
import torch

torch.ops.load_library(sys.argv[1])
ops = torch.ops.isobit_example


def tree(a):
    """The sum of each row in the order of docs/order.md: split at the largest power of two below the length."""
    n = a.shape[1]
    if n == 1:
        return a[:, 0]
    half = 1 << ((n - 1).bit_length() - 1)
    return tree(a[:, :half]) + tree(a[:, half:])


def one_by_one(a):
    total = a[:, 0]
    for c in range(1, a.shape[1]):
        total = total + a[:, c]
    return total


def expected_norm(x, weight, eps, add_up=tree):
    a = x.float().numpy()
    mean = add_up(a * a) / np.float32(a.shape[1])
    scale = np.float32(1) / np.sqrt(mean + np.float32(eps))
    return torch.from_numpy(a * scale[:, None] * weight.numpy()).to(x.dtype)


def expected_mxfp8(x):
    rows, cols = x.shape
    blocks = -(-cols // 32)
    codes = torch.empty(rows, cols, dtype=torch.float8_e4m3fn)
    scales = np.empty((rows, blocks), dtype=np.uint8)
    for r in range(rows):
        for b in range(blocks):
            block = x[r, 32 * b:32 * b + 32].double()
            largest, exponent = float(block.abs().max()), -127
            while 448 * 2.0**exponent < largest:
                exponent += 1
            scales[r, b] = exponent + 127
            codes[r, 32 * b:32 * b + 32] = (block / 2.0**exponent).to(torch.float8_e4m3fn)
    return codes, scales


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and torch.equal(a.view(torch.uint8), b.view(torch.uint8))


def require(condition, what):
    print(("ok      " if condition else "FAILED  ") + what)
    if not condition:
        sys.exit(1)


torch.manual_seed(1)
for dtype in (torch.float32, torch.bfloat16):
    for shape in ((1, 1), (5, 33), (37, 1000), (64, 257)):
        x = (torch.randn(shape) * torch.exp2(torch.randint(-8, 8, shape).float())).to(dtype)
        weight = torch.randn(shape[1])
        y = ops.rms_norm(x, weight, 1e-6)
        what = f"{str(dtype)[6:]} {shape[0]} x {shape[1]}"
        require(same(y, expected_norm(x, weight, 1e-6)), f"rms_norm, {what}: the bits of the tree in NumPy")
        require(all(same(ops.rms_norm(x[r:r + 1], weight, 1e-6)[0], y[r]) for r in range(shape[0])),
                f"rms_norm, {what}: each row alone")
        x[0] = 0
        x[-1, -1] = -448
        codes, scales = ops.mxfp8(x)
        wanted_codes, wanted_scales = expected_mxfp8(x)
        require(same(codes, wanted_codes) and np.array_equal(scales.view(torch.uint8).numpy(), wanted_scales),
                f"mxfp8, {what}: torch's cast under scales found by comparison")

x, weight = torch.randn(64, 1000), torch.randn(1000)
y = ops.rms_norm(x, weight, 1e-6)
require(not same(expected_norm(x, weight, 1e-6, one_by_one), y), "control: another order has other bits")
for threads in (1, 3):
    torch.set_num_threads(threads)
    require(same(ops.rms_norm(x, weight, 1e-6), y), f"rms_norm with {threads} threads")
tiny = x * 1e-22
y = ops.rms_norm(tiny, weight, 0.0)
if torch.set_flush_denormal(True):
    require(same(ops.rms_norm(tiny, weight, 0.0), y), "rms_norm where the program flushes subnormal numbers")
    torch.set_flush_denormal(False)
require(ops.rms_norm(x.to("meta"), weight.to("meta"), 1e-6).shape == x.shape, "shapes on the meta device")
try:
    ops.rms_norm(x.t(), weight, 1e-6)
    require(False, "a matrix with gaps is refused")
except RuntimeError as error:
    require("contiguous" in str(error), "a matrix with gaps is refused")
