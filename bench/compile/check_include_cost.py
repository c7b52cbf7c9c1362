# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a header costs whoever includes it: the preprocessed lines that it adds to an empty translation unit.

  check_include_cost.py --kind gxx|nvcc [--command PATH] [--budget FILE] [--control] [--measure]

Lines are counted after preprocessing, without blank lines and line markers; the count does not depend on the machine's
speed. Each line of budget.tsv names a header and the most lines that it may add under nvcc and under g++ (`-`: not
limited). Every header directly in include/isobit must have a line. `--measure` prints the counts of all headers.
"""
import argparse
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"


def lines(kind, command, text):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "unit.cu" if kind == "nvcc" else "unit.cpp")
        source.write_text(text)
        arch = ["-arch=sm_90"] if kind == "nvcc" else []
        done = subprocess.run([command, "-std=c++20", *arch, "-I", str(INCLUDE), "-E", str(source)],
                              capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[:2000])
    return sum(1 for line in done.stdout.splitlines() if line.strip() and not line.startswith("#"))


def costs(kind, command, names):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        empty, *counts = pool.map(lambda text: lines(kind, command, text),
                                  ["", *(f"#include <{name}>\n" for name in names)])
    return {name: count - empty for name, count in zip(names, counts)}


def read_budget(path, kind):
    """{header: the most lines that it may add}"""
    budget = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            header, nvcc, gxx = line.split("\t")
            most = nvcc if kind == "nvcc" else gxx
            budget[header] = None if most == "-" else int(most)
    return budget


def problems(kind, command, budget):
    limited = {h: most for h, most in budget.items() if most is not None and (kind == "nvcc" or h.endswith(".hpp"))}
    found = costs(kind, command, list(limited))
    return [f"{h} adds {found[h]} lines under {kind}, its budget is {most}" for h, most in limited.items()
            if found[h] > most]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", required=True, choices=["gxx", "nvcc"])
    parser.add_argument("--command")
    parser.add_argument("--budget", type=pathlib.Path, default=HERE / "budget.tsv")
    parser.add_argument("--control", action="store_true")
    parser.add_argument("--measure", action="store_true")
    args = parser.parse_args()
    command = args.command or {"gxx": "g++", "nvcc": "nvcc"}[args.kind]

    if args.measure:
        names = sorted("isobit/" + str(p.relative_to(INCLUDE / "isobit")) for p in (INCLUDE / "isobit").rglob("*")
                       if p.suffix == ".hpp" or (p.suffix == ".cuh" and args.kind == "nvcc"))
        for name, count in costs(args.kind, command, names).items():
            print(f"{count:7}  {name}")
        return 0
    if args.control:  # a header that costs more than its budget must be reported, one within it must not
        tight = problems(args.kind, command, {"isobit/config.hpp": 1})
        ample = problems(args.kind, command, {"isobit/config.hpp": 100000})
        ok = len(tight) == 1 and not ample
        print("control: " + ("a header over its budget was reported" if ok else "WRONG VERDICTS"))
        return 0 if ok else 1

    budget = read_budget(args.budget, args.kind)
    wrong = problems(args.kind, command, budget)
    jobs = {"isobit/" + p.name for p in (INCLUDE / "isobit").iterdir() if p.suffix in (".hpp", ".cuh")}
    wrong += [f"{h} has no line in {args.budget.name}" for h in sorted(jobs - set(budget))]
    for what in wrong:
        print(what)
    print(f"{args.kind}: {len(budget)} headers in the budget, {len(wrong)} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
