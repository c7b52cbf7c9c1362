#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tests/golden/quantize/nvfp4_blocks.txt: NVFP4 blocks by torchao's nvfp4_quantize and by the PyTorch code of fouroversix,
both on the CPU.

    tools/golden/nvfp4_blocks.py [OUTPUT]        (the packages of requirements.txt)
"""
import importlib.metadata
import sys
import types
import warnings

import numpy as np
import torch
import torchao
from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize, per_tensor_amax_to_scale

# Only the quantiser of fouroversix is wanted; its package would import models and kernels that need more packages.
location = importlib.metadata.distribution("fouroversix").locate_file("fouroversix")
for name in ("fouroversix", "fouroversix.quantize"):
    package = types.ModuleType(name)
    package.__path__ = [str(location / name.partition(".")[2])]
    sys.modules[name] = package
from fouroversix.quantize.pytorch import reference  # noqa: E402
from fouroversix.utils import DataType, ScaleRule  # noqa: E402

from vectors import Digest, File, as_float, blocks, output  # noqa: E402

warnings.filterwarnings("ignore")
TENSORS = ("3f800000", "3f8c0000", "3f820000")
COUNT = 2000


def unpacked(codes, count):
    codes = codes.view(torch.uint8).numpy().reshape(count, -1)
    return np.stack([codes & 15, codes >> 4], axis=2).reshape(count, 16)


def by_torchao(x, g):
    scale = None if g is None else per_tensor_amax_to_scale(torch.tensor(as_float(int(g, 16))))
    scales, codes = nvfp4_quantize(torch.from_numpy(x), 16, scale)
    return scales.view(torch.uint8).numpy().reshape(-1), unpacked(codes, len(x))


def by_fouroversix(x, g, rule):
    codes, scales, _ = reference.quantize_to_fp4(torch.from_numpy(x), torch.tensor(as_float(int(g, 16))),
                                                 fp4_format=DataType.nvfp4, scale_rule=rule,
                                                 use_blackwell_scale_layout=False)
    return scales.view(torch.uint8).numpy().reshape(-1), unpacked(codes, len(x))


def digest(scales, codes):
    d = Digest()
    for s, c in zip(scales, codes):
        d.add(bytes([s])).add(c.tobytes())
    return d


def main():
    file = File(f"""NVFP4 blocks by Python packages. Made by tools/golden/nvfp4_blocks.py with torchao {torchao.__version__}
(nvfp4_quantize), fouroversix {importlib.metadata.version('fouroversix')} (its PyTorch backend), torch {torch.__version__.split('+')[0]}. Inputs: vectors.py.
blocks LIBRARY RECIPE TENSOR SET BYTES FNV-1a: {COUNT} blocks of 16; for each its scale and its codes, one a byte
block LIBRARY RECIPE TENSOR SET NUMBER SCALE CODES: one of them
The choices of mae and mse depend on the order in which torch adds: here that of a processor with AVX2 and no AVX-512.""")
    for kind in ("grid", "fine"):
        x = np.array(blocks(kind, COUNT, 16), dtype=np.uint32).view(np.float32)
        results = [("torchao", "one_level", "3f800000", by_torchao(x, None))]
        for g in TENSORS:
            results.append(("torchao", "two_levels", g, by_torchao(x, g)))
            for rule in (ScaleRule.static_6, ScaleRule.mae, ScaleRule.mse):
                results.append(("fouroversix", rule.value, g, by_fouroversix(x, g, rule)))
        for library, recipe, g, (scales, codes) in results:
            file.add("blocks", library, recipe, g, kind, digest(scales, codes))
            file.add("block", library, recipe, g, kind, 5, f"{scales[5]:02x}", codes[5].tobytes().hex())
    file.write(output("tests/golden/quantize/nvfp4_blocks.txt"))


main()
