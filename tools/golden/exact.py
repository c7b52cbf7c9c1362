#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tests/golden/quantize/exact.txt: every recipe once more, in rational numbers, from the definitions of docs/quantize.md.

    tools/golden/exact.py [OUTPUT]        (python3 alone; about a minute)

Nothing here is a float: a number is a Fraction, and where a recipe rounds to float, `rn` does it with integers. Ties are
therefore decided by comparing integers, not by an approximation.
"""
from bisect import bisect_left
from fractions import Fraction

from vectors import ELEMENTS, FORMATS, Digest, File, block, blocks, edges, output, value

INFINITY = "infinity"
LARGEST_FLOAT = Fraction((1 << 24) - 1) * Fraction(2) ** 104


def number(bits):
    """The magnitude of a float, as bits; a Fraction, INFINITY or None for NaN."""
    field, mantissa = bits >> 23 & 255, bits & 0x7FFFFF
    if field == 255:
        return None if mantissa else INFINITY
    return Fraction(mantissa | (0x800000 if field else 0)) * Fraction(2) ** ((field or 1) - 150)


def floor_log2(x):
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if x >= Fraction(2) ** e else e - 1


def ceil_log2(x):
    e = floor_log2(x)
    return e if x == Fraction(2) ** e else e + 1


def half_even(x):
    whole, rest = divmod(x.numerator, x.denominator)
    return whole + (2 * rest > x.denominator or (2 * rest == x.denominator and whole & 1))


def rn(x):
    """A non-negative number rounded to float, ties to even; subnormal floats too; INFINITY beyond the largest."""
    if x == INFINITY or x == 0:
        return x
    last = max(floor_log2(x) - 23, -149)
    y = half_even(x / Fraction(2) ** last) * Fraction(2) ** last
    return INFINITY if y > LARGEST_FLOAT else y


def times(a, b):
    return (0 if 0 in (a, b) else INFINITY) if INFINITY in (a, b) else rn(a * b)


def over(a, b):
    if b == INFINITY:
        return Fraction(0)
    return INFINITY if a == INFINITY or b == 0 else rn(a / b)


def plus(a, b):
    return INFINITY if INFINITY in (a, b) else rn(a + b)


def capped(x):
    return LARGEST_FLOAT if x == INFINITY else min(x, LARGEST_FLOAT)


def bits_of(x, negative=False):
    """The float's bits of a magnitude that is a float."""
    sign = 0x80000000 if negative else 0
    if x == INFINITY:
        return sign | 0x7F800000
    if x == 0:
        return sign
    e = floor_log2(x)
    if e < -126:
        return sign | int(x * Fraction(2) ** 149)
    return sign | (e + 127) << 23 | int((x / Fraction(2) ** e - 1) * (1 << 23))


VALUES = {f: [Fraction(value(f, c)) for c in range(FORMATS[f][3] + 1)] for f in ELEMENTS}
MIDDLES = {f: [(a + b) / 2 for a, b in zip(v, v[1:])] for f, v in VALUES.items()}


def nearest(element, x):
    """The code nearest to x >= 0, ties to the even code, saturating."""
    if x == INFINITY:
        return FORMATS[element][3]
    middles = MIDDLES[element]
    c = bisect_left(middles, x)
    return c + 1 if c < len(middles) and middles[c] == x and c % 2 == 1 else c


