#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the programs beside this file with a sanitizer and checks that it is silent on right kernels, isobit's own
among them, and that it reports each wrong one. Arguments: tests/sanitizers.py."""
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))
import sanitizers

WRONG = {
    "thread": {
        "missing_barrier": "data race",
        "missing_warp_barrier": "data race",
        "relaxed_ticket": "data race",
        "missing_fences": "data race",
        "unsynchronised_sum": "data race",
    },
    "address": {
        "shared_array": "out of bounds",
        "dynamic_array": "heap-buffer-overflow",
        "global_array": "heap-buffer-overflow",
        "dangling": "heap-use-after-free",
    },
}

if __name__ == "__main__":
    sys.exit(sanitizers.main(__doc__, lambda tool: [(HERE / f"{tool}.cpp", ["right"]), (HERE / "library.cpp", [])],
                             lambda tool: [(HERE / f"{tool}.cpp", case, words) for case, words in WRONG[tool].items()]))
