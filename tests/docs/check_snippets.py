#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every block of C++ in the pages named here stands, line for line, in code that the tests compile.

  check_snippets.py             check the pages
  check_snippets.py --control   a page with one changed line must be refused
  check_snippets.py --list      which pages have blocks that are not looked at here

Indentation does not count. The paragraphs of a block (between empty lines) may stand in different places, as may
#include lines. Lines with `(...)` in place of arguments are left out.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = {
    "docs/migration.md": ["tests/docs/migration_kernels.cuh", "tests/docs/migration.test.cpp",
                          "tests/docs/migration.cu", "tests/docs/migration_mpi.cpp"],
    **{f"docs/{page}.md": ["tests/docs/pages.test.cpp", "tests/docs/migration.cu"]
       for page in ("accumulators", "arithmetic", "fingerprint", "order_in_pictures", "quantize", "ranks", "scan",
                    "segments")},
    "docs/interop.md": ["tests/docs/pages.test.cpp", "tests/docs/interop.cu", "tests/docs/migration_mpi.cpp",
                        "examples/torch_extension/extension.cpp", "examples/nccl_sum/nccl_sum.cu"],
    **{f"docs/{page}.md": ["tests/docs/simulator_page.test.cpp"] for page in ("simulator", "traces")},
}
# Blocks with this in them are not compiled.
NOT_COMPILED = {"docs/traces.md": "<<<"}
# Calls side by side that use one name for arrays of several types.
BY_LINE = {"docs/segments.md"}


def lines_of(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def blocks_of(text):
    return re.findall(r"^ *```cpp\n(.*?)^ *```", text, flags=re.S | re.M)


def parts_of(block):
    """Runs of lines that must stand together."""
    parts = [[]]
    for line in (line.strip() for line in block.splitlines()):
        if line.startswith("#include"):
            parts += [[line], []]
        elif not line or "(...)" in line:
            parts.append([])
        else:
            parts[-1].append(line)
    return [part for part in parts if part]


def by_line(parts):
    return [[line] for part in parts for line in part]


def stands_in(part, source):
    return any(source[at:at + len(part)] == part for at in range(len(source) - len(part) + 1))


def complaints(page, text, sources):
    blocks = blocks_of(text)
    found = [] if blocks else [f"{page}: there is no block of C++"]
    for block in blocks:
        if page in NOT_COMPILED and NOT_COMPILED[page] in block:
            continue
        parts = by_line(parts_of(block)) if page in BY_LINE else parts_of(block)
        found += [f"{page}: not compiled anywhere: {part[0]}" for part in parts
                  if not any(stands_in(part, source) for source in sources)]
    return found


def sources_of(names):
    return [lines_of((ROOT / name).read_text()) for name in names]


def main():
    if "--list" in sys.argv:
        for path in sorted((ROOT / "docs").rglob("*.md")):
            page = path.relative_to(ROOT).as_posix()
            blocks = blocks_of(path.read_text())
            if page in PAGES:
                blocks = [block for block in blocks if page in NOT_COMPILED and NOT_COMPILED[page] in block]
            if blocks:
                print(f"{page}: {len(blocks)} blocks")
        return 0
    if "--control" in sys.argv:
        page = next(iter(PAGES))
        text = (ROOT / page).read_text()
        broken = text.replace("isobit::compensated<float>{}", "isobit::compensated<double>{}", 1)
        refused = broken != text and len(complaints(page, broken, sources_of(PAGES[page]))) == 1
        print("control: refused" if refused else "control: NOT refused")
        return 0 if refused else 1
    found, count = [], 0
    for page, names in PAGES.items():
        text = (ROOT / page).read_text()
        count += len(blocks_of(text))
        found += complaints(page, text, sources_of(names))
    print("\n".join(found) or f"{count} blocks of {len(PAGES)} pages are compiled code")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
