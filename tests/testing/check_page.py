#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Follows docs/testing.md word for word. The files of tests/package/gates must be the page's, below their licence line;
they are built by the page's commands against an installed isobit. Controls: a changed word, a missing and a spare file
are noticed; with a kernel that adds in order of arrival, the same commands must fail. With --nvcc, the .cu file is
compiled too.

usage: check_page.py [--nvcc PATH]"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "testing.md"
PROJECT = REPOSITORY / "tests" / "package" / "gates"
LICENCE = re.compile(r"(//|#) SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n")
FILE = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```\n", re.S)
COMMANDS = re.compile(r"<!-- commands -->\n```sh\n(.*?)```\n", re.S)
# What the control puts in place of the reduction.
RIGHT = "  float const squares = isobit::reduce(block, columns, [=](int c) { return isobit::mul(row[c], row[c]); });\n"
WRONG = """  __shared__ float total;
  if (block.thread_rank() == 0) total = 0;
  block.sync();
  for (int c = threadIdx.x; c < columns; c += blockDim.x) atomicAdd(&total, isobit::mul(row[c], row[c]));
  block.sync();
  float const squares = total;
"""


def run(*command, **options):
    return subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)


def must(done):
    if done.returncode:
        sys.exit(f"$ {done.args}\n{done.stdout[-6000:]}")
    return done.stdout


def project():
    """The example project's files, and what each holds below its licence line."""
    files = {}
    for path in PROJECT.iterdir():
        licence = LICENCE.match(path.read_text())
        if not licence:
            sys.exit(f"{path.relative_to(REPOSITORY)}: the first line is not the SPDX line")
        files[path.name] = path.read_text()[licence.end():]
    return files


def differing(page, files):
    return sorted(name for name in page.keys() | files.keys() if page.get(name) != files.get(name))


def check_project(page):
    files = project()
    changed = {**page, "gates.cpp": page["gates.cpp"].replace("rows = 5", "rows = 6")}
    controls = (differing(changed, files) == differing(page, files | {"gates.cpp": ""}) == ["gates.cpp"]
                and differing({**page, "spare": ""}, files) == ["spare"] == differing(page, {**files, "spare": ""}))
    if differing(page, files):
        sys.exit(f"docs/testing.md and tests/package/gates differ in {', '.join(differing(page, files))}")
    if not controls:
        sys.exit("control: a changed, missing or spare file was not noticed")
    print(f"tests/package/gates: {len(files)} files, those of docs/testing.md")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nvcc")
    args = parser.parse_args()
    text = PAGE.read_text()
    files, commands = dict(FILE.findall(text)), COMMANDS.search(text).group(1)
    expected = {"rms_norm.cuh", "rms_norm_host.hpp", "gates.cpp", "CMakeLists.txt", "gates_gpu.cu"}
    if set(files) != expected or RIGHT not in files["rms_norm.cuh"]:
        sys.exit(f"docs/testing.md holds {sorted(files)}, not the files that this check knows")
    check_project(files)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        prefix = work / "installed"
        must(run("cmake", "-S", REPOSITORY, "-B", work / "isobit", "-DISOBIT_BUILD_TESTS=OFF",
                 "-DISOBIT_BUILD_EXAMPLES=OFF", "-DISOBIT_BUILD_BENCH=OFF", f"-DCMAKE_INSTALL_PREFIX={prefix}"))
        must(run("cmake", "--install", work / "isobit"))

        def follow(name, changed):
            source = work / name
            shutil.copytree(PROJECT, source)
            for file, content in changed.items():
                (source / file).write_text(content)
            environment = {**__import__("os").environ, "CMAKE_PREFIX_PATH": str(prefix)}
            return source, run("sh", "-e", "-c", commands, cwd=source, env=environment)

        right, done = follow("right", {})
        print(must(done)[-600:])
        must(run(right / "build" / "gates", right / "rms_norm.baseline"))
        _, wrong = follow("wrong", {"rms_norm.cuh": files["rms_norm.cuh"].replace(RIGHT, WRONG)})
        gates = ("repeatable", "geometry_invariant", "same_as_host")
        missed = [g for g in gates if f"isobit::testing::{g} FAILED" not in wrong.stdout]
        if wrong.returncode == 0 or missed:
            sys.exit(f"control: the arrival-order kernel was not caught by {missed}\n{wrong.stdout[-6000:]}")
        print(f"control: the arrival-order kernel was caught by {', '.join(gates)}")
        if args.nvcc:
            must(run(args.nvcc, "-std=c++20", "-arch=sm_90", "-I", prefix / "include", "-c", "gates_gpu.cu", "-o",
                     "gates_gpu.o", cwd=right))
            print("gates_gpu.cu compiles (not yet run on a GPU)")


if __name__ == "__main__":
    main()
