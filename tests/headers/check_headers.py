# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles every public header alone, as a translation unit of its own that includes it twice.

  check_headers.py --kind gxx|clang|nvcc|nvrtc [--command PATH] [--cuda DIR] [--jobs N] [--control] [HEADER ...]

`nvcc` compiles .hpp and .cuh for one architecture; `nvrtc` loads libnvrtc of the toolkit DIR and compiles each .hpp that
is not host-only (simt/, trace/, trace.hpp and testing/ are). With gxx, two objects that hold all headers are linked as well, so that a
function that is not inline is found. `--control` checks the check: a broken header must be reported, and only that one.
A header of interop/ or device/ may need an outside header; where that is not installed it is counted as left out.
"""
import argparse
import concurrent.futures
import ctypes
import pathlib
import re
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
HOST_ONLY = ("simt/", "trace/", "trace.hpp", "testing/")
MAY_NEED_OTHERS = ("interop/", "device/")
MISSING = re.compile(r"fatal error: '?([\w./]+)'?:? (No such file|file not found)", re.I)
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
HEAD = "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n#pragma once\n"


def unit(*names):
    return "".join(f"#include <isobit/{name}>\n" for name in names for _ in range(2))


class Host:
    """g++ or clang++; nothing is generated."""

    suffixes = (".hpp",)

    def __init__(self, args):
        self.args = args
        self.base = [args.command, "-std=c++20", *WARNINGS, "-I", str(args.include)]
        self.toolkit = [f"-isystem{d}" for d in cuda_includes(args.cuda)]

    def compile(self, name, work):
        command = [*self.base, "-fsyntax-only", "-x", "c++", "-"]
        done = subprocess.run(command, input=unit(name), capture_output=True, text=True)
        if done.returncode and name.startswith(MAY_NEED_OTHERS) and MISSING.search(done.stderr) and self.toolkit:
            done = subprocess.run([*command, *self.toolkit], input=unit(name), capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def link(self, names, work):
        names = [n for n in names if not n.startswith(MAY_NEED_OTHERS)]
        sources = [work / "one.cpp", work / "two.cpp"]
        sources[0].write_text(unit(*names) + "int main() {}\n")
        sources[1].write_text(unit(*names))
        done = subprocess.run([*self.base, *map(str, sources), "-o", str(work / "linked"), "-pthread"],
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


class Nvcc:
    suffixes = (".hpp", ".cuh")

    def __init__(self, args):
        self.args = args

    def compile(self, name, work):
        source = work / (name.replace("/", "_") + ".cu")
        source.write_text(unit(name))
        command = [self.args.command, "-std=c++20", f"-arch={self.args.arch}", "-Werror", "all-warnings", "-I",
                   str(self.args.include), "-c", str(source), "-o", str(source.with_suffix(".o"))]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


class Nvrtc:
    """One process a header: the library is loaded there (see compile_with_nvrtc)."""

    suffixes = (".hpp",)

    def __init__(self, args):
        self.args = args

    def compile(self, name, work):
        options = ["--std=c++20", f"--gpu-architecture={self.args.arch.replace('sm_', 'compute_')}",
                   f"-I{self.args.include}", *(f"-I{d}" for d in cuda_includes(self.args.cuda) if d.name == "cccl")]
        if name.startswith(MAY_NEED_OTHERS):
            options += [f"-I{d}" for d in cuda_includes(self.args.cuda)]
        command = [sys.executable, __file__, "--nvrtc-one", str(find_nvrtc(self.args.cuda)), unit(name), *options]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def compile_with_nvrtc(library, text, options):
    nvrtc = ctypes.CDLL(library)
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"header.cu", 0, None, None)
    encoded = [o.encode() for o in options]
    result = nvrtc.nvrtcCompileProgram(program, len(encoded), (ctypes.c_char_p * len(encoded))(*encoded))
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    print(log.value.decode(errors="replace"), end="")
    return 0 if result == 0 else 1


def cuda_includes(cuda):
    """The include folders of a toolkit: its own and, from CUDA 13 on, libcu++'s."""
    if cuda is None:
        return []
    return [d for d in (cuda / "include", cuda / "include" / "cccl") if d.is_dir()]


def find_nvrtc(cuda):
    for folder in ("lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"):
        for path in sorted((cuda / folder).glob("libnvrtc.so*")) if cuda else []:
            return path
    return None


