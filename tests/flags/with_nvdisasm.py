#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command that needs nvdisasm, which many CUDA installations lack.

usage: with_nvdisasm.py FOLDER [--without COMMAND...] --with COMMAND...

Where nvdisasm is not found, it is installed from the Python package nvidia-cuda-nvdisasm into a virtual environment in
FOLDER. The command finds its path in $NVDISASM. If it cannot be installed, the other command runs (if there is one) and
the status is that one's, or 77 (skipped).
"""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import sass  # noqa: E402


def installed(folder):
    """The path of nvdisasm in a virtual environment in `folder`, or None and the reason."""
    folder = pathlib.Path(folder) / "nvdisasm"
    found = next(folder.glob("lib/python*/site-packages/nvidia/*/bin/nvdisasm"), None)
    if found:
        return str(found), ""
    for command in ([sys.executable, "-m", "venv", str(folder)],
                    [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                     "--timeout", "20", "--retries", "1", "nvidia-cuda-nvdisasm>=13"]):
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=240)
        except (OSError, subprocess.TimeoutExpired) as error:
            return None, str(error)
        if ran.returncode != 0:
            return None, (ran.stderr or ran.stdout)[-500:]
    return next(map(str, folder.glob("lib/python*/site-packages/nvidia/*/bin/nvdisasm")), None), "the package has no nvdisasm"


def main():
    arguments = sys.argv[1:]
    at = arguments.index("--with")
    wanted, otherwise = arguments[at + 1:], arguments[1:at]
    path, reason = sass.find_nvdisasm(), ""
    if not path:
        path, reason = installed(arguments[0])
    if path:
        return subprocess.run(wanted, env={**os.environ, "NVDISASM": path}).returncode
    print(f"SKIPPED: nvdisasm is not installed, and pip could not install nvidia-cuda-nvdisasm, so that no SASS was looked at: {reason}")
    if otherwise:
        return subprocess.run(otherwise[1:]).returncode or 77
    return 77


if __name__ == "__main__":
    sys.exit(main())
