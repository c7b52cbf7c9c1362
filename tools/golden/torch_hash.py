#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes tests/golden/torch_hash.hpp: torch.hash_tensor of patterned tensors, computed by PyTorch on the CPU.

  tools/golden/torch_hash.py [--check] [FILE]

--check compares the file with what torch says now instead of writing it. Needs torch (made with 2.11.0) and numpy, best
in a virtual environment of its own:

  python3 -m venv venv && venv/bin/pip install torch==2.11.0 numpy && venv/bin/python tools/golden/torch_hash.py

torch.hash_tensor exists from PyTorch 2.9 on. Element i of a tensor has the bits of pattern(i), so that subnormal
numbers, infinities and NaNs with payloads occur.
"""
import argparse
import pathlib
import sys

import torch

TYPES = {  # C++ name: torch's type, bits, the integer type of the same width
    "double": (torch.float64, 64, torch.int64),
    "float": (torch.float32, 32, torch.int32),
    "isobit::f16": (torch.float16, 16, torch.int16),
    "isobit::bf16": (torch.bfloat16, 16, torch.int16),
    "std::uint8_t": (torch.uint8, 8, torch.int8),
    "std::int8_t": (torch.int8, 8, torch.int8),
    "std::int16_t": (torch.int16, 16, torch.int16),
    "std::int32_t": (torch.int32, 32, torch.int32),
    "std::int64_t": (torch.int64, 64, torch.int64),
    "bool": (torch.bool, 8, torch.int8),
}
# Elements that matter most, by width: NaNs of both kinds, infinities, zeros, subnormal numbers, integer limits.
SPECIAL = {
    64: [0, 1 << 63, 1, 0x7FF0000000000000, 0xFFF0000000000001, 0x7FF8000000000055, 0x8000000000000001],
    32: [0, 1 << 31, 1, 0x7F800000, 0xFF800001, 0x7FC12345, 0x807FFFFF, 0x00400000],
    16: [0, 1 << 15, 1, 0x7C00, 0xFC01, 0x7E55, 0x83FF, 0x7F80, 0xFF81, 0x7FC5, 0x0040, 0x0200],
    8: [0, 0x80, 1, 0x7F, 0xFF],
}
CASES = [  # shape, dims (None: all)
    ((1,), None),
    ((7,), None),
    ((1000,), None),
    ((2, 3, 4), None),
    ((2, 3, 4), (0,)),
    ((2, 3, 4), (1,)),
    ((2, 3, 4), (2,)),
    ((2, 3, 4), (-1, 0)),
    ((2, 3, 4), (0, 1, 2)),
    ((5, 1, 3), (1,)),
    ((0, 3), (1,)),
]


def pattern(i: int, bits: int) -> int:
    special = SPECIAL[bits]
    if i % 3 == 0:
        return special[i // 3 % len(special)]
    return ((i + 1) * 0x9E3779B97F4A7C15 & (2**64 - 1)) >> (64 - bits)


def tensor(shape, name):
    kind, bits, integer = TYPES[name]
    count = 1
    for extent in shape:
        count *= extent
    raw = [pattern(i, bits) for i in range(count)]
    if kind is torch.bool:
        return torch.tensor([r % 3 == 0 for r in raw], dtype=torch.bool).reshape(shape)
    signed = [r - (1 << bits) if r >> (bits - 1) else r for r in raw]
    return torch.tensor(signed, dtype=integer).view(kind).reshape(shape)


def rows():
    for name in TYPES:
        for shape, dims in CASES:
            x = tensor(shape, name)
            out = torch.hash_tensor(x) if dims is None else torch.hash_tensor(x, dim=dims)
            reduced = range(len(shape)) if dims is None else [d % len(shape) for d in dims]
            mask = sum(1 << d for d in set(reduced))
            values = ", ".join(f"0x{v:016x}u" for v in out.flatten().tolist())
            extents = ", ".join(str(e) for e in shape)
            yield f'    {{"{name}", {{{extents}}}, 0x{mask:x}, {{{values}}}}},'


def text() -> str:
    return "\n".join([
        "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
        "//! \\file",
        f"//! torch.hash_tensor of PyTorch {torch.__version__.split('+')[0]} on the CPU, written by tools/golden/torch_hash.py; the tensors are",
        "//! those of that script's `pattern`.",
        "#pragma once",
        "",
        "#include <cstdint>",
        "#include <vector>",
        "",
        "namespace golden {",
        "",
        "struct torch_hash_case {",
        "  char const* type;",
        "  std::vector<std::uint64_t> extents;",
        "  std::uint64_t dims; //!< bit d: dimension d is reduced",
        "  std::vector<std::uint64_t> hashes;",
        "};",
        "inline std::vector<torch_hash_case> const torch_hashes = {",
        "    // clang-format off",
        *rows(),
        "    // clang-format on",
        "};",
        "",
        "} // namespace golden",
        "",
    ])


def main() -> int:
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("file", nargs="?", type=pathlib.Path, default=root / "tests/golden/torch_hash.hpp")
    options = parser.parse_args()
    if not options.check:
        options.file.write_text(text(), encoding="utf-8")
        return 0
    same = options.file.read_text(encoding="utf-8") == text()
    print(f"{options.file}: {'the same' if same else 'DIFFERS from'} what torch {torch.__version__} says")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
