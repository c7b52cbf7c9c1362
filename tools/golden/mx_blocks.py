#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tests/golden/quantize/mx_blocks.txt: MX blocks by torchao (eager, on the CPU) and gfloat.

    tools/golden/mx_blocks.py [OUTPUT]        (the packages of requirements.txt)
"""
import warnings

import gfloat
import gfloat.block
import gfloat.formats
import numpy as np
import torch
import torchao
from torchao.prototype.mx_formats.config import ScaleCalculationMode
from torchao.prototype.mx_formats.mx_tensor import to_mx

from vectors import ELEMENTS, Digest, File, block, blocks, edges, output

warnings.filterwarnings("ignore")
TYPES = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "e3m2": "fp6_e3m2", "e2m3": "fp6_e2m3",
         "e2m1": torch.float4_e2m1fn_x2}
RULES = {"floor": ScaleCalculationMode.FLOOR, "rceil": ScaleCalculationMode.RCEIL, "even": ScaleCalculationMode.EVEN,
         "ceil": ScaleCalculationMode.CEIL}
COUNT = 2000


def floats(bits):
    return np.array(bits, dtype=np.uint32).view(np.float32)


def torchao_blocks(element, rule, x, dtype=torch.float32):
    """Scale bytes, and one code a byte, of an array of blocks."""
    data = torch.from_numpy(np.ascontiguousarray(x)).to(dtype)
    scales, codes = to_mx(data, TYPES[element], 32, RULES[rule])
    scales = scales.view(torch.uint8).numpy().reshape(-1)
    codes = codes.view(torch.uint8).numpy().reshape(len(x), -1)
    if element == "e2m1":  # the even element is in the low half
        codes = np.stack([codes & 15, codes >> 4], axis=2).reshape(len(x), 32)
    return scales, codes


def gfloat_blocks(element, x):
    """The same by gfloat's scale (floor) and saturating elements."""
    info = getattr(gfloat.formats, f"format_info_mx{dict(e4m3='fp8', e5m2='fp8', e3m2='fp6', e2m3='fp6', e2m1='fp4')[element]}_{element}")
    scales, codes = [], []
    for row in x.astype(np.float64):
        scale = gfloat.block.compute_scale_amax(info.etype.emax, row)
        scales.append(int(gfloat.encode_float(info.stype, scale)))
        rounded = gfloat.round_ndarray(info.etype, row / scale, gfloat.RoundMode.TiesToEven, True)
        codes.append(gfloat.encode_ndarray(info.etype, rounded).astype(np.uint8))
    # The package's own loop over a block gives the same bytes.
    assert list(gfloat.block.encode_block(info, scale, row / scale)) == [scales[-1], *codes[-1]]
    return np.array(scales, np.uint8), np.array(codes)


def digest(scales, codes):
    d = Digest()
    for s, c in zip(scales, codes):
        d.add(bytes([s])).add(c.tobytes())
    return d


def first_only(amaxes):
    x = np.zeros((len(amaxes), 32), np.float32)
    x[:, 0] = floats(amaxes)
    return x


def main():
    file = File(f"""MX blocks by Python packages. Made by tools/golden/mx_blocks.py with torchao {torchao.__version__} (to_mx, eager, CPU),
torch {torch.__version__.split('+')[0]}, gfloat 0.5.2, numpy {np.__version__}. Inputs: vectors.py.
blocks LIBRARY ELEMENT RULE SET BYTES FNV-1a: {COUNT} blocks of the set; for each its scale and its 32 codes, one a byte
block LIBRARY ELEMENT RULE SET NUMBER SCALE CODES: one of them
edges LIBRARY ELEMENT RULE BYTES FNV-1a: scales of blocks that are zeros but for their first number, for all edges() of
  positive exponent
special LIBRARY ELEMENT RULE FLOATS SCALE CODES: the first numbers of a block whose others are 1""")
    inputs = {name: floats(blocks(name, COUNT)) for name in ("f32", "bf16", "low")}
    for element in ELEMENTS:
        file.comment(element)
        for rule in RULES:
            for name, x in inputs.items():
                scales, codes = torchao_blocks(element, rule, x)
                if name == "bf16":  # the same as from a bfloat16 tensor
                    again = torchao_blocks(element, rule, x, torch.bfloat16)
                    assert (again[0] == scales).all() and (again[1] == codes).all()
                file.add("blocks", "torchao", element, rule, name, digest(scales, codes))
                if name == "f32":
                    file.add("block", "torchao", element, rule, name, 7, f"{scales[7]:02x}", codes[7].tobytes().hex())
        for name, x in inputs.items():
            file.add("blocks", "gfloat", element, "floor", name, digest(*gfloat_blocks(element, x)))
        for rule in RULES:
            amaxes = edges(element, range(1, 255))
            scales, _ = torchao_blocks(element, rule, first_only(amaxes))
            file.add("edges", "torchao", element, rule, Digest().add(scales.tobytes()))
        for rule in RULES:
            for first in (["7f800000"], ["ff800000"], ["7fc00000"], ["7f800000", "7fc00000"], ["7f7fffff"], ["80000000"]):
                x = np.ones((1, 32), np.float32)
                x[0, :len(first)] = floats([int(f, 16) for f in first])
                scales, codes = torchao_blocks(element, rule, x)
                file.add("special", "torchao", element, rule, "".join(first), f"{scales[0]:02x}",
                         codes[0, :len(first) + 1].tobytes().hex())
    file.write(output("tests/golden/quantize/mx_blocks.txt"))


if __name__ == "__main__":
    main()
