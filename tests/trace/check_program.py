# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""trace_compare as its users run it: exit status, texts, JSON; on traces of the toy training loop and on broken ones.

  check_program.py TRACE_COMPARE TRACED_TRAINING
"""
import json
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, TRAINING = sys.argv[1:3]
EVENT = ('{"isobit_trace":1,"rank":0,"iteration":%d,"microbatch":0,"sequence":%d,"kind":"op","name":"%s","scope":"s",'
         '"occurrence":0,"in":[],"out":[{"name":"y","dtype":"f32","shape":[4],"count":4,"digest":"%016x"}]}\n')


def compare(*args):
    done = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


class Program(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keep = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.keep.name)
        for name, *options in (("good",), ("again",), ("bad", "--fault")):
            subprocess.run([TRAINING, str(cls.folder / name), *options], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.keep.cleanup()

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def test_same(self):
        code, out, err = compare(self.folder / "good", self.folder / "again")
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(out.startswith("SAME  240 events of 4 rank(s)"), out)
        self.assertNotIn("\033", out)

    def test_diverged(self):
        code, out, err = compare(self.folder / "good", self.folder / "bad")
        self.assertEqual((code, err), (1, ""))
        for text in ("DIVERGED", "rank 1  origin  iteration 0, microbatch 1: op layers.1 / wgrad #0", "chunk 0 of 32",
                     "element 11 of", "1 unit in the last place", "A  0x", "received through this collective from rank 1",
                     "Next  Other ranks ran the same operation"):
            self.assertIn(text, out)
        self.assertLess(out.index("rank 1  origin"), out.index("rank 0  receiver"))

    def test_without_bytes(self):
        code, out, _ = compare(self.folder / "good", self.folder / "bad", "--no-bytes")
        self.assertEqual(code, 1)
        self.assertIn("chunk 0 of 32", out)
        self.assertIn("the bytes are not at hand", out)

    def test_json(self):
        code, out, err = compare(self.folder / "good", self.folder / "bad", "--json")
        self.assertEqual((code, err), (1, ""))
        result = json.loads(out)
        self.assertEqual(result["result"], "diverged")
        self.assertEqual(result["conclusion"], "few_ranks")
        first = next(r for r in result["ranks"] if r["rank"] == 1)["first"]
        self.assertEqual((first["kind"], first["name"], first["scope"], first["element"], first["ulps"]),
                         ("origin", "wgrad", "layers.1", 11, 1))
        code, out, _ = compare(self.folder / "good", self.folder / "again", "--json")
        self.assertEqual((code, json.loads(out)["result"]), (0, "same"))

    def test_colours_on_a_terminal(self):
        master, slave = pty.openpty()
        process = subprocess.Popen([PROGRAM, str(self.folder / "good"), str(self.folder / "bad")], stdout=slave, stderr=slave,
                                   env={k: v for k, v in os.environ.items() if k != "NO_COLOR"})
        os.close(slave)
        seen = b""
        try:
            while part := os.read(master, 4096):
                seen += part
        except OSError:
            pass
        self.assertEqual(process.wait(), 1)
        self.assertIn(b"\033[1;31mDIVERGED", seen)

    def test_malformed(self):
        good = EVENT % (0, 0, "a", 1) + EVENT % (0, 1, "b", 2)
        a = self.write("a.jsonl", good)
        cases = [
            ("cut", good[:-9], ":2: the last line has no end"),
            ("noise", "not json\n", ":1: byte 1"),
            ("field", good.replace('"out"', '"uot"', 1), ':1: byte'),
            ("version", good.replace('"isobit_trace":1', '"isobit_trace":2'), ":1: byte 18: schema version 1 expected"),
            ("mixed", good + '{"schema_version":1,"seq":2,"rank":0,"iteration":0,"kind":"op","name":"c","payload":'
                             '{"id":"aten:c:0","out":[]}}\n', ":3: the per-op layout in a trace of the isobit layout"),
            ("twice", good + EVENT % (0, 2, "a", 1), ":3: the same name as in"),
            ("sequence", good + EVENT % (0, 1, "c", 1), ":3: the same sequence number as in"),
            ("empty", "", ": no event in this trace"),
            ("blank", good + "\n", ":3: an empty line"),
            ("utf8", good.encode().replace(b'"s"', b'"\xff"', 1), "not UTF-8"),
            ("count", good.replace('"count":4', '"count":5', 1), "not the product"),
            ("huge", good.replace('"count":4', '"count":99999999999999999999', 1), "too large"),
            ("path", good.replace('"digest"', '"data":"../x","digest"', 1), "within the trace's folder"),
        ]
        for name, text, message in cases:
            b = self.write(name + ".jsonl", text)
            for pair in ((a, b), (b, a)):
                code, out, err = compare(*pair)
                self.assertEqual((code, out), (2, ""), name)
                self.assertIn(str(b), err, name)
                self.assertIn(message, err, name)

    def test_nothing_to_compare(self):
        text = (EVENT % (0, 0, "a", 1)).replace("%016x" % 1, "skipped_oversize")
        code, out, err = compare(self.write("n1.jsonl", text), self.write("n2.jsonl", text))
        self.assertEqual((code, out), (2, ""))
        self.assertIn("nothing was compared", err)

    def test_wrong_use(self):
        for args in ((), ("one",), ("one", "two", "three"), ("one", "two", "--what"), ("one", "two", "--html")):
            code, out, err = compare(*args)
            self.assertEqual((code, out), (2, ""), args)
            self.assertTrue(err.startswith("trace_compare: "), err)
        self.assertIn("cannot be opened", compare("/nonexistent/a", "/nonexistent/b")[2])
        self.assertEqual(compare("--help")[0], 0)

    def test_a_missing_rank_and_a_missing_iteration(self):
        for gone, text in (("rank00003*", "rank 3  missing"), ("*iter000002*", "missing in B, on ranks 0, 1, 2, 3")):
            copy = self.folder / "copy"
            shutil.copytree(self.folder / "good", copy)
            for path in copy.glob(gone):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            code, out, _ = compare(self.folder / "good", copy)
            shutil.rmtree(copy)
            self.assertEqual(code, 1)
            self.assertIn(text, out)

    def test_kept_bytes_that_are_not_those_of_the_digest(self):
        for name in ("good", "bad"):
            shutil.copytree(self.folder / name, self.folder / (name + "2"))
        changed = self.folder / "bad2" / "rank00001_iter000000_data"
        out_of_wgrad = sorted(changed.glob("14_out0"))
        self.assertEqual(len(out_of_wgrad), 1)
        out_of_wgrad[0].write_bytes(bytes(len(out_of_wgrad[0].read_bytes())))
        code, out, _ = compare(self.folder / "good2", self.folder / "bad2")
        self.assertEqual(code, 1)
        self.assertIn("not those that the digest was made of", out)
        # Equal digests, other bytes: never "same".
        other = self.folder / "good2" / "rank00000_iter000000_data" / "0_out0"
        other.write_bytes(bytes(len(other.read_bytes())))
        code, out, _ = compare(self.folder / "good", self.folder / "good2")
        self.assertEqual(code, 1)
        self.assertIn("contradiction", out)

    def test_no_escape_sequence_reaches_the_terminal(self):
        a, b = ((EVENT % (0, 0, "a\\u001b[31m<b>", d)) for d in (1, 2))
        page = self.folder / "escape.html"
        code, out, _ = compare(self.write("e1.jsonl", a), self.write("e2.jsonl", b), "--html", page)
        self.assertEqual(code, 1)
        self.assertNotIn("\033", out)
        self.assertNotIn("<b>[", page.read_text().replace("<b>origin", ""))
        self.assertIn("&lt;b&gt;", page.read_text())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
