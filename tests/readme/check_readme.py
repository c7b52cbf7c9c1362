#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""README's kernel is examples/row_norms/row_norms.cuh, line for line; its links and commands exist.

  check_readme.py             check README.md
  check_readme.py --control   a README with one changed line and one dead link must be refused
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def complaints(readme):
    found = []
    kernel = (ROOT / "examples/row_norms/row_norms.cuh").read_text()
    kernel = kernel[kernel.index("#include <isobit/reduce.hpp>"):].strip()
    blocks = re.findall(r"```cpp\n(.*?)```", readme, flags=re.S)
    if not blocks or blocks[0].strip() != kernel:
        found.append("the first code block is not examples/row_norms/row_norms.cuh")
    test = (ROOT / "examples/row_norms/test_row_norms.cpp").read_text()
    for include in re.findall(r"#include \S+", "\n".join(blocks)):
        if include not in kernel + test:
            found.append(f"{include} is in README but not in the example")
    links = re.findall(r"\]\(([^)#]+)\)", re.sub(r"```.*?```", "", readme, flags=re.S))
    for link in links:
        if "://" not in link and not (ROOT / link).exists():
            found.append(f"dead link: {link}")
    commands = re.findall(r"\btools/\w+", readme)
    for command in commands:
        if not (ROOT / command).exists():
            found.append(f"no such command: {command}")
    if len(links) < 5 or len(commands) < 2:
        found.append("nothing to check")
    return found


def main():
    readme = (ROOT / "README.md").read_text()
    if "--control" in sys.argv:
        broken = readme.replace("isobit::mul(row[i], row[i])", "row[i] * row[i]", 1).replace("(docs/order.md)", "(docs/ordre.md)")
        good = len(complaints(broken)) == 2
        print("control: refused" if good else "control: NOT refused")
        return 0 if good else 1
    found = complaints(readme)
    for line in found:
        print(f"README.md: {line}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
