# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws what bench/run measured, as SVG text; no library needed."""
import math

SERIES = [("GBps_read", "read only", "#b0b0b0"), ("GBps_isobit", "isobit", "#1f6fb2"),
          ("GBps_compensated", "isobit, compensated", "#7fb6e0"), ("GBps_std_reduce", "std::reduce", "#d98032"),
          ("GBps_accumulate", "std::accumulate", "#f0c9a0")]
BAR, GAP, LEFT, PLOT, LINE = 9, 14, 150, 470, 18


def text(x, y, s, anchor="start", size=11, weight="normal"):
    s = s.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}">{s}</text>'


def speeds(rows, title, places):
    """Bars for each row: a dict with `type`, `bytes` and the counters of bench/reduce.cpp. Logarithmic axis."""
    low, high = 2.0, 256.0

    def x(v):
        return LEFT + PLOT * math.log(min(max(v, low), high) / low) / math.log(high / low)

    group = BAR * len(SERIES) + GAP
    top = 30 + LINE * 2
    height, width = top + group * len(rows) + 30, LEFT + PLOT + 60
    parts = [text(10, 20, title, size=14, weight="bold")]
    at = 10
    for _, name, color in SERIES:
        parts.append(f'<rect x="{at}" y="34" width="11" height="11" fill="{color}"/>')
        parts.append(text(at + 16, 44, name))
        at += 32 + 6.4 * len(name)
    v = low
    while v <= high:
        parts.append(f'<line x1="{x(v):.1f}" y1="{top - 8}" x2="{x(v):.1f}" y2="{height - 26}" stroke="#dddddd"/>')
        parts.append(text(x(v), height - 12, f"{v:g}", "middle"))
        v *= 2
    for i, r in enumerate(rows):
        y = top + i * group
        parts.append(text(LEFT - 8, y + 2.5 * BAR + 4, f"{r['type']}, {places[r['bytes']]}", "end"))
        for k, (key, _, color) in enumerate(SERIES):
            parts.append(f'<rect x="{LEFT}" y="{y + k * BAR}" width="{x(r[key]) - LEFT:.1f}" height="{BAR - 1}" '
                         f'fill="{color}"/>')
            parts.append(text(x(r[key]) + 3, y + (k + 1) * BAR - 1.5, f"{r[key]:.1f}", size=8))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n")
