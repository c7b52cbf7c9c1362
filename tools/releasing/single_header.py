# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One header that holds isobit's: for Compiler Explorer and for trying things out. The tree of headers is the truth.

Each include of an isobit header is replaced by that header's text where it stands, and the text has a guard of its own.
A header that was already put in without a condition is not put in again, so the result means what the tree means.
"""
import re

INCLUDE = re.compile(r"^\s*#\s*include\s+<(isobit/[\w./]+)>.*\n", re.M)
DIRECTIVE = re.compile(r"^\s*#\s*(\w+)")
# Not part of it: what needs other libraries, nvcc's launch syntax, files, or tests.
LEFT_OUT = ("device/", "interop/", "simt/", "testing/", "trace/", "trace.hpp")


class Writer:
    def __init__(self, include):
        self.include = include
        self.always = set()  # headers put in where no condition can leave them out
        self.open = []       # headers being put in
        self.lines = []

    def guard(self, name):
        return "ISOBIT_ONE_" + re.sub(r"\W", "_", name.removeprefix("isobit/")).upper()

    def put(self, name, conditions=0):
        """`conditions`: how many #if surround the place."""
        if name in self.always or name in self.open:
            return
        if conditions == 0 and not name.endswith(".inc"):
            self.always.add(name)
        text = (self.include / name).read_text()
        self.open.append(name)
        if name.endswith(".inc"):  # text that is included several times on purpose
            self.put_text(text, conditions)
        else:
            self.lines += [f"#ifndef {self.guard(name)} // {name}", f"#define {self.guard(name)}"]
            self.put_text(text, conditions)
            self.lines.append("#endif")
        self.open.pop()

    def put_text(self, text, conditions):
        depth = 0
        for line in text.splitlines():
            directive = DIRECTIVE.match(line)
            word = directive[1] if directive else ""
            include = INCLUDE.match(line + "\n")
            if include:
                self.put(include[1], conditions + depth)
                continue
            if word == "pragma" and line.split() == ["#pragma", "once"]:
                continue
            if line.startswith("// SPDX-License-Identifier"):
                continue
            depth += {"if": 1, "ifdef": 1, "ifndef": 1, "endif": -1}.get(word, 0)
            self.lines.append(line)


def headers(include):
    base = include / "isobit"
    names = sorted(str(p.relative_to(base)) for p in base.rglob("*.hpp"))
    return ["isobit/" + n for n in names if not n.startswith(LEFT_OUT)]


def version(include):
    """("0.1.0", 1): the release and the bits version."""
    text = (include / "isobit" / "version.hpp").read_text()
    parts = [re.search(rf"#define ISOBIT_VERSION_{p} (\d+)", text)[1] for p in ("MAJOR", "MINOR", "PATCH")]
    return ".".join(parts), int(re.search(r"int bits_version = (\d+);", text)[1])


def single_header(include):
    release, bits = version(include)
    writer = Writer(include)
    for name in headers(include):
        writer.put(name)
    writer.lines += ["", "#if defined(ISOBIT_WITH_SIMT) // runs kernels on the CPU"]
    writer.put("isobit/simt/cuda.hpp", conditions=1)
    writer.lines.append("#endif")
    return f"""// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// isobit {release}, bits version {bits}, in one header, made by tools/release from the tree of headers: do not edit, and do
// not include it together with that tree. It holds every header but those of device/, interop/, testing/ and trace/.
// With ISOBIT_WITH_SIMT defined before the first include it also runs kernels on the CPU (g++ and clang++, -pthread).
""" + "\n".join(writer.lines) + "\n"
