#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every link between the Markdown pages of the repository leads to a file, and every anchor to a heading; every page of
docs/ can be reached from docs/index.md.

  check_links.py             check them
  check_links.py --control   a dead link, a dead anchor and a forgotten page must be refused
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INDEX = "docs/index.md"


def read_pages():
    found = {}
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md"),
                 *(ROOT / "bench").rglob("*.md")]:
        found[path.relative_to(ROOT).as_posix()] = path.read_text()
    return found


def without_code(text):
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", re.sub(r"^\s*```.*?^\s*```$", "", text, flags=re.S | re.M))


def anchors(text):
    seen, found = {}, set()
    for heading in re.findall(r"^#+ +(.*)$", re.sub(r"^\s*```.*?^\s*```$", "", text, flags=re.S | re.M), flags=re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = "".join(c for c in words if c.isalnum() or c in "-_ ").replace(" ", "-")
        found.add(name if name not in seen else f"{name}-{seen[name]}")
        seen[name] = seen.get(name, 0) + 1
    return found


def complaints(pages):
    found, leads, count = [], {}, 0
    for page, text in pages.items():
        for link in re.findall(r"\]\(([^()\s]+)\)", without_code(text)):
            if re.match(r"[a-z]+:", link):
                continue
            count += 1
            path, _, anchor = link.partition("#")
            goal = ((ROOT / page).parent / path).resolve() if path else ROOT / page
            name = goal.relative_to(ROOT).as_posix() if ROOT in goal.parents else None
            if name is None or not goal.exists():
                found.append(f"{page}: dead link: {link}")
                continue
            leads.setdefault(page, set()).add(name)
            if anchor and (name not in pages or anchor not in anchors(pages[name])):
                found.append(f"{page}: dead anchor: {link}")
    reached, new = set(), {INDEX}
    while new:
        reached |= new
        new = set().union(*(leads.get(page, set()) for page in new)) - reached
    found += [f"{page}: no way leads there from {INDEX}" for page in pages
              if page.startswith("docs/") and page not in reached and "/adr/" not in page]
    return found, count


def main():
    pages = read_pages()
    if "--control" in sys.argv:
        broken = dict(pages)
        broken["docs/faq.md"] += "\n[x](nowhere.md) [y](order.md#nowhere)\n"
        broken["docs/forgotten.md"] = "# Forgotten\n"
        new = set(complaints(broken)[0]) - set(complaints(pages)[0])
        print("\n".join(sorted(new)))
        print("control: refused" if len(new) == 3 else "control: NOT refused")
        return 0 if len(new) == 3 else 1
    found, count = complaints(pages)
    print("\n".join(found) or f"{count} links of {len(pages)} pages lead somewhere")
    return 1 if found or count < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
