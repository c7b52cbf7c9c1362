#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds sanitized.cpp with a sanitizer: silent on the right kernels, a report on each wrong one.

usage: sanitized.py --tool thread|address --cxx g++ --include DIR --build DIR [--boost]
Exit code 77: no such sanitizer here (skipped)."""
import argparse
import os
import pathlib
import subprocess
import sys

WRONG = {
    "thread": {"missing_barrier": "data race", "weakened_ordering": "data race"},
    "address": {"padding_read": "heap-buffer-overflow"},
}


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=300, **options)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", choices=WRONG, required=True)
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--include", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--boost", action="store_true")
    a = parser.parse_args()
    build = pathlib.Path(a.build)
    build.mkdir(parents=True, exist_ok=True)
    flag = f"-fsanitize={a.tool}"

    probe = build / "probe.cpp"
    probe.write_text("int main() {}\n")
    made = run([a.cxx, flag, str(probe), "-o", str(build / "probe")])
    if made.returncode != 0 or run([str(build / "probe")]).returncode != 0:
        print(f"{a.cxx} cannot build or run {flag} here: skipped")
        return 77

    program = str(build / "sanitized")
    command = [a.cxx, "-std=c++20", "-O1", "-g", flag, "-I", a.include, str(pathlib.Path(__file__).with_suffix(".cpp")),
               "-o", program, "-pthread"]
    if a.boost:
        command += ["-DISOBIT_SIMT_BOOST_CONTEXT", "-lboost_context"]
    made = run(command)
    if made.returncode != 0:
        sys.exit(made.stdout)

    environment = dict(os.environ, TSAN_OPTIONS="exitcode=66", ASAN_OPTIONS="exitcode=66")
    failures = 0
    right = run([program, "right"], env=environment)
    said = [line for line in right.stdout.splitlines() if "doesn't fully support makecontext" not in line]
    if right.returncode != 0 or said != ["done"]:
        print(f"right: expected silence, got {right.returncode}:\n{right.stdout[:4000]}")
        failures += 1
    for case, words in WRONG[a.tool].items():
        r = run([program, case], env=environment)
        if r.returncode == 0 or words not in r.stdout:
            print(f"{case}: expected \"{words}\", got exit code {r.returncode}:\n{r.stdout[:4000]}")
            failures += 1
    print(f"{a.tool}: {1 + len(WRONG[a.tool]) - failures} cases as expected, {failures} not")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
