# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs under a sanitizer: silent on right kernels, a report on each wrong one. Used by the scripts that list the
programs; their arguments:

  --tool thread|address --cxx g++ --include DIR --build DIR [--boost]

Exit code 77: the compiler or machine has no such sanitizer (skipped)."""
import argparse
import os
import subprocess
import sys
from pathlib import Path

FLAGS = {
    "thread": ["-fsanitize=thread"],
    "address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"],
}


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=300, **options)


def main(doc, right, wrong):
    """`right(tool)` and `wrong(tool)` list sources: `right` [(source, arguments)], each of which prints "done" and nothing
    else; `wrong` [(source, argument, words)], each of which must end with a report that has `words`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", choices=FLAGS, required=True)
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--include", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--boost", action="store_true")
    a = parser.parse_args()
    build = Path(a.build)
    build.mkdir(parents=True, exist_ok=True)

    probe = build / "probe.cpp"
    probe.write_text("int main() {}\n")
    made = run([a.cxx, *FLAGS[a.tool], str(probe), "-o", str(build / "probe")])
    if made.returncode != 0 or run([str(build / "probe")]).returncode != 0:
        print(f"{a.cxx} cannot build or run {FLAGS[a.tool][0]} here: skipped")
        return 77

    programs = {}

    def compiled(source):
        if source not in programs:
            programs[source] = str(build / f"{source.stem}_{a.tool}")
            command = [a.cxx, "-std=c++20", "-O1", "-g", *FLAGS[a.tool], "-I", a.include, str(source), "-o",
                       programs[source], "-pthread"]
            if a.boost:
                command += ["-DISOBIT_SIMT_BOOST_CONTEXT", "-lboost_context"]
            made = run(command)
            if made.returncode != 0:
                sys.exit(made.stdout)
        return programs[source]

    environment = dict(os.environ, TSAN_OPTIONS="exitcode=66", ASAN_OPTIONS="exitcode=66:detect_leaks=1")
    failures = 0
    for source, arguments in right(a.tool):
        r = run([compiled(source), *arguments], env=environment)
        # AddressSanitizer says once that ucontext is not its favourite.
        said = [line for line in r.stdout.splitlines() if "doesn't fully support makecontext" not in line]
        if r.returncode != 0 or said != ["done"]:
            print(f"{source.name} {arguments}: expected silence, got {r.returncode}:\n{r.stdout[:6000]}")
            failures += 1
    for source, case, words in wrong(a.tool):
        r = run([compiled(source), case], env=environment)
        if r.returncode == 0 or words not in r.stdout:
            print(f"{case}: expected a report of \"{words}\", got exit code {r.returncode}:\n{r.stdout[:6000]}")
            failures += 1
    total = len(right(a.tool)) + len(wrong(a.tool))
    print(f"{a.tool}: {total - failures} cases as expected, {failures} not")
    return 1 if failures else 0
