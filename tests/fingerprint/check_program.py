#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs examples/fingerprint_tensors on good, different and broken files.

check_program.py <fingerprint_tensors> <model.safetensors> <docs/fingerprint.md>

Digests are compared with the Python program of the documentation; every broken file of a generated corpus must be
refused with exit status 2 and the name of the offending field, random damage must never crash or be taken for the same.
"""
import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

PROGRAM, MODEL, DOCS = sys.argv[1:4]
FAILED = []


def run(*words):
    r = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=120)
    return r.returncode, r.stdout, r.stderr


def expect(condition, what):
    if not condition:
        FAILED.append(what)
        print("FAILED:", what, file=sys.stderr)


def safetensors(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def npy(header, data=b"", version=(1, 0)):
    text = header.encode() + b"\n"
    length = struct.pack("<H" if version[0] == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes(version) + length + text + data


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


GOOD = {"a": entry(), "b": entry("BF16", (3, 2), (8, 20))}
EIGHT, TWENTY = bytes(range(8)), bytes(range(20))
BIG = 2**63

BROKEN_SAFETENSORS = [  # file, what the message must name
    (b"", "header length"),
    (b"\1\0\0", "header length"),
    (struct.pack("<Q", 2**40) + b"{}", "header length"),
    (struct.pack("<Q", 100) + b"{}", "header length"),
    (safetensors(b""), "header"),
    (safetensors(b"[]"), "header"),
    (safetensors(b'{"a":'), "header: is not valid JSON"),
    (safetensors(b'{"a":' * 1000), "header"),
    (safetensors(b'{"a":1,"a":2}'), "header: names"),
    (safetensors(b'{"a\xff":1}'), "header"),
    (safetensors({"__metadata__": []}), "__metadata__"),
    (safetensors({"__metadata__": {"k": 1}}), "__metadata__"),
    (safetensors({"a": 5}), 'tensor "a"'),
    (safetensors({"a": {"dtype": "F32", "shape": [2]}}, EIGHT), 'tensor "a": data_offsets: is missing'),
    (safetensors({"a": {"dtype": "F32", "data_offsets": [0, 8]}}, EIGHT), 'tensor "a": shape: is missing'),
    (safetensors({"a": {"shape": [2], "data_offsets": [0, 8]}}, EIGHT), 'tensor "a": dtype: is missing'),
    (safetensors({"a": dict(entry(), extra=1)}, EIGHT), 'tensor "a": has the unknown field "extra"'),
    (safetensors({"a": entry("F31")}, EIGHT), 'tensor "a": dtype'),
    (safetensors({"a": dict(entry(), dtype=7)}, EIGHT), 'tensor "a": dtype'),
    (safetensors({"a": entry(shape=(-2,))}, EIGHT), 'tensor "a": shape'),
    (safetensors({"a": dict(entry(), shape="2")}, EIGHT), 'tensor "a": shape'),
    (safetensors({"a": dict(entry(), shape=[2.0])}, EIGHT), 'tensor "a": shape'),
    (safetensors({"a": entry(shape=(3,))}, EIGHT), 'tensor "a": shape'),
    (safetensors({"a": entry(shape=(BIG, BIG))}, EIGHT), 'tensor "a": shape'),
    (safetensors({"a": entry(shape=(BIG, 2, 1))}, EIGHT), 'tensor "a": shape'),
    (safetensors({"a": entry("F4", (3,), (0, 2))}, EIGHT), 'tensor "a": shape'),
    (safetensors({"a": entry(offsets=(8, 0))}, EIGHT), 'tensor "a": data_offsets'),
    (safetensors({"a": entry(offsets=(0, 8, 8))}, EIGHT), 'tensor "a": data_offsets'),
    (safetensors({"a": entry(offsets=(-8, 0))}, EIGHT), 'tensor "a": data_offsets'),
    (safetensors({"a": entry(offsets=(0, 9))}, EIGHT), 'tensor "a": data_offsets'),
    (safetensors({"a": entry(offsets=(0, 2**64))}, EIGHT), 'tensor "a": data_offsets'),
    (safetensors({"a": entry(), "b": entry(offsets=(4, 12))}, TWENTY[:12]), 'tensor "b": data_offsets: overlap'),
    (safetensors({"a": entry(), "b": entry()}, EIGHT), 'tensor "b": data_offsets: overlap'),
    (safetensors({"a": entry(), "b": entry(offsets=(12, 20))}, TWENTY), 'tensor "b": data_offsets: leave a gap'),
    (safetensors({"a": entry(offsets=(4, 12))}, TWENTY[:12]), 'tensor "a": data_offsets: leave a gap'),
    (safetensors({"a": entry()}, TWENTY), "data: 12 bytes"),
    (safetensors(GOOD, TWENTY)[:-1], 'tensor "b": data_offsets'),  # truncated
    (safetensors({}, b""), "holds no tensors"),
]

HEADER = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
BROKEN_NPY = [
    (b"\x93NUMPY", "header length"),
    (b"\x93NUMPY\x01\x00\x00", "header length"),
    (npy(HEADER, EIGHT, (4, 0)), "version"),
    (npy(HEADER, EIGHT, (1, 7)), "version"),
    (npy(HEADER)[:40], "header length"),
    (npy(HEADER, EIGHT[:7]), "shape"),
    (npy(HEADER, TWENTY), "data: 12 bytes"),
    (npy(HEADER.replace("<f4", ">f4"), EIGHT), "descr"),
    (npy(HEADER.replace("<f4", "<c8"), EIGHT), "descr"),
    (npy(HEADER.replace("<f4", "<f5"), EIGHT), "descr"),
    (npy(HEADER.replace("'<f4'", "[('x', '<f4')]"), EIGHT), "descr"),
    (npy(HEADER.replace("'descr': '<f4', ", ""), EIGHT), "descr: is missing"),
    (npy(HEADER.replace("'fortran_order': False, ", ""), EIGHT), "fortran_order: is missing"),
    (npy(HEADER.replace("'shape': (2,), ", ""), EIGHT), "shape: is missing"),
    (npy(HEADER.replace("False", "0"), EIGHT), "fortran_order"),
    (npy(HEADER.replace("(2,)", "(-2,)"), EIGHT), "shape"),
    (npy(HEADER.replace("(2,)", "(2"), EIGHT), "shape"),
    (npy(HEADER.replace("(2,)", "2"), EIGHT), "shape"),
    (npy(HEADER.replace("(2,)", f"({2**64},)"), EIGHT), "shape"),
    (npy(HEADER.replace("(2,)", f"({2**62}, {2**62})"), EIGHT), "shape"),
    (npy(HEADER[:-1] + "'shape': (2,)}", EIGHT), "header"),
    (npy(HEADER[:-1] + "'more': 1}", EIGHT), "header"),
    (npy(HEADER + "{}", EIGHT), "header"),
    (npy("", EIGHT), "header"),
]


def broken_manifests(good):
    def changed(change):
        m = json.loads(good)
        change(m)
        return json.dumps(m).encode()

    first = next(iter(json.loads(good)["tensors"]))
    of = lambda m: m["tensors"][first]
    return [
        (b"", "manifest"),
        (good.encode()[:200], "manifest"),
        (b"[]", "manifest"),
        (changed(lambda m: m.pop("format")), "format"),
        (changed(lambda m: m.update(format="x")), "format"),
        (changed(lambda m: m.update(version=2)), "version"),
        (changed(lambda m: m.update(bits=99)), "bits"),
        (changed(lambda m: m.update(chunk_bytes=0)), "chunk_bytes"),
        (changed(lambda m: m.update(chunk_bytes="16")), "chunk_bytes"),
        (changed(lambda m: m.update(tensors={})), "tensors"),
        (changed(lambda m: m.update(tensors=[1])), "tensors"),
        (changed(lambda m: of(m).pop("digest")), "digest"),
        (changed(lambda m: of(m).update(digest="12")), "digest"),
        (changed(lambda m: of(m).update(digest="g" * 32)), "digest"),
        (changed(lambda m: of(m)["chunks"].append("0" * 16)), "chunks"),
        (changed(lambda m: of(m).update(chunks=[5])), "chunks"),
        (changed(lambda m: of(m).update(bytes=-1)), "bytes"),
        (changed(lambda m: of(m).update(shape=["2"])), "shape"),
        (changed(lambda m: of(m).update(dtype=3)), "dtype"),
    ]


def check_refusals(folder, corpus, name, other):
    path = folder / name
    for i, (content, field) in enumerate(corpus):
        path.write_bytes(content)
        words = (path, other) if other else (path,)
        code, out, err = run(*words)
        expect(code == 2 and out == "" and field in err and name in err and err.count("\n") == 1,
               f"{name} {i}: exit {code}, {err!r} should name {field!r}")


def check_digests(folder, program):
    """The values of the documentation's program; npy and safetensors, rows and columns, agree."""
    dtypes = {"F32": 17, "BF16": 19}
    path = folder / "good.safetensors"
    path.write_bytes(safetensors(GOOD, TWENTY))
    code, out, err = run(path, "--chunk", 16, "--threads", 2)
    expect(code == 0 and err == "", f"a good file: exit {code}, {err!r}")
    m = json.loads(out)
    for name, e in GOOD.items():
        begin, end = e["data_offsets"]
        low, high = program["digest128"](TWENTY[begin:end], dtypes[e["dtype"]], e["shape"])
        got = m["tensors"][name]
        expect(got["digest"] == f"{high:016x}{low:016x}", f"digest of {name}")
        expect(got["shape"] == e["shape"] and got["bytes"] == end - begin, f"shape of {name}")
        chunk = program["digest"](TWENTY[begin:end])
        expect(got["chunks"] == [f"{chunk:016x}"], f"chunk of {name}")

    values = [0.5 * i for i in range(600)]
    rows = struct.pack("<600f", *values)
    columns = struct.pack("<600f", *(values[r * 30 + c] for c in range(30) for r in range(20)))
    dictionary = "{'descr': '<f4', 'fortran_order': %s, 'shape': (20, 30), }"
    (folder / "rows.npy").write_bytes(npy(dictionary % "False", rows))
    (folder / "columns.npy").write_bytes(npy(dictionary % "True", columns, (2, 0)))
    (folder / "array.safetensors").write_bytes(safetensors({"array": entry("F32", (20, 30), (0, 2400))}, rows))
    low, high = program["digest128"](rows, 17, [20, 30])
    _, out, _ = run(folder / "rows.npy", "--chunk", 1024)
    got = json.loads(out)["tensors"]["array"]
    expect(got["digest"] == f"{high:016x}{low:016x}", "digest of an npy file")
    parts = [program["finish"](program["digest_sum"](rows[i:i + 1024], i // 16), 0, [len(rows[i:i + 1024])])
             for i in range(0, 2400, 1024)]
    expect(got["chunks"] == [f"{p:016x}" for p in parts], "chunks of an npy file")
    for other in ("columns.npy", "array.safetensors"):
        code, out, _ = run(folder / "rows.npy", folder / other)
        expect(code == 0 and "1 tensors" in out, f"rows.npy against {other}")
    # Different: one element, a dtype, a shape, a name.
    changed = bytearray(rows)
    changed[4 * 123] ^= 1
    (folder / "other.npy").write_bytes(npy(dictionary % "False", bytes(changed)))
    code, out, _ = run(folder / "rows.npy", folder / "other.npy", "--chunk", 256)
    expect(code == 1 and "1 of 10 chunks differ; the first is chunk 1, bytes 256 to 511; first element 123 at [4, 3]: "
           "0x42760000 and 0x42760001" in out, f"one element: {out!r}")
    for header in ("{'descr': '<i4', 'fortran_order': False, 'shape': (20, 30), }",
                   "{'descr': '<f4', 'fortran_order': False, 'shape': (30, 20), }"):
        (folder / "other.npy").write_bytes(npy(header, rows))
        code, out, _ = run(folder / "rows.npy", folder / "other.npy")
        expect(code == 1 and ("dtype f32 and i32" in out or "shape [20, 30] and [30, 20]" in out), f"{header}: {out!r}")
    code, out, _ = run(folder / "rows.npy", path)
    expect(code == 1 and out.count("only in") == 3, f"other names: {out!r}")


def check_model(folder):
    """The bundled part of a real model."""
    manifest = folder / "model.json"
    code, _, err = run(MODEL, "-o", manifest, "--chunk", 4096)
    expect(code == 0 and err == "", f"the model's manifest: {err!r}")
    code, out, _ = run(MODEL, manifest)
    expect(code == 0 and "the same: 13 tensors, by their digests" in out, f"the model and its manifest: {out!r}")
    code, out, _ = run(MODEL, MODEL, "--threads", 3)
    expect(code == 0 and "byte by byte" in out, "the model and itself")
    code, out, _ = run(MODEL, MODEL, "--quiet")
    expect(code == 0 and out == "", "quiet")
    content = bytearray(pathlib.Path(MODEL).read_bytes())
    content[-3] ^= 0x10
    other = folder / "other.safetensors"
    other.write_bytes(content)
    for words in ((other, manifest), (manifest, other), (MODEL, other)):
        code, out, _ = run(*words)
        expect(code == 1 and "1 of " in out and "1 tensors differ, 12 are the same" in out, f"a flipped bit: {out!r}")
    # Manifests with other chunks still compare as wholes.
    coarse = folder / "coarse.json"
    run(MODEL, "-o", coarse)
    expect(run(manifest, coarse)[0] == 0, "manifests with other chunks")
    return manifest.read_text()


def check_damage(folder, rounds):
    """Random damage: refused, or different, or in a place that does not count; never a crash."""
    r = random.Random(5)
    good, path = folder / "good.safetensors", folder / "damaged"
    for name, source in (("safetensors", safetensors(GOOD, TWENTY)), ("npy", npy(HEADER, EIGHT))):
        good = folder / f"intact.{name}"
        good.write_bytes(source)
        header_end = len(source) - (20 if name == "safetensors" else 8)
        for _ in range(rounds):
            b = bytearray(source)
            kind = r.randrange(3)
            if kind == 0:
                b[r.randrange(len(b))] ^= 1 << r.randrange(8)
            elif kind == 1:
                del b[r.randrange(len(b)):]
            else:
                at = r.randrange(len(b))
                b[at:at] = bytes(r.randrange(256) for _ in range(r.randrange(1, 9)))
            path.write_bytes(b)
            code, out, err = run(good, path)
            data_hit = bytes(b[header_end:]) != source[header_end:] and len(b) == len(source)
            expect(code in (0, 1, 2), f"damage {bytes(b)!r}: exit {code}")
            expect(not (code == 0 and data_hit), f"damaged data taken for the same: {bytes(b)!r}")


def check_usage(folder):
    for words in ((), ("a", "b", "c"), ("a", "--chunk", "17"), ("a", "--chunk", "x"), ("a", "--threads", "0"),
                  ("a", "--threads"), ("a", "--what"), ("a", "b", "-o", "c"), (folder / "missing", )):
        code, out, err = run(*words)
        expect(code == 2 and out == "" and err.startswith("fingerprint_tensors: "), f"usage {words}: {code}, {err!r}")
    code, out, _ = run("--help")
    expect(code == 0 and "Exit status" in out, "help")


def main():
    program = {}
    text = pathlib.Path(DOCS).read_text(encoding="utf-8")
    exec(compile(re.search(r"```python\n(.*?)```", text, re.S).group(1), DOCS, "exec"), program)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_digests(folder, program)
        manifest = check_model(folder)
        check_refusals(folder, BROKEN_SAFETENSORS, "broken.safetensors", None)
        check_refusals(folder, BROKEN_SAFETENSORS[:3] + BROKEN_SAFETENSORS[-8:], "broken.safetensors", MODEL)
        check_refusals(folder, BROKEN_NPY, "broken.npy", None)
        check_refusals(folder, broken_manifests(manifest), "broken.json", MODEL)
        check_damage(folder, 150)
        check_usage(folder)
    print(f"{len(FAILED)} failures")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
