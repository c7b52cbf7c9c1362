#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tools/ptx_check: its rules on PTX and SASS text (needs no nvcc), and on compiled kernels, with the controls: with --device
their PTX, with --sass their SASS too (needs nvdisasm)."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOL = HERE.parent.parent / "tools" / "ptx_check"
sys.path.insert(0, str(TOOL.parent))
import sass  # noqa: E402

GOOD = """
.version 9.0
.target sm_90
.visible .entry good(.param .u64 p)
{
\t.reg .f32 %f<5>;
$L_again:
\tld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
\t// add.f32 in a comment is no instruction
\tadd.rn.f32 %f1, %f1, %f2;
\t@%p1 fma.rn.f32 %f1, %f1, %f2, %f3;
\t{add.rn.f64 %fd1, %fd1, %fd2;}
\tabs.f32 %f1, %f2;
\tsetp.lt.f32 %p1, %f1, %f2;
\tcvt.rn.f16.f32 %rs1, %f1;
\tatom.global.add.u32 %r1, [%rd1], 1;
\tmad.lo.s32 %r1, %r1, %r2, %r3;
\tadd.s32 %r1, %r1, %r2;
\tret;
}
"""
BAD = [("add.f32 %f1, %f2, %f3;", "no .rn"), ("@%p3 mul.f32 %f1, %f2, %f3;", "no .rn"), ("{sub.f64 %fd1, %fd2, %fd3;}", "no .rn"),
       ("add.rn.ftz.f32 %f1, %f2, %f3;", ".ftz"), ("setp.lt.ftz.f32 %p1, %f2, %f3;", ".ftz"), ("cvt.ftz.f64.f32 %fd1, %f1;", ".ftz"),
       ("div.full.f32 %f1, %f2, %f3;", ".full"), ("rsqrt.approx.f32 %f1, %f2;", ".approx"), ("ex2.approx.ftz.f32 %f1, %f2;", ".ftz"),
       ("mad.f32 %f1, %f2, %f3, %f4;", "mad"), ("fma.rz.f32 %f1, %f2, %f3, %f4;", "no .rn"), ("add.bf16x2 %r1, %r2, %r3;", "no .rn"),
       ("red.global.add.f32 [%rd1], %f1;", "a float atomic"), ("atom.shared.add.f64 %fd1, [%rd1], %fd2;", "a float atomic"),
       ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f2};", "a matrix instruction"),
       ("fancy.f32 %f1, %f2;", "does not know")]


def run(*arguments):
    ran = subprocess.run([sys.executable, str(TOOL), *map(str, arguments)], capture_output=True, text=True)
    return ran.returncode, ran.stdout + ran.stderr


def expect(condition, message):
    global failures
    if not condition:
        failures += 1
        print("FAILED", message)


def check_rules():
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "x.ptx"
        path.write_text(GOOD)
        status, output = run(path)
        expect(status == 0 and "1 functions, 0 complaints" in output, f"a good kernel: {output}")
        for instruction, reason in BAD:
            path.write_text(GOOD.replace("\tret;", "\t" + instruction + "\n\tret;"))
            status, output = run(path)
            expect(status == 1 and reason in output and "1 complaints" in output, f"{instruction}: {status} {output}")
        path.write_text(".version 9.0\n")
        expect(run(path)[0] == 2, "an empty file must not pass")
        expect(run(path.with_name("none.ptx"))[0] == 2, "a missing file must not pass")


# As nvdisasm prints it.
SASS = """
	.section	.text.kernel,"ax",@progbits
.text.kernel:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   FADD R0, R2.reuse, -R3 ;
        /*0020*/              @!P0 FMUL R0, R2, R3 ;
        /*0030*/                   HFMA2.MMA R9, -RZ, RZ, 0, 0 ;
.L_x_0:
        /*0040*/                   BRA `(.L_x_0);
        /*0050*/                   NOP;
	.section	.nv.info,"",@"SHT_CUDA_INFO"
        /*0000*/ 	.byte	0x04, 0x2f
"""


