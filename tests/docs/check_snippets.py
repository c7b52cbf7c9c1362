#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every block of C++ in the pages named here stands, line for line, in code that the tests compile.

  check_snippets.py             check the pages
  check_snippets.py --control   a page with one changed line must be refused
  check_snippets.py --list      which pages have blocks that are not looked at here

Indentation and empty lines do not count. A block may leave out what stands between two of its lines only where it says
`// ...`.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = {
    "docs/migration.md": ["tests/docs/migration_kernels.cuh", "tests/docs/migration.test.cpp", "tests/docs/migration.cu",
                          "tests/docs/migration_mpi.cpp"],
}


def lines_of(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def blocks_of(text):
    return [lines_of(block) for block in re.findall(r"^```cpp\n(.*?)^```", text, flags=re.S | re.M)]


def stands_in(part, source):
    return any(source[at:at + len(part)] == part for at in range(len(source) - len(part) + 1))


def complaints(page, text, sources):
    found, blocks = [], blocks_of(text)
    if not blocks:
        found.append(f"{page}: there is no block of C++")
    for block in blocks:
        parts = [part for part in re.split(r"^// \.\.\.$", "\n".join(block), flags=re.M)]
        for part in (lines_of(part) for part in parts):
            if part and not any(stands_in(part, source) for source in sources):
                found.append(f"{page}: not compiled anywhere: {part[0]}")
    return found


def sources_of(names):
    return [lines_of((ROOT / name).read_text()) for name in names]


def main():
    if "--list" in sys.argv:
        for path in sorted((ROOT / "docs").rglob("*.md")):
            page = path.relative_to(ROOT).as_posix()
            count = len(blocks_of(path.read_text()))
            if count and page not in PAGES:
                print(f"{page}: {count} blocks")
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
