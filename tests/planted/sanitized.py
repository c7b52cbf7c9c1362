#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds sanitized.cpp with a sanitizer: silent on the right kernels, a report on each planted mistake. Arguments:
tests/sanitizers.py."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import sanitizers

SOURCE = Path(__file__).resolve().with_suffix(".cpp")
WRONG = {
    "thread": {"missing_barrier": "data race", "weakened_ordering": "data race"},
    "address": {"padding_read": "heap-buffer-overflow"},
}

if __name__ == "__main__":
    sys.exit(sanitizers.main(__doc__, lambda tool: [(SOURCE, ["right"])],
                             lambda tool: [(SOURCE, case, words) for case, words in WRONG[tool].items()]))
