#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the Python program of docs/fingerprint.md against the values in tests/golden/digest.hpp.

fingerprint_docs.py <fingerprint.md> <digest.hpp>
"""
import re
import struct
import sys


def main() -> int:
    text, golden = (open(name, encoding="utf-8").read() for name in sys.argv[1:3])
    program = re.search(r"```python\n(.*?)```", text, re.S).group(1)
    names: dict = {}
    exec(compile(program, sys.argv[1], "exec"), names)
    digest = names["digest"]

    pattern = bytes((i * i + 3 * i + 7 * (i >> 8)) & 255 for i in range(5000))
    rows = re.findall(r"\{(\d+), (0x[0-9a-f]{16})\}", golden)
    named = dict(re.findall(r"(digest_\w+) = (0x[0-9a-f]{16})", golden))
    floats = struct.pack("<6f", 1, -2, 3.5, 0, -0.0, 1e30)
    checks = [(f"{n} bytes", digest(pattern[: int(n)]), value) for n, value in rows]
    checks += [
        ("2x3 f32", digest(floats, 17, [2, 3]), named["digest_2x3_f32"]),
        ("6 f32", digest(floats, 17, [6]), named["digest_6_f32"]),
        ("6 u32", digest(floats, 6, [6]), named["digest_6_u32"]),
    ]
    wide = re.findall(r"\{(\d+), (0x[0-9a-f]{16}), (0x[0-9a-f]{16})\}", golden)
    for n, *halves in wide:
        checks += [(f"{n} bytes, 128 bits", got, want) for got, want in zip(names["digest128"](pattern[: int(n)]), halves)]
    # Parts add, in the program as in the library.
    whole = names["digest_sum"](pattern)
    parts = names["digest_sum"](pattern[:1600]) + names["digest_sum"](pattern[1600:], 100)
    checks.append(("parts", parts % 2**128, hex(whole)))

    wrong = [(name, hex(got), want) for name, got, want in checks if got != int(want, 16)]
    for name, got, want in wrong:
        print(f"{name}: the program says {got}, the golden value is {want}", file=sys.stderr)
    # Negative control: another constant must give another digest.
    names["GOLDEN"] ^= 2
    if len(rows) < 10 or len(wide) < 9 or any(digest(pattern[: int(n)]) == int(v, 16) for n, v in rows[1:]):
        print("the control with another constant was not told apart", file=sys.stderr)
        return 1
    print(f"{len(checks)} values agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
