#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the site by tools/docs, follows its links, and looks at its main pages in headless chromium, 400 and 1400
pixels wide.

  check_site.py DIR [--keep]     DIR is made anew and removed afterwards unless --keep

Exits with 77 where there is no Doxygen; where there is no chromium the pages are not looked at, and it says so.
Doxygen's warnings are errors. A page with a dead link, a page that is too wide, and a comment that Doxygen warns of
must be refused.
"""
import html
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTHS = (400, 1400)
MAIN_PAGES = ["index", "page-readme", "page-order-in-pictures", "page-order", "page-guarantees", "page-quick-reference",
              "page-recipes", "page-arithmetic", "page-migration", "page-faq", "page-vocabulary", "page-compatibility",
              "page-accumulators", "page-quantize", "page-segments", "page-packages", "files", "annotated"]
# Doxygen names these itself.
REFERENCE = ["algo_2reduce_8hpp", "structisobit_1_1tile", "namespaceisobit"]


def dead_links(site):
    found, ids, count = [], {}, 0
    pages = {page: page.read_text() for page in sorted(site.rglob("*.html"))}
    for page, text in pages.items():
        ids[page] = set(re.findall(r'\b(?:id|name)="([^"]*)"', text))
    for page, text in pages.items():
        for link in set(re.findall(r'\b(?:href|src)="([^"]*)"', text)):
            link = html.unescape(link)
            if re.match(r"(https?|mailto):", link):
                continue
            count += 1
            path, _, anchor = link.partition("#")
            goal = (page.parent / urllib.parse.unquote(path)).resolve() if path else page
            if not goal.is_file():
                found.append(f"{page.relative_to(site)}: dead link: {link}")
            elif anchor and goal in ids and anchor not in ids[goal]:
                found.append(f"{page.relative_to(site)}: dead anchor: {link}")
    return found, count


def left_over(text):
    """Markdown that stands in a page as it is."""
    text = re.sub(r"<pre.*?</pre>|<code>.*?</code>|<!-- fragment -->", "", text, flags=re.S)
    text = re.sub(r'<div class="line">.*?</div>', "", text, flags=re.S)
    return re.findall(r".{0,30}(?:\*\*|\]\(|```|[\ue000-\ue07f]).{0,30}", re.sub("<[^>]*>", "", text))


def browser():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def chromium(work, *args):
    command = [browser(), "--headless=new", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
               "--disable-extensions", "--force-device-scale-factor=1", "--allow-file-access-from-files",
               f"--user-data-dir={work / 'profile'}", *args]
    if os.getuid() == 0:
        command.insert(1, "--no-sandbox")
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    if done.returncode:
        raise RuntimeError(f"chromium failed:\n{done.stderr[-2000:]}")
    return done.stdout


# Measures every frame: what sticks out of the page (but not out of a box that scrolls), and the smallest text.
MEASURE = """
function measure(frame) {
  var d = frame.contentDocument, e = d.documentElement, wide = [], small = 99;
  d.querySelectorAll('body *').forEach(function (x) {
    var r = x.getBoundingClientRect(), p = x.parentElement;
    if (r.width > 0 && (r.right > e.clientWidth + 0.5 || r.left < -0.5)) {
      while (p && !/auto|scroll|hidden/.test(frame.contentWindow.getComputedStyle(p).overflowX)) p = p.parentElement;
      if (!p) wide.push(x.tagName + '.' + x.className);
    }
    if (/^(P|LI|TD|CODE|A)$/.test(x.tagName) && x.innerText && r.width > 0)
      small = Math.min(small, parseFloat(frame.contentWindow.getComputedStyle(x).fontSize));
  });
  var sizes = [e.clientWidth, e.scrollWidth, small, wide.slice(0, 4).join(',')];
  frame.setAttribute('data-measured', sizes.join(' '));
}
"""


def looked_at(work, pages):
    """Complaints about the pages, all of them in one start of chromium."""
    frames = "".join(f'<iframe data-page="{page.stem}" data-width="{width}" onload="measure(this)" '
                     f'src="{page.as_uri()}" style="border:0;width:{width}px;height:900px"></iframe>\n'
                     for page in pages for width in WIDTHS)
    source = work / "frames.html"
    source.write_text(f'<!DOCTYPE html><meta charset="utf-8"><script>{MEASURE}</script><body style="margin:0">{frames}')
    dom = chromium(work, "--window-size=1500,1000", "--virtual-time-budget=20000", "--dump-dom", source.as_uri())
    found, count = [], 0
    for frame in re.findall(r"<iframe[^>]*>", dom):
        page, width = re.search(r'data-page="([^"]*)" data-width="(\d+)"', frame).groups()
        measured = re.search(r'data-measured="(\d+) (\d+) ([\d.]+) ([^"]*)"', frame)
        count += 1
        if not measured:
            found.append(f"{page}, {width} pixels: nothing was measured")
        elif int(measured[1]) != int(width) or int(measured[2]) > int(measured[1]) or measured[4]:
            found.append(f"{page}: {measured[2]} pixels of content in {measured[1]}: {measured[4]}")
        elif not 12 <= float(measured[3]) < 99:
            found.append(f"{page}: text of {measured[3]} pixels")
    if count != len(pages) * len(WIDTHS):
        found.append(f"{count} of {len(pages) * len(WIDTHS)} frames")
    return found


def picture(work, page, width):
    """A screenshot of a page in a frame of this width; its size in bytes."""
    source, target = work / "frame.html", work / f"{page.stem}_{width}.png"
    source.write_text(f'<!DOCTYPE html><body style="margin:0"><iframe style="border:0;width:{width}px;height:1000px" '
                      f'src="{page.as_uri()}"></iframe>')
    chromium(work, f"--window-size={max(width, 500)},1000", f"--screenshot={target}", source.as_uri())
    return target.stat().st_size


def warned_of(work):
    """Whether tools/docs fails for a header whose comment Doxygen warns of."""
    header = work / "wrong.hpp"
    header.write_text("//! \\file\n//! See \\ref nowhere_at_all.\n")
    settings = (ROOT / "docs/site/Doxyfile").read_text() + f"\nINPUT = {header}\nOUTPUT_DIRECTORY = {work / 'wrong'}\n"
    return subprocess.run(["doxygen", "-"], input=settings, cwd=ROOT, capture_output=True, text=True).returncode != 0


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    done = subprocess.run([ROOT / "tools/docs", "--no-setup", "--out", site])
    if done.returncode:
        return done.returncode
    found, count = dead_links(site)
    print("\n".join(found[:20]) or f"{count} links of the site lead somewhere")
    left = [f"{page.name}: {line}" for page in sorted(site.glob("page-*.html")) for line in left_over(page.read_text())]
    print("\n".join(left[:20]) or "no page shows its Markdown")
    failed = bool(found) or bool(left) or count < 1000
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        # Controls.
        page = site / "index.html"
        text = page.read_text()
        links = '<a href="nowhere.html">x</a> <a href="page-order.html#nowhere">y</a>'
        (site / "control.html").write_text(text.replace("<main>", "<main>" + links, 1))
        dead = [line for line in dead_links(site)[0] if line.startswith("control.html")]
        controls = [("dead links", len(dead) == 2), ("a warning", warned_of(work)),
                    ("Markdown", len(left_over(text.replace("<main>", "<main> **x** [y](z)", 1))) > 0)]
        if browser() is None:
            print("no chromium is installed: the pages were not looked at (tools/setup docs installs it)")
        else:
            pages = [site / f"{name}.html" for name in MAIN_PAGES + REFERENCE]
            wrong = looked_at(work, pages)
            print("\n".join(wrong) or f"{len(pages)} pages fit {' and '.join(map(str, WIDTHS))} pixels")
            for name, width in ("index", 400), ("page-order-in-pictures", 1400):
                size = picture(site if "--keep" in sys.argv else work, site / f"{name}.html", width)
                if size < 15000:
                    wrong.append(f"{name}: a picture of {size} bytes")
                    print(wrong[-1])
            failed |= bool(wrong)
            (site / "control.html").write_text(text.replace("<main>", '<main><div style="width:1500px">x</div>', 1))
            controls.append(("too wide", len(looked_at(work, [site / "control.html"])) == 2))
        for name, refused in controls:
            failed |= not refused
            print(f"control, {name}: {'refused' if refused else 'NOT refused'}")
    (site / "control.html").unlink()
    if "--keep" not in sys.argv:
        shutil.rmtree(site)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
