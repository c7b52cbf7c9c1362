#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the pictures of docs/order_in_pictures.md: docs/order_tree.svg, order_fragment.svg, order_prefix.svg.

  draw_order.py            writes them
  draw_order.py --check    says whether they are what this script draws
"""
import pathlib
import sys

DOCS = pathlib.Path(__file__).resolve().parents[1]
CELL, ROW, EDGE = 52, 54, 30
COLOURS = ["#1f6fb4", "#b4561f", "#2c7d4f", "#7b4fa3"]


class Picture:
    def __init__(self, cells, rows, title):
        self.width, self.height = 2 * EDGE + cells * CELL, 2 * EDGE + rows * ROW
        self.lines = []  # below everything else
        size = f'width="{self.width}" height="{self.height}"'
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" {size} '
                      'font-family="DejaVu Sans, sans-serif" font-size="14">',
                      f"<title>{title}</title>", f'<rect {size} fill="#fff"/>']

    def x(self, index):
        return EDGE + (index + 0.5) * CELL

    def y(self, row):
        return EDGE + (row + 0.5) * ROW

    def line(self, a, b, colour="#8a949e", width=1.5):
        self.lines.append(f'<line x1="{a[0]:g}" y1="{a[1]:g}" x2="{b[0]:g}" y2="{b[1]:g}" stroke="{colour}" '
                          f'stroke-width="{width}"/>')

    def element(self, index, row, name, colour="#eef1f4", ink="#1b1f24"):
        x, y = self.x(index), self.y(row)
        self.box(x - 18, y, 36, f'fill="{colour}" stroke="#8a949e"')
        self.text(x, y + 5, name, ink)

    def node(self, at, colour="#1f6fb4", name="+"):
        self.parts.append(f'<circle cx="{at[0]:g}" cy="{at[1]:g}" r="13" fill="{colour}"/>')
        self.text(at[0], at[1] + 5, name, "#fff")

    def text(self, x, y, words, ink="#1b1f24", anchor="middle"):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" fill="{ink}" text-anchor="{anchor}">{words}</text>')

    def bar(self, first, last, row, look, words):
        self.box(EDGE + first * CELL + 4, self.y(row), (last - first) * CELL - 8, look)
        if words:
            self.text(EDGE + (first + last) / 2 * CELL, self.y(row) + 5, words, "#fff")

    def box(self, x, y, width, look):
        self.parts.append(f'<rect x="{x:g}" y="{y - 15:g}" width="{width:g}" height="30" rx="4" {look}/>')

    def done(self):
        return "\n".join(self.parts[:3] + self.lines + self.parts[3:] + ["</svg>"]) + "\n"


def subtree(p, first, last, bottom, colour="#1f6fb4"):
    """Draws the tree over [first, last), its elements in row `bottom`; returns where its root is, and its level."""
    if last - first == 1:
        return (p.x(first), p.y(bottom) - 15), 0
    size = 1
    while size * 2 < last - first:
        size *= 2
    left, right = subtree(p, first, first + size, bottom, colour), subtree(p, first + size, last, bottom, colour)
    level = size.bit_length()
    at = ((left[0][0] + right[0][0]) / 2, p.y(bottom - level))
    for child in left, right:
        p.line(at, child[0])
    p.node(at, colour)
    return at, level


def tree():
    p = Picture(7, 4, "The tree over 7 elements: ((0 1)(2 3))((4 5) 6)")
    subtree(p, 0, 7, 3)
    for i in range(7):
        p.element(i, 3, f"x{i}")
    return p.done()


def fragment():
    p = Picture(16, 5, "The range from 3 to 13 as aligned nodes: 3, 4 to 7, 8 to 11, 12")
    for level in range(4):
        for k in range(16 >> level):
            first, last = k << level, (k + 1) << level
            inside = first >= 3 and last <= 13
            whole_parent = (k >> 1 << (level + 1)) >= 3 and ((k >> 1) + 1) << (level + 1) <= 13
            maximal = inside and not whole_parent
            look = 'fill="#eef1f4"' if inside else 'fill="none" stroke="#c4ccd4"'
            if maximal:
                look = f'fill="{COLOURS[level]}"'
            words = "" if not maximal else f"{first}" if level == 0 else f"{first} to {last - 1}"
            p.bar(first, last, 3 - level, look, words)
    for i in range(16):
        p.text(p.x(i), p.y(4) - 8, str(i))
    left, right = EDGE + 3 * CELL, EDGE + 13 * CELL
    p.line((left, p.y(4) + 6), (right, p.y(4) + 6), "#1b1f24", 2)
    p.text((left + right) / 2, p.y(4) + 26, "the range [3, 13)")
    return p.done()


def prefix():
    p = Picture(7, 5, "The prefix of 7 elements: 4 to the left, then 2, then 1")
    for first, last, colour in (0, 4, COLOURS[0]), (4, 6, COLOURS[1]):
        subtree(p, first, last, 4, colour)
    for i in range(7):
        p.element(i, 4, f"x{i}")
    four, two, one = (p.x(1.5), p.y(2)), (p.x(4.5), p.y(3)), (p.x(6), p.y(4) - 15)
    rest, whole = (p.x(5.5), p.y(2)), (p.x(3.5), p.y(1))
    for at, left, right in (rest, two, one), (whole, four, rest):
        p.line(at, left, COLOURS[2], 2)
        p.line(at, right, COLOURS[2], 2)
    p.node(four, COLOURS[0])
    p.node(two, COLOURS[1])
    p.node(rest, COLOURS[2])
    p.node(whole, COLOURS[2])
    p.text(p.x(3.5), p.y(0) + 8, "out[6] = c1 + (c2 + c3)")
    p.text(four[0] - 22, four[1] - 8, "c1", COLOURS[0])
    p.text(two[0] - 22, two[1] - 6, "c2", COLOURS[1])
    p.text(one[0] + 24, one[1] - 2, "c3")
    return p.done()


def main():
    wrong = 0
    for name, draw in ("order_tree", tree), ("order_fragment", fragment), ("order_prefix", prefix):
        path = DOCS / f"{name}.svg"
        if "--check" in sys.argv:
            same = path.exists() and path.read_text() == draw()
            wrong += not same
            print(f"docs/{path.name}: {'as drawn' if same else 'differs'}")
        else:
            path.write_text(draw())
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
