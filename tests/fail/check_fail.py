# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the must-not-compile cases of this folder.

  check_fail.py --kind gxx|clang|nvcc [--command PATH] [--control] [FILE ...]

A case is a .cpp (host compilers) or .cu (nvcc) file whose comments say what must happen:
  // expect: TEXT        the compiler fails and its output holds TEXT (one or more such lines)
  // expect: compiles    it must compile: the control that the case before it fails for its stated reason only
  // flags: -std=c++17   flags in place of -std=c++20
  // kinds: gxx nvcc     only these compilers (default: all that read the file's suffix)
"""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
SUFFIXES = {"gxx": (".cpp",), "clang": (".cpp",), "nvcc": (".cu",)}


def comments(text, key):
    return [m.strip() for m in re.findall(rf"^// {key}: (.*)$", text, re.M)]


def compile(kind, command, path, flags):
    how = ["-fsyntax-only", "-x", "c++"] if kind != "nvcc" else ["-arch=sm_90", "-o", "/dev/null", "-c"]
    done = subprocess.run([command, *flags, "-I", str(INCLUDE), *how, str(path)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def verdict(kind, command, path):
    """None where the file does what its comments say, else what is wrong."""
    text = path.read_text()
    expected = comments(text, "expect")
    if not expected:
        return "no '// expect:' line"
    code, output = compile(kind, command, path, (comments(text, "flags") or ["-std=c++20"])[0].split())
    if expected == ["compiles"]:
        return f"must compile, but does not:\n{output[:2000]}" if code else None
    if code == 0:
        return "compiles, but must not"
    flat = re.sub(r"\s+", " ", output)
    absent = [e for e in expected if e not in flat]
    return f"fails, but its output lacks: {absent}\n{output[:2000]}" if absent else None


def concerns(kind, path):
    kinds = comments(path.read_text(), "kinds")
    return path.suffix in SUFFIXES[kind] and (not kinds or kind in kinds[0].split())


def run(kind, command, paths):
    paths = [p for p in paths if concerns(kind, p)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(lambda p: verdict(kind, command, p), paths))
    wrong = {p.name: v for p, v in zip(paths, verdicts) if v}
    return len(paths), wrong


def control(kind, command):
    """Cases whose comments are wrong must be found."""
    suffix = SUFFIXES[kind][0]
    with tempfile.TemporaryDirectory() as folder:
        texts = {
            "right": '// expect: isobit: seen\nstatic_assert(sizeof(int) == 0, "isobit: seen");\n',
            "compiles": "// expect: isobit: never\nint x;\n",
            "other_text": '// expect: isobit: this\nstatic_assert(sizeof(int) == 0, "isobit: that");\n',
            "broken_control": "// expect: compiles\nint x = y;\n",
            "no_comment": "int x;\n",
        }
        for name, text in texts.items():
            pathlib.Path(folder, name + suffix).write_text(text)
        _, wrong = run(kind, command, sorted(pathlib.Path(folder).iterdir()))
    ok = set(wrong) == {name + suffix for name in texts if name != "right"}
    print("control: " + ("the wrong cases were found, the right one was not" if ok else f"WRONG VERDICTS {wrong}"))
    return 0 if ok else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", required=True, choices=list(SUFFIXES))
    parser.add_argument("--command")
    parser.add_argument("--control", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    command = args.command or {"gxx": "g++", "clang": "clang++", "nvcc": "nvcc"}[args.kind]
    if args.control:
        return control(args.kind, command)
    files = args.files or sorted(p for p in HERE.rglob("*") if p.suffix in (".cpp", ".cu"))
    count, wrong = run(args.kind, command, files)
    for name, what in wrong.items():
        print(f"{name}: {what}\n")
    print(f"{args.kind}: {count} cases, {len(wrong)} wrong")
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
