# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Looks at trace_compare's page in a real browser: headless chromium, 400 and 1400 pixels wide.

  check_page.py TRACE_COMPARE [--keep FOLDER]     --keep: leave the pages and pictures there

Exits with 77 where there is no chromium. For small, large and equal traces: nothing is wider than the page, texts and
colours of the findings are there, the file is small and asks nothing of other files. A page that is too wide, and one
without its colours, must be refused.
"""
import argparse
import html
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import make_traces

WIDTHS = (400, 1400)
RED, GREEN, ORANGE = (0xb3, 0x26, 0x1e), (0xb7, 0xdf, 0xc0), (0xf0, 0xa2, 0x3c)


def browser():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def chromium(work, *args):
    command = [browser(), "--headless=new", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions",
               "--force-device-scale-factor=1", f"--user-data-dir={work / 'profile'}", *args]
    if os.getuid() == 0:
        command.insert(1, "--no-sandbox")
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    if done.returncode:
        raise RuntimeError(f"chromium failed:\n{done.stderr[-2000:]}")
    return done.stdout


def framed(page, width):
    """A page that shows `page` in a frame of this width (a browser's window has a least width), and measures it."""
    return f"""<!DOCTYPE html><meta charset="utf-8"><body style="margin:0">
<iframe id="f" style="border:0;width:{width}px;height:1400px" srcdoc="{html.escape(page)}"></iframe>
<script>document.getElementById('f').onload = function () {{
  var d = this.contentDocument, e = d.documentElement, wide = [];
  d.querySelectorAll('*').forEach(function (x) {{
    var r = x.getBoundingClientRect();
    if (r.right > e.clientWidth + 0.5 || r.left < -0.5) wide.push(x.tagName + '.' + x.getAttribute('class'));
  }});
  document.body.setAttribute('data-measured', e.clientWidth + ' ' + e.scrollWidth + ' ' + wide.join(','));
  document.body.setAttribute('data-text', d.body.innerText.replace(/\\s+/g, ' '));
}};</script>"""


def pixels(path):
    """The picture's size and the set of its colours. Enough of PNG for what chromium writes."""
    data = path.read_bytes()
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert depth == 8 and kind in (2, 6), (depth, kind)
    channels, at, packed = 3 if kind == 2 else 4, 8, b""
    while at < len(data):
        (size,) = struct.unpack(">I", data[at:at + 4])
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += size + 12
    raw, stride, previous, colours = zlib.decompress(packed), width * channels, bytearray(width * channels), set()
    for y in range(height):
        start = y * (stride + 1)
        rule, line = raw[start], bytearray(raw[start + 1:start + 1 + stride])
        for x in range(stride):
            if rule == 0:
                break
            left = line[x - channels] if x >= channels else 0
            up = previous[x]
            corner = previous[x - channels] if x >= channels else 0
            if rule == 1:
                add = left
            elif rule == 2:
                add = up
            elif rule == 3:
                add = (left + up) // 2
            else:
                p = left + up - corner
                near = min((abs(p - left), 0, left), (abs(p - up), 1, up), (abs(p - corner), 2, corner))
                add = near[2]
            line[x] = (line[x] + add) & 255
        colours.update(zip(line[0::channels], line[1::channels], line[2::channels]))
        previous = line
    return (width, height), colours


def complaints(work, name, page, texts, wanted, widths=WIDTHS):
    found = []
    if len(page) > 600_000:
        found.append(f"{len(page)} bytes: the page is too large")
    if re.search(r"(src|href)\s*=|url\(|@import|<script", page):
        found.append("the page asks for something else")
    for width in widths:
        source = work / f"{name}_{width}.html"
        source.write_text(framed(page, width))
        window = f"--window-size={max(width, 500)},1400"
        dom = chromium(work, window, "--virtual-time-budget=4000", "--dump-dom", source.as_uri())
        measured = re.search(r'data-measured="(\d+) (\d+) ([^"]*)"', dom)
        if not measured:
            found.append(f"{width}: nothing was measured")
            continue
        inside, content, wide = int(measured[1]), int(measured[2]), measured[3]
        if inside > width or content > inside or wide:
            found.append(f"{width}: {content} pixels of content in {inside}: {wide[:200]}")
        text = html.unescape(re.search(r'data-text="([^"]*)"', dom)[1])
        found += [f"{width}: no '{t}'" for t in texts if t not in text]
        picture = work / f"{name}_{width}.png"
        chromium(work, window, f"--screenshot={picture}", source.as_uri())
        size, colours = pixels(picture)
        if size[0] != max(width, 500):
            found.append(f"{width}: a picture of {size}")
        found += [f"{width}: the colour {c} is nowhere" for c in wanted if c not in colours]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--keep", type=pathlib.Path)
    args = parser.parse_args()
    if browser() is None:
        print("no chromium is installed: the page was not looked at (tools/setup test installs it)")
        return 77
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        work = args.keep or pathlib.Path(folder)
        work.mkdir(parents=True, exist_ok=True)

        def page_of(name, events, ranks, change):
            a, b, out = work / f"{name}_a", work / f"{name}_b", work / f"{name}.html"
            make_traces.write(a, events, ranks)
            make_traces.write(b, events, ranks, change=change)
            done = subprocess.run([args.program, str(a), str(b), "--html", str(out)], capture_output=True, text=True)
            if done.returncode != (1 if change else 0):
                raise RuntimeError(f"{name}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
            return out.read_text()

        small = page_of("small", 320, 4, (2, 17))
        cases = [("small", small, ["Diverged", "rank 2", "origin", "Next: Other ranks ran", "outputs differ"], [RED, GREEN, ORANGE]),
                 ("large", page_of("large", 30000, 150, (149, 20)), ["Diverged", "147\u2013149", "Summarised"],
                  [RED, GREEN, ORANGE]),
                 ("equal", page_of("equal", 320, 4, None), ["Same", "no difference"], [GREEN])]
        for name, page, texts, wanted in cases:
            found = complaints(work, name, page, texts, wanted)
            failed |= bool(found)
            print(f"{name}: " + ("; ".join(found) or f"{len(page)} bytes, fits 400 and 1400 pixels"))
        # Controls.
        for name, page, word in [("wide", small.replace("<h2>", '<div style="width:1500px">x</div><h2>', 1), "pixels of content"),
                                 ("pale", small.replace("--k2: #b3261e", "--k2: #fff", 1), "is nowhere"),
                                 ("foreign", small.replace("<h2>", '<img src="x.png"><h2>', 1), "asks for")]:
            refused = any(word in f for f in complaints(work, name, page, [], [RED], WIDTHS[:1]))
            failed |= not refused
            print(f"control, {name}: " + ("refused" if refused else "NOT refused"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
