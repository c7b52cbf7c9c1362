#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the extension against the headers of an installed PyTorch and runs compare.py.

  check.py --build FOLDER [--compiler CXX] [--python PYTHON]

--python: a Python with torch and NumPy; else $ISOBIT_TORCH_PYTHON; else FOLDER/venv, made by pip (torch for Linux is a
download of gigabytes). Ends with 77, and says why, where there is no torch.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
PATHS = ("import os, numpy, torch; print(os.path.dirname(torch.__file__)); "
         "print(int(torch.compiled_with_cxx11_abi())); print(torch.__version__)")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def python_with_torch(folder):
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(folder / "venv", with_pip=True)
    if subprocess.run([python, "-c", "import torch, numpy"], stderr=subprocess.DEVNULL).returncode != 0:
        print("installing torch and numpy into", folder / "venv", flush=True)
        if subprocess.run([python, "-m", "pip", "install", "--quiet", "torch>=2.7", "numpy"]).returncode != 0:
            skip("pip could not install torch")
    return str(python)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", default=os.environ.get("CXX", "c++"))
    parser.add_argument("--python", default=os.environ.get("ISOBIT_TORCH_PYTHON"))
    args = parser.parse_args()
    args.build.mkdir(parents=True, exist_ok=True)
    python = args.python or python_with_torch(args.build)
    try:
        found = subprocess.run([python, "-c", PATHS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        skip(str(error))
    if found.returncode != 0:
        skip(f"{python} cannot import torch: " + (found.stderr.strip().splitlines() or ["no message"])[-1])
    torch, abi, version = found.stdout.split()
    print("torch", version, flush=True)
    library = args.build / "isobit_torch.so"
    subprocess.run(args.compiler.split() +
                   ["-std=c++20", "-O2", "-fPIC", "-shared", "-Wall", "-Wextra", f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
                    "-I", HERE.parent.parent / "include", "-isystem", f"{torch}/include", HERE / "extension.cpp", "-o",
                    library, f"-L{torch}/lib", "-lc10", "-ltorch_cpu", f"-Wl,-rpath,{torch}/lib"], check=True)
    sys.exit(subprocess.run([python, HERE / "compare.py", library]).returncode)


main()
