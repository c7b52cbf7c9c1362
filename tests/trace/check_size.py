# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory and time of trace_compare for two traces of many events.

  check_size.py TRACE_COMPARE EVENTS

Memory must stay below 1 GiB for a million events, and in proportion (and 32 MiB) for fewer. Time is printed; for a million
events, processor time must stay below 10 s. Less than 8 MiB would mean that
nothing was measured.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import make_traces


def measure(command):
    """(exit status, output, most memory in MiB, seconds, processor seconds)"""
    began = time.monotonic()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode()
    return (process.returncode, text, usage.ru_maxrss / 1024, time.monotonic() - began, usage.ru_utime + usage.ru_stime)


def main():
    program, events = sys.argv[1], int(sys.argv[2])
    limit = 1024 * events / 1e6 + 32
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        a, b, page = (pathlib.Path(folder, name) for name in ("a", "b", "page.html"))
        make_traces.write(a, events)
        make_traces.write(b, events, change=(2, events // 10))
        for name, other, expected, word in (("equal", a, 0, "SAME"), ("diverged", b, 1, "rank 2  origin")):
            code, text, memory, seconds, cpu = measure([program, str(a), str(other), "--html", str(page)])
            right = code == expected and word in text
            small = memory < limit and page.stat().st_size < 600_000
            fast = events < 1_000_000 or cpu < 10
            print(f"{name}: 2 x {events} events: {memory:.0f} MiB (limit {limit:.0f}), {seconds:.1f} s, {cpu:.1f} s of processor "
                  f"time, page of {page.stat().st_size} bytes" + ("" if right and small and fast else "  WRONG"))
            if not right:
                print(text[:2000])
            failed |= not (right and small and fast)
        if memory < 8:
            print("control: less memory than the events can need: nothing was measured")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
