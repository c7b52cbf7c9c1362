#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the programs beside this file with a sanitizer and checks that it is silent on right kernels, isobit's own
among them, and that it reports each wrong one.

usage: sanitize.py --tool thread|address --cxx g++ --include DIR --build DIR [--boost]
Exit code 77: the compiler or machine has no such sanitizer (skipped)."""
import argparse
import os
import subprocess
import sys
from pathlib import Path

CASES = {
    "thread": {
        "flags": ["-fsanitize=thread"],
        "wrong": {
            "missing_barrier": "data race",
            "missing_warp_barrier": "data race",
            "relaxed_ticket": "data race",
            "missing_fences": "data race",
            "unsynchronised_sum": "data race",
        },
    },
    "address": {
        "flags": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"],
        "wrong": {
            "shared_array": "out of bounds",
            "dynamic_array": "heap-buffer-overflow",
            "global_array": "heap-buffer-overflow",
            "dangling": "heap-use-after-free",
        },
    },
}


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", choices=CASES, required=True)
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--include", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--boost", action="store_true")
    a = parser.parse_args()
    cases = CASES[a.tool]
    build = Path(a.build)
    build.mkdir(parents=True, exist_ok=True)

    probe = build / "probe.cpp"
    probe.write_text("int main() {}\n")
    made = run([a.cxx, *cases["flags"], str(probe), "-o", str(build / "probe")])
    if made.returncode != 0 or run([str(build / "probe")]).returncode != 0:
        print(f"{a.cxx} cannot build or run {cases['flags'][0]} here: skipped")
        return 77

    def compiled(name):
        program = build / f"{name}_{a.tool}"
        command = [a.cxx, "-std=c++20", "-O1", "-g", *cases["flags"], "-I", a.include]
        command += [str(Path(__file__).parent / f"{name}.cpp"), "-o", str(program), "-pthread"]
        if a.boost:
            command += ["-DISOBIT_SIMT_BOOST_CONTEXT", "-lboost_context"]
        made = run(command)
        if made.returncode != 0:
            sys.exit(made.stdout)
        return str(program)

    kernels = compiled(a.tool)
    environment = dict(os.environ, TSAN_OPTIONS="exitcode=66", ASAN_OPTIONS="exitcode=66:detect_leaks=1")
    failures = 0
    for command in ([kernels, "right"], [compiled("library")]):
        r = run(command, env=environment, timeout=300)
        # AddressSanitizer says once that ucontext is not its favourite.
        said = [line for line in r.stdout.splitlines() if "doesn't fully support makecontext" not in line]
        if r.returncode != 0 or "".join(said) != "done":
            print(f"{command}: expected silence and exit code 0, got {r.returncode}:\n{r.stdout[:6000]}")
            failures += 1
    for case, words in cases["wrong"].items():
        r = run([kernels, case], env=environment, timeout=300)
        if r.returncode == 0 or words not in r.stdout:
            print(f"{case}: expected a report of \"{words}\", got exit code {r.returncode}:\n{r.stdout[:6000]}")
            failures += 1
    print(f"{a.tool}: {2 + len(cases['wrong']) - failures} cases as expected, {failures} not")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
