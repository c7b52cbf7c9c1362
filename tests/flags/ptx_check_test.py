#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tools/ptx_check: its rules on PTX text (needs no nvcc), and with --device on compiled kernels, with the controls."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOL = HERE.parent.parent / "tools" / "ptx_check"

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


def check_device():
    status, output = run("--flags", HERE / "device" / "operations.cu")
    expect(status == 0 and " 0 complaints" in output, output)
    status, output = run("--flags", HERE / "device" / "unguarded.cu")
    for reason in ("no .rn", ".ftz", "div.approx", "other instructions than by default"):
        expect(status == 1 and reason in output, f"the control does not show '{reason}'")
    status, output = run("--resources", "--arch", "90", HERE / "device" / "operations.cu")
    expect(status == 0 and "transforms_f32" in output and "sm_90" in output, output)


failures = 0
check_device() if "--device" in sys.argv[1:] else check_rules()
print(f"ptx_check_test: {failures} failures")
sys.exit(1 if failures else 0)
