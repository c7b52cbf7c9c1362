# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and links examples/nccl_sum with NCCL, and runs it: without a GPU it must say so, with GPUs it must succeed.

  nccl_links.py --nvcc PATH --build FOLDER [--nccl FOLDER]

NCCL is taken from --nccl, from $NCCL_HOME, from where the compiler looks by itself, or, the first time, from the Python
package nvidia-nccl-cu13 (300 MB), unpacked in the build folder. Ends with 77 (skipped) where none is to be had.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = "nvidia-nccl-cu13"


def from_package(build):
    folder = build / "nccl"
    if not (folder / "include" / "nccl.h").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        try:
            done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:",
                                   "-d", str(folder), PACKAGE], capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            return None
        wheels = list(folder.glob("*.whl"))
        if done.returncode or not wheels:
            return None
        with zipfile.ZipFile(wheels[0]) as wheel:
            for name in wheel.namelist():
                inside = name.removeprefix("nvidia/nccl/")
                if inside != name and inside.startswith(("include/", "lib/")) and not name.endswith("/"):
                    target = folder / inside
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(wheel.read(name))
        wheels[0].unlink()
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--nccl", type=pathlib.Path)
    args = parser.parse_args()
    args.build.mkdir(parents=True, exist_ok=True)
    nccl = args.nccl or (pathlib.Path(os.environ["NCCL_HOME"]) if "NCCL_HOME" in os.environ else None)
    if nccl is None and not any((pathlib.Path(d) / "nccl.h").is_file() for d in ("/usr/include", "/usr/local/include")):
        nccl = from_package(args.build)
        if nccl is None:
            print(f"no nccl.h here, and the Python package {PACKAGE} cannot be had: skipped")
            return 77
    where = [f"-I{nccl / 'include'}"] if nccl else []
    library = next(iter((nccl / "lib").glob("libnccl.so*")), None) if nccl else None
    program = args.build / "nccl_sum"
    command = [args.nvcc, "-std=c++20", "-arch=sm_90", "-I", str(ROOT / "include"), *where,
               str(ROOT / "examples" / "nccl_sum" / "nccl_sum.cu"), "-o", str(program),
               *([str(library)] if library else ["-lnccl"])]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(" ".join(command) + "\n" + done.stdout + done.stderr)
    environment = dict(os.environ)
    if library:
        environment["LD_LIBRARY_PATH"] = f"{library.parent}:{environment.get('LD_LIBRARY_PATH', '')}"
    done = subprocess.run([str(program)], capture_output=True, text=True, env=environment, timeout=300)
    print(done.stdout + done.stderr, end="")
    if done.returncode == 77 and "no GPU" in done.stdout:
        print("compiled and linked; not run")
        return 0
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
