#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the Python programs of docs/order.md and compares what they print with tests/golden/p4016.hpp.

Usage: docs_program.py ORDER_MD GOLDEN_HPP
"""
import re
import subprocess
import sys


def blocks(text):
    return re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)


def golden(text):
    """The lines that the program must print, from the header's two tables."""
    def table(name):
        body = re.search(name + r"\[\] = \{(.*?)\n\};", text, re.S).group(1)
        return [(int(n), int(bits, 16)) for n, bits in re.findall(r"\{(\d+), (0x[0-9a-f]+)\}", body)]

    lanes, floats = table("lanes_sums"), table("prefix_sums")
    assert len(lanes) == 5 and len(floats) == 12, "the golden header has lost rows"
    return [f"lanes {n} {bits:016x}" for n, bits in lanes] + [f"float {n} {bits:08x}" for n, bits in floats]


def output_of(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def fnv(name):
    h = 0xCBF29CE484222325
    for c in name.encode():
        h = (h ^ c) * 0x100000001B3 % 2**64
    return f"{h:016x}"


def main(order_md, golden_hpp):
    with open(order_md, encoding="utf-8") as f:
        text = f.read()
    with open(golden_hpp, encoding="utf-8") as f:
        expected = golden(f.read())

    found = blocks(text)
    assert len(found) == 2, f"expected 2 programs in {order_md}, found {len(found)}"
    program, check = found
    lines = [line for line in program.splitlines() if line.strip()]
    assert len(lines) <= 20, f"the page promises 20 lines; the program has {len(lines)}"

    got = output_of(program + check)
    assert got == expected, f"printed {got}, expected {expected}"

    # The table on the page, and the ids.
    for line in expected:
        kind, n, bits = line.split()
        cell = rf"\| {n}( \(the tree\))? \| `{bits}` \|"
        assert re.search(cell, text), f"the page's table lacks {line}"
    ids = re.findall(r"\| `(isobit\.[a-z0-9.]+)` \| `([0-9a-f]{16})` \|", text)
    assert len(ids) == 3, "the page names three orders"
    for name, value in ids:
        assert fnv(name) == value, f"the id of {name} is {fnv(name)}, the page says {value}"

    # Small expressions, with text as operands and a non-commutative operator.
    def bracket(a, b):
        return f"({a}{b})"

    scope = {}
    exec(program, scope)
    assert scope["tree"](list("0123456"), bracket) == "(((01)(23))((45)6))"
    assert scope["lanes"](2, list("0123456"), bracket) == "(((02)(46))((13)5))"
    for n in 1, 2, 3, 33, 1000:
        assert scope["bits"](scope["tree"]([-0.0] * n, scope["add32"]), ">f") == "80000000"
    inf = float("inf")
    assert scope["tree"]([3e38, 3e38, 1.0], scope["add32"]) == inf

    # Controls: a program that pads, or that folds left to right, must be told apart.
    padded = program.replace("x = pairs + x[2 * len(pairs):]", "x = pairs + [add(v, 0.0) for v in x[2 * len(pairs):]]")
    assert padded != program
    scope = {}
    exec(padded, scope)
    assert scope["bits"](scope["tree"]([-0.0] * 3, scope["add32"]), ">f") == "00000000"
    folded = program + "\ndef tree(x, add):\n    s = x[0]\n    for v in x[1:]: s = add(s, v)\n    return s\n"
    wrong = output_of(folded + check)
    assert len(wrong) == len(expected) and wrong != expected
    print("docs/order.md: its programs print the golden bits")


if __name__ == "__main__":
    main(*sys.argv[1:])