def stochastic(element, x, random):
    """One of the two codes around x: the upper one if random / 2^32 is below the distance, to 32 binary digits."""
    v = VALUES[element]
    if x == INFINITY or x >= v[-1]:
        return len(v) - 1
    c = bisect_left(v, x)
    if v[c] == x:
        return c
    distance = (x - v[c - 1]) / (v[c] - v[c - 1])
    return c - 1 + (random < (distance.numerator << 32) // distance.denominator)


# --- the MX rules -------------------------------------------------------------------------------------------------------


def emax(element):
    return floor_log2(VALUES[element][-1])


def within(k):
    return max(0, min(254, k))


def least(amax, limit):
    """The least k with amax <= limit * 2^(k - 127)."""
    return within(ceil_log2(amax / limit) + 127)


def half_up(element, x):
    """x with as many significant digits as the element has, a tie to the larger."""
    last = Fraction(2) ** (floor_log2(x) - FORMATS[element][1])
    return (x / last + Fraction(1, 2)).__floor__() * last


RULES = {
    "floor": lambda f, x: within(floor_log2(x) - emax(f) + 127),
    "rceil": lambda f, x: least(x, VALUES[f][-1]),
    "rceil_te": lambda f, x: least(rn(x * rn(1 / VALUES[f][-1])), Fraction(1)) if rn(x * rn(1 / VALUES[f][-1])) else 0,
    "even": lambda f, x: within(floor_log2(half_up(f, x)) - emax(f) + 127),
    "ceil": lambda f, x: within(ceil_log2(x) - emax(f) + 127),
}
POLICIES = ("block_nan", "saturate", "te_nan_ignored")
NAN_CODE = {f: (1 << sum(FORMATS[f][:2])) - 1 for f in ELEMENTS}


def scale(element, rule, amax):
    """The scale byte of a finite largest magnitude, as bits."""
    return RULES[rule](element, number(amax)) if amax else 0


def rceil(element, amax):
    return scale(element, "rceil", amax)


def sign_of(element, bits):
    return (bits >> 31) << sum(FORMATS[element][:2])


def mx_block(element, rule, policy, x, random=None):
    """Scale byte and codes of a block of floats, as bits. random(i): 32 bits for element i."""
    numbers = [number(b) for b in x]
    nan = None in numbers and policy != "te_nan_ignored"
    if nan or (INFINITY in numbers and policy == "block_nan"):
        return 255, [NAN_CODE[element]] * len(x)
    amax = max([b & 0x7FFFFFFF for b, n in zip(x, numbers) if n not in (None, INFINITY)], default=0)
    k = 254 if INFINITY in numbers else scale(element, rule, amax)
    codes = []
    for i, (b, n) in enumerate(zip(x, numbers)):
        if n is None:
            codes.append(NAN_CODE[element])
            continue
        y = n if n == INFINITY else n / Fraction(2) ** (k - 127)
        c = nearest(element, y) if random is None else stochastic(element, y, random(i))
        codes.append(c | sign_of(element, b))
    return k, codes


# --- the NVFP4 recipes --------------------------------------------------------------------------------------------------


class Te:
    """Transformer Engine's order of operations, every one rounded to float."""
    most = 448

    def __init__(self, g):
        self.g = number(g)
        s = capped(over(Fraction(6 * self.most), self.g)) if self.g else 1
        self.s = s or Fraction(1)

    def scale_of(self, amax):
        return nearest("e4m3", capped(times(number(amax), times(self.s, rn(Fraction(1, 6))))))

    def encoder(self, sf):
        factor = capped(over(Fraction(1), times(VALUES["e4m3"][sf], over(Fraction(1), self.s))))
        return lambda x: times(x, factor)

    def value_of(self, code, sf):
        return times(VALUES["e2m1"][code], times(times(VALUES["e4m3"][sf], self.g), rn(Fraction(1, 2688))))

    def choose(self, _, amax):
        return self.scale_of(amax)


class Exact(Te):
    """Real arithmetic with the tensor's scale g / 2688."""

    def __init__(self, g):
        self.unit = number(g) / 2688

    def scale_of(self, amax):
        return nearest("e4m3", number(amax) / (6 * self.unit)) if self.unit else 0

    def encoder(self, sf):
        unit = VALUES["e4m3"][sf] * self.unit
        return lambda x: x / unit if unit else Fraction(0)

    def value_of(self, code, sf):
        return rn(VALUES["e2m1"][code] * VALUES["e4m3"][sf] * self.unit)


class ExactScale(Exact):
    """The same, the tensor's scale given."""

    def __init__(self, t):
        self.unit = number(t)


class FourOverSix(Te):
    """Two scales are tried, and the sum of the errors decides."""

    def __init__(self, g, most, square):
        self.most, self.square = most, square
        super().__init__(g)

    def scale_of(self, amax, factor=None):
        base = times(over(number(amax), Fraction(6)), self.s)
        return nearest("e4m3", capped(base if factor is None else times(base, factor)))

    def value_of(self, code, sf):
        return over(times(times(VALUES["e2m1"][code], VALUES["e4m3"][sf]), self.g), Fraction(6 * self.most))

    def error(self, x, sf):
        total, encode = Fraction(0), self.encoder(sf)
        for b in x:
            # The code has the number's sign, so that the difference is one of magnitudes.
            back = self.value_of(nearest("e2m1", encode(number(b))), sf)
            difference = back if back == INFINITY else rn(abs(back - number(b)))
            total = plus(total, times(difference, difference) if self.square else difference)
        return total

    def choose(self, x, amax):
        six, four = self.scale_of(amax), self.scale_of(amax, Fraction(3, 2))
        error4, error6 = self.error(x, four), self.error(x, six)
        return four if error4 != INFINITY and (error6 == INFINITY or error4 < error6) else six


RECIPES = {
    "te": Te, "exact": Exact, "exact_scale": ExactScale,
    "over_absolute_256": lambda g: FourOverSix(g, 256, False), "over_absolute_448": lambda g: FourOverSix(g, 448, False),
    "over_square_256": lambda g: FourOverSix(g, 256, True), "over_square_448": lambda g: FourOverSix(g, 448, True),
}


def nv_block(recipe, x, random=None):
    sf = recipe.choose(x, max(b & 0x7FFFFFFF for b in x))
    encode = recipe.encoder(sf)
    codes, back = [], []
    for i, b in enumerate(x):
        y = encode(number(b))
        c = nearest("e2m1", y) if random is None else stochastic("e2m1", y, random(i))
        codes.append(c | sign_of("e2m1", b))
        back.append(bits_of(recipe.value_of(c, sf), b >> 31 != 0))
    return sf, codes, back


# --- random bits and the Hadamard transform -----------------------------------------------------------------------------


def philox(counter, key):
    """Philox4x32-10 (Salmon and others, SC '11)."""
    c, (k0, k1) = list(counter), key
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k0, b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k1, a & 0xFFFFFFFF]
        k0, k1 = k0 + 0x9E3779B9 & 0xFFFFFFFF, k1 + 0xBB67AE85 & 0xFFFFFFFF
    return c