def headers_for(kind, compiler, include):
    base = include / "isobit"
    names = sorted(str(p.relative_to(base)) for p in base.rglob("*") if p.suffix in compiler.suffixes)
    return [n for n in names if not (kind == "nvrtc" and n.startswith(HOST_ONLY))]


def check(kind, compiler, names, jobs):
    """Prints one block for each broken header; returns (the broken ones, the left-out ones)."""
    broken, left_out = [], {}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        work = pathlib.Path(folder)
        results = pool.map(lambda name: (name, *compiler.compile(name, work)), names)
        for name, code, output in results:
            missing = MISSING.search(output)
            if code and missing and name.startswith(MAY_NEED_OTHERS) and not missing[1].startswith("isobit/"):
                left_out[name] = missing[1]
            elif code:
                broken.append(name)
                print(f"{name}: does not compile alone with {kind}\n{output.rstrip()[:4000]}\n")
        if kind == "gxx" and not broken:
            code, output = compiler.link([n for n in names if n not in left_out], work)
            if code:
                broken.append("link")
                print(f"two translation units with all headers do not link\n{output[:4000]}")
    return broken, left_out


def control(kind, make, args):
    """A tree with one right and three wrong headers; exactly the wrong ones must be reported."""
    texts = {
        "right.hpp": HEAD + "struct right {};\n",
        "not_alone.hpp": HEAD + "struct wrong : isobit::no_such_type {};\n",
        "twice.hpp": HEAD.replace("#pragma once\n", "") + "struct twice {};\n",
        "not_found.hpp": HEAD + "#include <isobit/none.hpp>\n",
    }
    expected = {"not_alone.hpp", "twice.hpp", "not_found.hpp"}
    if kind == "nvrtc":
        texts["host_function.hpp"] = HEAD + "inline int host_function() { return 0; }\n"
        expected.add("host_function.hpp")
    with tempfile.TemporaryDirectory() as folder:
        args.include = pathlib.Path(folder)
        (args.include / "isobit").mkdir()
        for name, text in texts.items():
            (args.include / "isobit" / name).write_text(text)
        compiler = make(args)
        broken, left_out = check(kind, compiler, headers_for(kind, compiler, args.include), args.jobs)
        ok = set(broken) == expected and not left_out
        if ok and kind == "gxx":
            for name in expected:
                (args.include / "isobit" / name).unlink()
            (args.include / "isobit" / "strong.hpp").write_text(HEAD + "int strong() { return 0; }\n")
            ok = check(kind, compiler, ["right.hpp", "strong.hpp"], args.jobs)[0] == ["link"]
    print("control: " + ("the broken headers were reported, the right one was not" if ok else "WRONG VERDICTS"))
    return 0 if ok else 1


def main():
    if sys.argv[1:2] == ["--nvrtc-one"]:
        return compile_with_nvrtc(sys.argv[2], sys.argv[3], sys.argv[4:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", required=True, choices=["gxx", "clang", "nvcc", "nvrtc"])
    parser.add_argument("--command", help="the compiler (default: g++, clang++ or nvcc)")
    parser.add_argument("--cuda", type=pathlib.Path, help="a CUDA toolkit")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--control", action="store_true")
    parser.add_argument("--include", type=pathlib.Path, default=REPOSITORY / "include")
    parser.add_argument("headers", nargs="*", help="relative to include/isobit; default: all")
    args = parser.parse_args()
    args.command = args.command or {"gxx": "g++", "clang": "clang++"}.get(args.kind, args.kind)
    if args.kind == "nvrtc" and find_nvrtc(args.cuda) is None:
        print("no libnvrtc found: not checked")
        return 77
    make = {"gxx": Host, "clang": Host, "nvcc": Nvcc, "nvrtc": Nvrtc}[args.kind]
    if args.control:
        return control(args.kind, make, args)
    compiler = make(args)
    names = args.headers or headers_for(args.kind, compiler, args.include)
    broken, left_out = check(args.kind, compiler, names, args.jobs)
    for name, missing in left_out.items():
        print(f"{name}: left out, <{missing}> is not installed")
    print(f"{args.kind}: {len(names) - len(left_out)} headers, {len(broken)} broken")
    return 1 if broken or not names else 0


if __name__ == "__main__":
    sys.exit(main())
