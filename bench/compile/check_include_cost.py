# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a header costs whoever includes it.

  check_include_cost.py --kind gxx|nvcc|clang [--command PATH] [--budget FILE] [--control]
  check_include_cost.py --measure [--kind KIND [--command PATH]] [--markdown] [HEADER ...]

gxx, nvcc: preprocessed lines, over an empty translation unit, without blank lines and line markers. clang: the classes
and functions that a translation unit instantiates from templates if it includes the header and nothing else, the
standard library's among them: the events InstantiateClass and InstantiateFunction of -ftime-trace. Neither count
depends on the machine's speed; both depend a little on the standard library's version.

Each line of budget.tsv names a header and the most that it may cost in each count (`-`: not limited). Every header
directly in include/isobit must have a line. `--measure` prints the counts of all headers, or of those named, by the
compilers that are here; `-` stands where a header is not for that compiler or needs another library's that is not here.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
COMMANDS = {"nvcc": "nvcc", "gxx": "g++", "clang": "clang++"}
UNITS = {"nvcc": "lines under nvcc", "gxx": "lines under g++", "clang": "instantiations"}
MISSING = re.compile(r"fatal error: '?(?!isobit/)([\w./]+)'?:? (No such file|file not found)", re.I)


def lines(command, text, suffix, options):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "unit" + suffix)
        source.write_text(text)
        done = subprocess.run([command, "-std=c++20", *options, "-I", str(INCLUDE), "-E", str(source)],
                              capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return sum(1 for line in done.stdout.splitlines() if line.strip() and not line.startswith("#"))


def instantiations(command, text):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "unit.cpp")
        source.write_text(text)
        done = subprocess.run([command, "-std=c++20", "-I", str(INCLUDE), "-ftime-trace", "-ftime-trace-granularity=0",
                               "-c", str(source), "-o", str(source.with_suffix(".o"))], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        events = json.loads(source.with_suffix(".json").read_text())["traceEvents"]
    return sum(1 for event in events if event["name"] in ("InstantiateClass", "InstantiateFunction"))


def cost(kind, command, text):
    """None: the text needs a header of another library that is not here."""
    try:
        if kind == "clang":
            return instantiations(command, text)
        return lines(command, text, *((".cu", ["-arch=sm_90"]) if kind == "nvcc" else (".cpp", [])))
    except RuntimeError as error:
        if MISSING.search(str(error)):
            return None
        raise SystemExit(f"{text}does not compile:\n{str(error)[:2000]}")


def costs(kind, command, names):
    """{header: its cost}, of the headers that this compiler reads"""
    names = [name for name in names if kind == "nvcc" or name.endswith(".hpp")]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        empty, *counts = pool.map(lambda text: cost(kind, command, text),
                                  ["", *(f"#include <{name}>\n" for name in names)])
    return {name: None if count is None else count - empty for name, count in zip(names, counts)}


def read_budget(path, kind):
    """{header: the most that it may cost}"""
    budget = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            header, nvcc, gxx, clang = line.split("\t")
            most = {"nvcc": nvcc, "gxx": gxx, "clang": clang}[kind]
            budget[header] = None if most == "-" else int(most)
    return budget


def problems(kind, command, budget):
    limited = {h: most for h, most in budget.items() if most is not None}
    found = costs(kind, command, list(limited))
    return [f"{h} adds {found[h]} {UNITS[kind]}, its budget is {limited[h]}" if found[h] is not None else
            f"{h} has a budget, but needs a header that is not here" for h in found
            if found[h] is None or found[h] > limited[h]]


def control(kind, command):
    """A header over its budget must be reported, one within it must not; an unused template costs no instantiation."""
    header = "isobit/reduce.hpp"
    ok = len(problems(kind, command, {header: 1})) == 1 and not problems(kind, command, {header: 100000})
    if kind == "clang":
        template = "template <class T> struct one { T x; };\n"
        ok = ok and [instantiations(command, template + use) for use in ("", "one<int> x;\none<long> y;\n")] == [0, 2]
    print("control: " + ("a header over its budget was reported" if ok else "WRONG VERDICTS"))
    return 0 if ok else 1


def measure(commands, names, markdown):
    table = {kind: costs(kind, command, names) for kind, command in commands.items()}
    cells = lambda name: ["-" if table[kind].get(name) is None else str(table[kind][name]) for kind in table]
    if markdown:
        print("| header | " + " | ".join(UNITS[kind] for kind in table) + " |\n|---|" + "---:|" * len(table))
        for name in names:
            print(f"| `{name.removeprefix('isobit/')}` | " + " | ".join(cells(name)) + " |")
    else:
        print("".join(f"{UNITS[kind]:>18}" for kind in table))
        for name in names:
            print("".join(f"{cell:>18}" for cell in cells(name)) + "  " + name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=list(COMMANDS))
    parser.add_argument("--command")
    parser.add_argument("--budget", type=pathlib.Path, default=HERE / "budget.tsv")
    parser.add_argument("--control", action="store_true")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--markdown", action="store_true", help="of --measure: a table for docs/")
    parser.add_argument("headers", nargs="*", help="of --measure: isobit/reduce.hpp ...; default: all")
    args = parser.parse_args()

    if args.measure:
        kinds = [args.kind] if args.kind else [kind for kind in COMMANDS if shutil.which(COMMANDS[kind])]
        names = args.headers or sorted((p.relative_to(INCLUDE).as_posix() for p in (INCLUDE / "isobit").rglob("*")
                                        if p.suffix == ".hpp" or (p.suffix == ".cuh" and "nvcc" in kinds)),
                                       key=lambda name: (name.count("/"), name))  # the jobs first
        measure({kind: args.command or COMMANDS[kind] for kind in kinds}, names, args.markdown)
        return 0
    if not args.kind:
        parser.error("--kind is needed, or --measure")
    command = args.command or COMMANDS[args.kind]
    if args.control:
        return control(args.kind, command)

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