def random_word(seed, stream, index):
    low = 0xFFFFFFFF
    return philox((index // 4 & low, index // 4 >> 32, stream & low, stream >> 32), (seed & low, seed >> 32))[index % 4]


def signed(bits):
    return -number(bits) if bits >> 31 else number(bits)


def add(a, b):
    """The sum of two floats, given as (negative, magnitude); +0 where they cancel, -0 only of two of them."""
    x = (-a[1] if a[0] else a[1]) + (-b[1] if b[0] else b[1])
    if x == 0:
        return a[0] and b[0], Fraction(0)
    return x < 0, rn(abs(x))


def negated(a):
    return not a[0], a[1]


def hadamard(x, signs):
    """x * diag(signs) * H / 4: the last of the four steps joins the results of the two halves."""
    def halves(v):
        if len(v) == 1:
            return v
        low, high = halves(v[:len(v) // 2]), halves(v[len(v) // 2:])
        return [add(a, b) for a, b in zip(low, high)] + [add(a, negated(b)) for a, b in zip(low, high)]

    v = [(bool(b >> 31) != bool(signs >> i & 1), number(b)) for i, b in enumerate(x)]
    return [(negative, rn(y / 4)) for negative, y in halves(v)]


def to_bf16(y):
    """A magnitude rounded to eight digits, ties to even."""
    if y == 0:
        return y
    last = max(floor_log2(y) - 7, -133)
    return half_even(y / Fraction(2) ** last) * Fraction(2) ** last


# --- the file -----------------------------------------------------------------------------------------------------------


def words(numbers):
    return b"".join(n.to_bytes(4, "little") for n in numbers)


def mx(file):
    special = ["7f800000", "ff800000", "7fc00000", "7f800000ffc00001", "7f7fffff7f800001", "00000001", "80000000"]
    for element in ELEMENTS:
        file.comment(element)
        for rule in RULES:
            amaxes = edges(element)
            file.add("scales", element, rule, Digest().add(bytes(scale(element, rule, a) for a in amaxes)))
            for name in ("f32", "bf16", "low"):
                d = Digest()
                for n in range(60):
                    k, codes = mx_block(element, rule, "block_nan", block(name, n))
                    d.add(bytes([k])).add(bytes(codes))
                file.add("blocks", element, rule, name, d)
            for policy in POLICIES:
                for first in special:
                    x = [int(first[i:i + 8], 16) for i in range(0, len(first), 8)]
                    x += [0x3F800000] * (32 - len(x)) if first[0] in "7f" else [0x00000000] * (32 - len(x))
                    k, codes = mx_block(element, rule, policy, x)
                    if rule in ("floor", "rceil"):
                        file.add("special", element, rule, policy, first, f"{k:02x}", bytes(codes[:3]).hex())


TENSORS = {"te": ("3f800000", "3f8c0000", "3f820000", "45280000", "3b124925", "00571cbf"), "over": ("3f820000", "40600000")}


def nvfp4(file):
    for name, make in RECIPES.items():
        file.comment(name)
        for g in TENSORS["over" if name[:4] == "over" else "te"]:
            recipe = make(int(g, 16))
            for which in ("grid", "fine", "low" if g == "00571cbf" else "f32"):
                d, back = Digest(), Digest()
                for n in range(100):
                    sf, codes, values = nv_block(recipe, block(which, n, 16))
                    d.add(bytes([sf])).add(bytes(codes))
                    back.add(words(values))
                    if n == 5 and which == "grid":
                        file.add("nvblock", name, g, which, n, f"{sf:02x}", bytes(codes).hex())
                file.add("nvblocks", name, g, which, d, back)


def rounding(file):
    file.comment("stochastic rounding: seed, stream, index of the first element")
    for seed, stream, first in ((0, 0, 0), (42, 7, 3), (0x123456789ABCDEF, 0xFEDCBA987654321, 0x3FFFFFFFFFFF)):
        for element, rule in (("e4m3", "rceil"), ("e5m2", "floor"), ("e3m2", "ceil"), ("e2m3", "even"), ("e2m1", "rceil_te")):
            d = Digest()
            for n in range(40):
                at = first + 32 * n
                k, codes = mx_block(element, rule, "block_nan", block("f32", n), lambda i: random_word(seed, stream, at + i))
                d.add(bytes([k])).add(bytes(codes))
            file.add("stochastic_mx", element, rule, seed, stream, first, d)
        for name in ("te", "exact", "exact_scale", "over_square_256"):
            d = Digest()
            recipe = RECIPES[name](0x3F820000)
            for n in range(40):
                at = first + 16 * n
                sf, codes, _ = nv_block(recipe, block("fine", n, 16), lambda i: random_word(seed, stream, at + i))
                d.add(bytes([sf])).add(bytes(codes))
            file.add("stochastic_nv", name, seed, stream, first, d)


def transform(file):
    file.comment("Hadamard: the floats, and rounded to bfloat16")
    for signs in (0xD7E8, 0, 0xFFFF, 0x8001):
        for name in ("grid", "fine", "low"):
            exact, narrow = Digest(), Digest()
            for n in range(100):
                y = hadamard(block(name, n, 16), signs)
                exact.add(words(bits_of(v, s) for s, v in y))
                narrow.add(words(bits_of(to_bf16(v), s) for s, v in y))
                if n == 3 and name == "fine":
                    file.add("hadamard_block", f"{signs:04x}", name, n, "".join(f"{bits_of(v, s):08x}" for s, v in y))
            file.add("hadamard", f"{signs:04x}", name, exact, narrow)


def main():
    file = File("""Every recipe in rational numbers, by tools/golden/exact.py. Inputs: tools/golden/vectors.py.
scales ELEMENT RULE BYTES FNV-1a: of all edges()
blocks ELEMENT RULE SET BYTES FNV-1a: 60 blocks; for each its scale and its codes
special ELEMENT RULE POLICY FLOATS SCALE CODES: the first three codes of a block that begins with FLOATS and goes on with 1, or
  with 0 where the floats are tiny
nvblocks RECIPE TENSOR SET BYTES FNV-1a BYTES FNV-1a: 100 blocks of 16, scale and codes; and the floats they mean
nvblock RECIPE TENSOR SET NUMBER SCALE CODES: one of them
stochastic_mx ELEMENT RULE SEED STREAM FIRST BYTES FNV-1a: 40 blocks of the set f32
stochastic_nv RECIPE SEED STREAM FIRST BYTES FNV-1a: 40 blocks of 16 of the set fine, tensor 3f820000
hadamard SIGNS SET BYTES FNV-1a BYTES FNV-1a: 100 blocks of 16: the floats, and rounded to bfloat16
hadamard_block SIGNS SET NUMBER FLOATS: one of them""")
    mx(file)
    nvfp4(file)
    rounding(file)
    transform(file)
    file.write(output("tests/golden/quantize/exact.txt"))


if __name__ == "__main__":
    main()
