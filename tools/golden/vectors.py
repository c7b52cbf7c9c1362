# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The inputs of the golden files, which tests/recipes/vectors.hpp makes again from the same integers, and the digests of
what a library answers. Standard library only."""
import struct
import sys

MASK = (1 << 64) - 1
BLOCK = 32
ELEMENTS = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")
#: exponent bits, mantissa bits, bias, code of the largest number
FORMATS = {"e4m3": (4, 3, 7, 0x7E), "e5m2": (5, 2, 15, 0x7B), "e3m2": (3, 2, 3, 0x1F), "e2m3": (2, 3, 1, 0x1F),
           "e2m1": (2, 1, 1, 0x07)}


def word(seed, index):
    """Word `index` of SplitMix64 started at `seed`."""
    z = (seed + (index + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


#: name: (seed, lowest and number of the exponent fields of a block's largest numbers, whether bfloat16)
SETS = {"f32": (1, 30, 221, False), "bf16": (2, 30, 221, True), "low": (3, 1, 16, False), "grid": (4, 118, 9, True),
        "fine": (5, 118, 9, False)}


def block(name, number, size=BLOCK):
    """The bits of `size` floats: an exponent for the block, up to 19 less for its elements; half of them have four
    mantissa bits, so that they are ties or beside ties of a narrow format; one in sixteen is a zero."""
    seed, first, count, bf16 = SETS[name]
    top = first + word(seed, 64 * number + 63) % count
    out = []
    for j in range(size):
        w = word(seed, 64 * number + j)
        field = max(top - (w >> 40) % 20, 0)
        mantissa = w & 0x7FFFFF
        if w >> 23 & 1:
            mantissa &= 0x780000
        if w >> 24 & 7 == 0:
            mantissa ^= 1
        bits = 0 if w >> 28 & 15 == 0 else field << 23 | mantissa
        bits |= (w >> 27 & 1) << 31
        out.append(bits & 0xFFFF0000 if bf16 else bits)
    return out


def blocks(name, count, size=BLOCK):
    return [block(name, b, size) for b in range(count)]


def edges(element, exponents=range(255)):
    """Largest magnitudes, as bits, at and beside the places where a rule for the scale steps."""
    _, m, _, largest = FORMATS[element]
    bump = (largest & ((1 << m) - 1)) << (23 - m)  # above it a number needs the next power of two
    half = 0x800000 - (1 << (22 - m))  # from it the rounded significand carries
    mantissas = sorted({0, 1, 2, bump - 1, bump, bump + 1, bump + 2, half - 1, half, half + 1, 0x7FFFFF})
    return [e << 23 | x for e in exponents for x in mantissas]


def as_float(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def as_bits(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def value(element, code):
    """The number that a finite code means, as a float (exact)."""
    e, m, bias, _ = FORMATS[element]
    magnitude = code & ((1 << (e + m)) - 1)
    field, mantissa = magnitude >> m, magnitude & ((1 << m) - 1)
    x = mantissa * 2.0 ** (1 - bias - m) if field == 0 else ((1 << m) + mantissa) * 2.0 ** (field - bias - m)
    return -x if code >> (e + m) else x


def boundaries(element):
    """Every non-negative number of a format, every number halfway between two, and their neighbours among the floats, as
    bits; the last is where the next number would be."""
    largest = FORMATS[element][3]
    v = [value(element, c) for c in range(largest + 1)]
    v.append(2 * v[-1] - v[-2])
    out = []
    for a, b in zip(v, v[1:]):
        for x in (a, (a + b) / 2):
            bits = as_bits(x)
            out += [bits - 1, bits, bits + 1] if bits else [0, 1]
    return out


class Digest:
    """FNV-1a of 64 bits over bytes, and how many there were."""

    def __init__(self):
        self.hash, self.count = 0xCBF29CE484222325, 0

    def add(self, data):
        h = self.hash
        for byte in bytes(data):
            h = ((h ^ byte) * 0x100000001B3) & MASK
        self.hash, self.count = h, self.count + len(data)
        return self

    def __str__(self):
        return f"{self.count} {self.hash:016x}"


class File:
    """A golden file: lines of words; what comes after # is a comment."""

    def __init__(self, title):
        self.lines = [f"# {line}" for line in title.strip().splitlines()]

    def add(self, *words):
        self.lines.append(" ".join(str(w) for w in words))

    def comment(self, text):
        self.lines += ["", f"# {text}"]

    def write(self, path):
        with open(path, "w", encoding="ascii", newline="\n") as out:
            out.write("\n".join(self.lines) + "\n")
        print(f"{path}: {sum(len(x) + 1 for x in self.lines)} bytes")


def output(default):
    return sys.argv[1] if len(sys.argv) > 1 else default
