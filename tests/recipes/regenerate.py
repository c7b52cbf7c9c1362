# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs tools/golden/exact.py again and compares with the golden file: regenerate.py SCRIPT GOLDEN [EDIT]

EDIT "from=to" changes the script first: the control, after which the file must be another one.
"""
import pathlib
import subprocess
import sys
import tempfile

script, golden = map(pathlib.Path, sys.argv[1:3])
with tempfile.TemporaryDirectory() as folder:
    copy = pathlib.Path(folder) / script.name
    text = script.read_text(encoding="utf-8")
    if len(sys.argv) > 3:
        before, after = sys.argv[3].split("=", 1)
        assert before in text, f"{script} does not contain {before!r}"
        text = text.replace(before, after)
    copy.write_text(text, encoding="utf-8")
    (copy.parent / "vectors.py").write_bytes((script.parent / "vectors.py").read_bytes())
    out = pathlib.Path(folder) / "out.txt"
    subprocess.run([sys.executable, str(copy), str(out)], check=True)
    same = out.read_bytes() == golden.read_bytes()
print("the same bytes" if same else "another file")
sys.exit(same == (len(sys.argv) > 3))
