# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs an MPI program on 1, 2, 3, 4, 6 and 8 processes and compares the first line it prints.

  same_at_every_count.py --mpirun PATH [--control] PROGRAM

The first line must be the same at every count. With --control, the rest (what MPI_SUM gives) must not be: otherwise the
data could not tell the orders apart.
"""
import argparse
import os
import subprocess
import sys

COUNTS = (1, 2, 3, 4, 6, 8)


def run(mpirun, count, program):
    # Open MPI refuses root and more processes than cores unless told.
    command = [mpirun, "--allow-run-as-root", "--oversubscribe", "-n", str(count), program]
    environment = dict(os.environ, OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl_base_warn_component_unused="0")
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    if done.returncode:
        sys.exit(f"{count} processes: {' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    lines = done.stdout.splitlines()
    if not lines:
        sys.exit(f"{count} processes printed nothing")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpirun", required=True)
    parser.add_argument("--control", action="store_true")
    parser.add_argument("program")
    args = parser.parse_args()
    outputs = {count: run(args.mpirun, count, args.program) for count in COUNTS}
    for count, lines in outputs.items():
        print(f"{count}: {' | '.join(lines)}")
    if len({lines[0] for lines in outputs.values()}) != 1:
        sys.exit("the first lines differ")
    if args.control and len({lines[-1].split(": ")[-1] for lines in outputs.values()}) == 1:
        sys.exit("control: MPI_SUM gave the same result at every count; this data proves nothing")


if __name__ == "__main__":
    main()
