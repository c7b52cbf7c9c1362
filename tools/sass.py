# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tools/ptx_check knows of SASS, the machine code that ptxas makes of PTX and nvdisasm prints.

Which fused multiply-adds, and which flushing instructions, did the source ask for?

- Under -fmad=false neither nvcc nor ptxas fuses: what is fused there was asked for, or belongs to an operation that the
  processor does not have and ptxas spells out (division, square root, some conversions, integer division). Under every
  other flag the SASS must be the same, instruction by instruction. (`same_instructions`)
- Of its own, a kernel may have a fused multiply-add only if its PTX has one of that type, or an operation whose
  spelling has one; and an instruction with .FTZ only if such a spelling has that instruction. The spellings are not
  listed here, but measured: each operation is assembled alone, by the same ptxas. (`spellings`, `complaints`)
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+((?:@!?\w+\s+)?[A-Z][^;]*);")
FUSED = re.compile(r"^([FDH])FMA2?(\.|$)")
# What ptxas may spell out in several instructions, fused and flushing ones among them.
SPELT_OUT = {"div", "rem", "sqrt", "rcp", "cvt", "fma"}
TYPE = re.compile(r"^(?:[usb](8|16|32|64)|f(32|64)|(bf16|f16)(x2)?)$")


def find_nvdisasm():
    """Its path: $NVDISASM, PATH, the CUDA toolkit, or the Python package nvidia-cuda-nvdisasm; else None."""
    for candidate in (os.environ.get("NVDISASM"), shutil.which("nvdisasm"), "/usr/local/cuda/bin/nvdisasm"):
        if candidate and pathlib.Path(candidate).exists():
            return candidate
    for directory in sys.path:
        for candidate in pathlib.Path(directory or ".").glob("nvidia/*/bin/nvdisasm"):
            return str(candidate)
    return None


def disassemble(nvdisasm, cubin):
    ran = subprocess.run([nvdisasm, str(cubin)], capture_output=True, text=True)
    if ran.returncode != 0:
        print(f"ptx_check: nvdisasm fails on {cubin}:\n{ran.stderr[-2000:]}", file=sys.stderr)
        os._exit(2)
    return ran.stdout


def kernels(text):
    """{mangled kernel: its instructions, without addresses}. NOP padding is left out."""
    found, name = {}, None
    for line in text.splitlines():
        section = re.match(r"\s*\.section\s+\.text\.([\w$]+)", line)
        if section:
            name = section.group(1)
            found[name] = []
        elif line.lstrip().startswith(".section"):
            name = None
        instruction = INSTRUCTION.match(line)
        if name and instruction and not instruction.group(1).startswith("NOP"):
            found[name].append(re.sub(r"\s+", " ", instruction.group(1)).strip())
    return found


def opcode(instruction):
    return re.sub(r"^@!?\w+\s+", "", instruction).split()[0]


def is_fused(instruction):
    """A fused multiply-add. HFMA2 R, -RZ, RZ, a, b is how ptxas loads a constant."""
    if not FUSED.match(opcode(instruction)):
        return False
    return not re.search(r"\s-?RZ\s*,\s*-?RZ\s*,", instruction)


def features(instructions):
    """What of these needs a reason: {"FFMA", "FADD.FTZ", ...}, without the other modifiers."""
    found = set()
    for instruction in instructions:
        name = opcode(instruction)
        base = name.split(".")[0]
        if is_fused(instruction):
            found.add(base)
        if "FTZ" in name.split("."):
            found.add(base + ".FTZ")
    return found


def bits_of(type_name):
    """The register size of a PTX type, or None."""
    match = TYPE.match(type_name)
    if not match:
        return None
    integer, floating, half, pair = match.groups()
    if half:
        return 32 if pair else 16
    return max(int(integer or floating), 16)