def check_sass_rules():
    """What a kernel may have depends on its PTX, and on what ptxas makes of each operation of it (`spelt`)."""
    good = sass.kernels(SASS)["kernel"]
    expect(len(good) == 5, f"instructions of the SASS: {good}")
    spelt = {"fma.rn.f32": {"FFMA"}, "sqrt.rn.f32": {"FFMA", "FMUL.FTZ"}, "div.u32": {"F2I.FTZ"}}
    expect(not sass.complaints(good, {"add.rn.f32", "mul.rn.f32"}, spelt), "a good kernel")
    for instruction, fine_with in (("FFMA R0, R1, R2, R3", "fma.rn.f32"), ("@P1 FFMA.FTZ R0, R1, R2, R3", None),
                                   ("DFMA R0, R2, R4, R6", None), ("FFMA.RZ R0, R1, R2.reuse, R3", "sqrt.rn.f32"),
                                   ("HFMA2 R0, R1, R2, R3", None), ("HFMA2.BF16_V2 R0, R1, R2, -RZ", None),
                                   ("FFMA2 R0, R2, R4, R6", None), ("FMUL.FTZ R0, R1, R2", "sqrt.rn.f32"),
                                   ("FADD.FTZ R0, R1, R2", None), ("F2I.FTZ.U32.TRUNC.NTZ R2, R2", "div.u32"),
                                   ("FSETP.GEU.FTZ.AND P0, PT, R0, RZ, PT", None)):
        changed = sass.kernels(SASS.replace("FADD R0, R2.reuse, -R3 ;", instruction + " ;"))["kernel"]
        expect(sass.complaints(changed, {"add.rn.f32"}, spelt), f"{instruction} without a reason")
        if fine_with:
            expect(not sass.complaints(changed, {fine_with}, spelt), f"{instruction} of {fine_with}")
        expect(sass.first_difference(good, changed) == (1, good[1], instruction), f"{instruction} instead of FADD")
    expect(sass.first_difference(good, good) is None and sass.first_difference(good, good[:-1])[2] == "end", "differences")


def check_sass():
    status, output = run("--flags", "--sass", HERE / "device" / "operations.cu")
    expect(status == 0 and " 0 complaints" in output and "SASS instructions under 4 sets" in output, output)
    status, output = run("--flags", "--sass", HERE / "device" / "unguarded.cu")
    found = [line for line in output.splitlines() if ": SASS: " in line]
    unfused = "other instructions than under -fmad=false"
    for kernel, flags, reason in (("fused", "default", unfused), ("fused_by_ptxas", "default", unfused),
                                  ("fused", "-ftz=true", "no operation of its PTX has: FFMA.FTZ"),
                                  ("contracted", "-ftz=true", "no operation of its PTX has: FMUL.FTZ"),
                                  ("flushed", "--use_fast_math", ".FTZ"), ("approximated", "--use_fast_math", unfused)):
        shown = any(f"[{kernel}(" in line and f" {flags}: " in line and reason in line for line in found)
        expect(status == 1 and shown, f"the control {kernel} does not show '{reason}' under {flags}:\n{output}")
    expect(not any(" -fmad=false: " in line for line in found), f"nothing is fused under -fmad=false:\n{output}")


def check_device():
    status, output = run("--flags", HERE / "device" / "operations.cu")
    expect(status == 0 and " 0 complaints" in output, output)
    status, output = run("--flags", HERE / "device" / "unguarded.cu")
    for reason in ("no .rn", ".ftz", "div.approx", "other instructions than by default"):
        expect(status == 1 and reason in output, f"the control does not show '{reason}'")
    status, output = run("--resources", "--arch", "90", HERE / "device" / "operations.cu")
    expect(status == 0 and "transforms_f32" in output and "sm_90" in output, output)


failures = 0
if "--sass" in sys.argv[1:]:
    check_sass()
elif "--device" in sys.argv[1:]:
    check_device()
else:
    check_rules()
    check_sass_rules()
print(f"ptx_check_test: {failures} failures")
sys.exit(1 if failures else 0)
