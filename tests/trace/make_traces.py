# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a trace of many events in isobit's layout, as large jobs make them: several ranks and iterations.

  make_traces.py FOLDER EVENTS [--ranks N] [--change RANK:NUMBER]     NUMBER: an event of that rank, counted from 0

The change is one digest of one output; every later event of that rank has other inputs and outputs too.
"""
import argparse
import pathlib

MASK = 2**64 - 1


def mixed(n):
    n = (n * 0x9E3779B97F4A7C15 + 0x243F6A8885A308D3) & MASK
    n = ((n ^ (n >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    return n ^ (n >> 27)


def lines(rank, first, count, iteration, changed_at):
    """Events of one rank and iteration; `first` is the number of the first among the rank's events."""
    for i in range(count):
        n = first + i
        salt = 1 if changed_at is not None and n > changed_at else 0
        a, b = mixed(n * 2 + rank * 10**9 + salt * 10**15), mixed(n * 2 + 1 + rank * 10**9)
        c = mixed(n * 2 + 2 + rank * 10**9 + (10**15 if salt or n == changed_at else 0))
        yield (f'{{"isobit_trace":1,"rank":{rank},"iteration":{iteration},"microbatch":{i % 4},"sequence":{i},'
               f'"kind":"op","name":"aten.op{i % 37}","scope":"decoder.layers.{i % 61}.mlp","occurrence":{i // 4},'
               f'"order_id":"isobit.tree.1","in":[{{"name":"x","dtype":"bf16","shape":[4096,7168],"count":29360128,'
               f'"digest":"{a:016x}"}},{{"name":"w","dtype":"e4m3","shape":[7168,2048],"count":14680064,'
               f'"digest":"{b:016x}"}}],"out":[{{"name":"y","dtype":"bf16","shape":[4096,2048],"count":8388608,'
               f'"digest":"{c:016x}"}}]}}\n')


def write(folder, events, ranks=4, iterations=2, change=None):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    each = events // (ranks * iterations)
    for rank in range(ranks):
        changed_at = change[1] if change and change[0] == rank else None
        for iteration in range(iterations):
            count = each if (rank, iteration) != (ranks - 1, iterations - 1) else events - each * (ranks * iterations - 1)
            with open(folder / f"rank{rank:05d}_iter{iteration:06d}.jsonl", "w") as out:
                out.writelines(lines(rank, each * iteration, count, iteration, changed_at))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("events", type=int)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--change")
    args = parser.parse_args()
    change = tuple(map(int, args.change.split(":"))) if args.change else None
    write(args.folder, args.events, args.ranks, change=change)


if __name__ == "__main__":
    main()