def probe(name, operation):
    """A PTX kernel that does the operation on numbers from memory, or None where its operands are not simple."""
    parts = operation.split(".")
    types = [p for p in parts[1:] if TYPE.match(p)]
    if parts[0] == "cvt":
        if len(types) != 2:
            return None
        result, inputs = bits_of(types[0]), [bits_of(types[1])]
    else:
        if len(types) != 1:
            return None
        result = bits_of(types[0])
        inputs = [result] * {"div": 2, "rem": 2, "sqrt": 1, "rcp": 1, "fma": 3}[parts[0]]
    loads = "".join(f"  ld.global.b{b} %i{k}, [%p+{8 * k}];\n" for k, b in enumerate(inputs))
    registers = "".join(f"  .reg .b{b} %i{k};\n" for k, b in enumerate(inputs))
    names = ", ".join(f"%i{k}" for k in range(len(inputs)))
    return (f".visible .entry {name}(.param .u64 p)\n{{\n  .reg .b64 %p;\n  .reg .b{result} %o;\n{registers}"
            f"  ld.param.u64 %p, [p];\n  cvta.to.global.u64 %p, %p;\n{loads}"
            f"  {operation} %o, {names};\n  st.global.b{result} [%p+64], %o;\n  ret;\n}}\n")


def spellings(operations, ptx_header, assemble):
    """{operation: features of what ptxas makes of it}; `assemble(ptx text)` gives SASS text."""
    wanted = sorted(o for o in set(operations)
                    if o.split(".")[0] in SPELT_OUT and not {"ftz", "approx", "full"} & set(o.split(".")))
    probes = {o: probe(f"probe_{k}", o) for k, o in enumerate(wanted)}
    names = {o: f"probe_{k}" for k, o in enumerate(wanted) if probes[o]}
    if not names:
        return {}
    made = kernels(assemble(ptx_header + "\n" + "\n".join(probes[o] for o in names)))
    return {o: features(made[name]) for o, name in names.items()}


def complaints(instructions, operations, spelt):
    """[(reason, instruction)] for one kernel, whose PTX has these operations."""
    allowed = set().union(*(spelt.get(o, set()) for o in operations))
    found = []
    for instruction in instructions:
        for feature in sorted(features([instruction]) - allowed):
            reason = ".FTZ that no operation of its PTX has" if feature.endswith(".FTZ") else "fused, but no operation of its PTX is"
            found.append((reason, instruction))
    return found


def first_difference(a, b):
    """None where the instructions are the same, else (index, one, other)."""
    if a == b:
        return None
    where = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return where, a[where] if where < len(a) else "end", b[where] if where < len(b) else "end"


def counts(text):
    """{mangled kernel: (instructions, 16-byte global loads, instructions of the hot loop per such load or None)}.

    NOP padding is left out. A loop is what lies between a label and a later branch back to it; the hot loop is the one
    with the fewest instructions for each 16-byte load. All paths through it count, so this is an upper bound."""
    found, name, labels, wide_before, loops = {}, None, {}, [0], []
    for line in text.splitlines():
        section = re.match(r"\s*\.section\s+\.text\.([\w$]+)", line)
        if section:
            name, labels, wide_before, loops = section.group(1), {}, [0], []
        label = re.match(r"(\.L_x_\d+):", line)
        if label:
            labels[label.group(1)] = len(wide_before) - 1
        instruction = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?\w+\s+)?([A-Z][\w.]*)", line)
        if not name or not instruction or instruction.group(1) == "NOP":
            continue
        wide = bool(re.match(r"LDG?\.E(\.\w+)*\.(128|256)", instruction.group(1)))
        wide_before.append(wide_before[-1] + wide)
        back = re.search(r"BRA.*`\((\.L_x_\d+)\)", line)
        if back and back.group(1) in labels:
            begin, end = labels[back.group(1)], len(wide_before) - 1
            loads = wide_before[end] - wide_before[begin]
            if loads:
                loops.append(round((end - begin) / loads, 1))
        found[name] = (len(wide_before) - 1, wide_before[-1], min(loops, default=None))
    return found
