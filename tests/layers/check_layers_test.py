# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Negative controls of tools/check_layers: each wrong tree must fail, with the line that names what is wrong."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_layers"
HEAD = "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n//! \\file\n//! Test.\n#pragma once\n"
RIGHT = {
    "config.hpp": HEAD,
    "bits/cast.hpp": HEAD + "#include <isobit/config.hpp>\n",
    "arith/op.hpp": HEAD + "#include <isobit/bits/cast.hpp>\n// #include <isobit/testing/gate.hpp>\n",
    "algo/reduce.hpp": HEAD + "/* #include <isobit/simt/a.hpp>\n*/\n#include <isobit/arith/op.hpp>\n",
    "simt/a.hpp": HEAD + "#include <isobit/algo/reduce.hpp>\n#include <cuda/std/span>\n",
    "testing/gate.hpp": HEAD + "#include <isobit/reduce.hpp>\n",
    "reduce.hpp": HEAD + "#include <isobit/algo/reduce.hpp>\n",
}


def run(changes):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**RIGHT, **changes}.items():
            path = pathlib.Path(folder, "include", "isobit", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, TOOL, "--root", folder], capture_output=True, text=True)
        return done.returncode, done.stdout


class CheckLayers(unittest.TestCase):
    def fails(self, changes, *texts):
        code, out = run(changes)
        self.assertEqual(code, 1, out)
        for text in texts:
            self.assertIn(text, out)

    def test_right_tree_passes(self):
        code, out = run({})
        self.assertEqual(code, 0, out)

    def test_upward_include(self):
        self.fails({"bits/cast.hpp": HEAD + "\n#include <isobit/arith/op.hpp>\n"},
                   "bits/cast.hpp:6: bits must not include arith", "include cycle")

    def test_equal_level(self):
        self.fails({"accum/a.hpp": HEAD, "format/f.hpp": HEAD + "#include <isobit/accum/a.hpp>\n"},
                   "format must not include accum")

    def test_trace_is_above_algo_and_beside_the_simulator(self):
        right = {"trace/log.hpp": HEAD + "#include <isobit/algo/reduce.hpp>\n", "trace.hpp": HEAD + "#include <isobit/trace/log.hpp>\n"}
        code, out = run(right)
        self.assertEqual(code, 0, out)
        self.fails({"trace/log.hpp": HEAD + "#include <isobit/simt/a.hpp>\n"}, "trace must not include simt")
        self.fails({"trace/log.hpp": HEAD + "#include <isobit/testing/gate.hpp>\n"}, "trace must not include testing")

    def test_job_is_above_the_layers(self):
        self.fails({"device/d.hpp": HEAD + "#include <isobit/reduce.hpp>\n"}, "device must not include jobs")

    def test_testing_is_included_by_nothing(self):
        self.fails({"reduce.hpp": HEAD + "#  include <isobit/testing/gate.hpp>\n"}, "jobs must not include testing")

    def test_cycle_within_a_folder(self):
        self.fails({"bits/a.hpp": HEAD + "#include <isobit/bits/b.hpp>\n",
                    "bits/b.hpp": HEAD + "#include <isobit/bits/a.hpp>\n"},
                   "include cycle: bits/a.hpp -> bits/b.hpp -> bits/a.hpp")

    def test_head_of_the_file(self):
        self.fails({"bits/cast.hpp": "#include <isobit/config.hpp>\n"},
                   "not the SPDX line", "no #pragma once", "no '//! \\file'")

    def test_heavy_include_in_the_core(self):
        self.fails({"group/tile.hpp": HEAD + "#include <cooperative_groups.h>\n"}, "too heavy for the core")

    def test_form_of_the_include(self):
        self.fails({"arith/op.hpp": HEAD + '#include "cast.hpp"\n'}, 'must be included as <isobit/...>')
        self.fails({"arith/op.hpp": HEAD + "#include <isobit/bits/none.hpp>\n"}, "does not exist")

    def test_hpp_includes_cuh(self):
        self.fails({"device/k.cuh": HEAD, "device/d.hpp": HEAD + "#include <isobit/device/k.cuh>\n"}, "needs nvcc")

    def test_unknown_folder(self):
        self.fails({"extra/x.hpp": HEAD}, "this folder is no layer")

    def test_empty_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(subprocess.run([sys.executable, TOOL, "--root", folder], capture_output=True).returncode, 1)


if __name__ == "__main__":
    unittest.main()
