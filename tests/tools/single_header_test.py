# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The one header that tools/release makes means what the tree of headers means.

  single_header_test.py --cxx COMPILER     a program prints the same bits with either
  single_header_test.py --nvcc COMPILER    a kernel becomes the same PTX with either
  --control                                also: a one header with words changed must be noticed
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent / "single_header"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"$ {' '.join(map(str, command))}\n{done.stdout}{done.stderr}"[:6000])
    return done.stdout


def bits(cxx, header, work):
    program = work / "program"
    run(cxx, "-std=c++20", *WARNINGS, *header, HERE / "results.cpp", "-o", program, "-pthread")
    return run(program)


def ptx(nvcc, header, work):
    out = work / "kernel.ptx"
    run(nvcc, "-std=c++20", "-arch=sm_90", "-Werror=all-warnings", "-ptx", *header, HERE / "kernel.cu", "-o", out)
    return out.read_text()


def with_faults(text):
    """Another bits version: another line of the program; another instruction: other PTX."""
    for old, new in (("int bits_version = 1", "int bits_version = 2"), ("add.rn.f32", "sub.rn.f32")):
        if old not in text:
            sys.exit(f"the control needs '{old}' in the one header")
        text = text.replace(old, new)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cxx")
    parser.add_argument("--nvcc")
    parser.add_argument("--control", action="store_true")
    args = parser.parse_args()
    results = (lambda *a: bits(args.cxx, *a)) if args.cxx else (lambda *a: ptx(args.nvcc, *a))
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        one = work / "isobit.hpp"
        run(sys.executable, REPOSITORY / "tools/release", "--single", one)
        tree = results([f"-I{REPOSITORY}/include"], work)
        header = [f'-DISOBIT_ONE="{one}"']
        single = results(header, work)
        changed = None
        if args.control:
            one.write_text(with_faults(one.read_text()))
            changed = results(header, work)
    if len(tree) < 100:
        sys.exit("there is nothing to compare")
    if tree != single:
        sys.exit(f"with the tree:\n{tree[:2000]}\nwith the one header:\n{single[:2000]}")
    if tree == changed:
        sys.exit("a changed one header was not noticed")
    print("the same from the one header and from the tree")


if __name__ == "__main__":
    main()
