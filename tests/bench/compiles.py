# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every program of bench/ compiles without warnings (syntax and types only: their code would take minutes to make).

  compiles.py --cxx g++ [--control]      77: a header that they need is not here (skipped)
"""
import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def compile_text(cxx, text, folder):
    command = [cxx, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT / 'include'}",
               f"-I{folder}", "-x", "c++", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--control", action="store_true")
    args = parser.parse_args()
    bench = ROOT / "bench"
    if compile_text(args.cxx, "#include <benchmark/benchmark.h>\n", bench).returncode:
        print("no Google Benchmark here: skipped")
        return 77
    sources = sorted(bench.glob("*.cpp"))
    if args.control:
        done = compile_text(args.cxx, sources[0].read_text() + "\nint broken() { return no_such_name; }\n", bench)
        return 0 if "no_such_name" in done.stderr else 1
    failed = 0
    for source in sources:
        done = compile_text(args.cxx, source.read_text(), bench)
        if done.returncode:
            failed += 1
            print(f"{source.name}:\n{done.stderr[:4000]}")
    print(f"{len(sources)} programs of bench/, {failed} do not compile")
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
