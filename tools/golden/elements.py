#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tests/golden/quantize/elements.txt: what ml_dtypes, gfloat and torch make of single numbers.

    tools/golden/elements.py [OUTPUT]        (the packages of requirements.txt)
"""
import warnings

import gfloat
import gfloat.formats
import ml_dtypes
import numpy as np
import torch

from vectors import ELEMENTS, Digest, File, block, boundaries, output

warnings.filterwarnings("ignore")
ML = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e3m2": "float6_e3m2fn", "e2m3": "float6_e2m3fn",
      "e2m1": "float4_e2m1fn", "e8m0": "float8_e8m0fnu", "f16": None, "bf16": "bfloat16"}


def floats(bits):
    return np.array(bits, dtype=np.uint32).view(np.float32)


def codes_of(array):
    return array.view({1: np.uint8, 2: np.uint16}[array.dtype.itemsize])


def ml(name, x):
    return codes_of(x.astype(np.float16 if name == "f16" else getattr(ml_dtypes, ML[name])))


def gf(name, saturate):
    info = getattr(gfloat.formats, f"format_info_ocp_{name}")

    def convert(_, x):
        rounded = gfloat.round_ndarray(info, x.astype(np.float64), gfloat.RoundMode.TiesToEven, saturate)
        return gfloat.encode_ndarray(info, rounded).astype(np.uint8)

    return convert


TORCH = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "e8m0": torch.float8_e8m0fnu, "f16": torch.float16,
         "bf16": torch.bfloat16}


def to(name, x):
    y = torch.from_numpy(x.copy()).to(TORCH[name])
    return y.view(torch.uint8 if y.element_size() == 1 else torch.uint16).numpy()


def inputs():
    """Arrays of finite floats, by name."""
    every = np.arange(65536, dtype=np.uint16)
    half = every.view(np.float16).astype(np.float32)
    brain = (every.astype(np.uint32) << 16).view(np.float32)
    random = floats([b for name in ("f32", "low") for n in range(2000) for b in block(name, n)])
    ends = floats([b | s for f in ELEMENTS for b in boundaries(f) for s in (0, 0x80000000)])
    return {k: v[np.isfinite(v)] for k, v in (("f16", half), ("bf16", brain), ("random", random), ("ends", ends))}


def packed(codes):
    return codes.astype("<u2" if codes.dtype.itemsize == 2 else np.uint8).tobytes()


def main():
    file = File(f"""Codes of single numbers by Python packages. Made by tools/golden/elements.py with
ml_dtypes {ml_dtypes.__version__}, gfloat 0.5.2, torch {torch.__version__.split('+')[0]}, numpy {np.__version__}.
digest LIBRARY MODE FORMAT INPUTS BYTES FNV-1a: the codes of all finite floats that a f16 (bf16) holds, of the blocks of
  vectors.py (sets f32 and low, 2000 blocks each), of its boundaries of all formats with both signs
codes FORMAT FLOAT=CODE...: ml_dtypes; every number of a format, every halfway point, and the floats beside them
special LIBRARY MODE FORMAT CODES: of +inf, -inf, 7fc00000, ffc00000, 7f800001, the largest float, 1e9 and -1e9""")
    data = inputs()
    makers = [("ml_dtypes", "plain", name, ml) for name in ML]
    makers += [("gfloat", mode, name, gf(name, mode == "saturating"))
               for name in ELEMENTS for mode in ("saturating", "plain") if mode == "saturating" or name in ("e4m3", "e5m2")]
    makers += [("torch", "plain", name, to) for name in TORCH]
    for library, mode, name, convert in makers:
        for kind, x in data.items():
            if name == "e8m0":
                x = np.abs(x)  # the sign of a scale is not the matter here
            file.add("digest", library, mode, name, kind, Digest().add(packed(convert(name, x))))
    file.comment("what is not finite, or far too large")
    special = floats([0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F800001, 0x7F7FFFFF, 0x4E6E6B28, 0xCE6E6B28])
    for library, mode, name, convert in makers:
        if library == "gfloat" and name not in ("e4m3", "e5m2"):
            continue  # refuses infinities and NaNs
        file.add("special", library, mode, name, *(f"{int(c):02x}" for c in convert(name, special)))
    for name in ELEMENTS:
        file.comment(name)
        bits = boundaries(name)
        pairs = [f"{b:08x}={int(c):02x}" for b, c in zip(bits, ml(name, floats(bits)))]
        for i in range(0, len(pairs), 9):
            file.add("codes", name, *pairs[i:i + 9])
    file.write(output("tests/golden/quantize/elements.txt"))


main()
