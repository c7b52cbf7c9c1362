# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tools/release in a repository of our own making: what it refuses, what it makes, and what its links hold."""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.dont_write_bytecode = True
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))
from releasing import explorer  # noqa: E402

URL = "https://example.org/isobit.hpp"
GIT = {**os.environ, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a",
       "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
CHANGELOG = """# Changelog

## 0.2.0 (2026-01-02), bits version 1

### Added
- A thing.

### Bits
- No change.
"""


class Release(unittest.TestCase):
    """A small isobit 0.2.0, committed, with every file that tools/release looks at."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name) / "isobit"
        ignore = shutil.ignore_patterns("__pycache__")
        for name in ("include", "vcpkg", "cmake", "tools/releasing", "tests/golden"):
            shutil.copytree(REPOSITORY / name, self.root / name, ignore=ignore)
        shutil.copy(REPOSITORY / "tools/release", self.root / "tools")
        (self.root / "README.md").write_text("Version 0.2.\n")
        (self.root / "CHANGELOG.md").write_text(CHANGELOG)
        self.edit("include/isobit/version.hpp", r"MINOR \d+", "MINOR 2")
        self.edit("include/isobit/version.hpp", r"PATCH \d+", "PATCH 0")
        self.edit("vcpkg/ports/isobit/vcpkg.json", r'"version": ".*"', '"version": "0.2.0"')
        self.git("init", "-q")
        self.commit()

    def edit(self, name, old, new):
        text = (self.root / name).read_text()
        self.assertRegex(text, old)
        (self.root / name).write_text(re.sub(old, new, text))

    def git(self, *arguments):
        subprocess.run(["git", "-C", str(self.root), *arguments], check=True, env=GIT)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")

    def release(self, *arguments):
        done = subprocess.run([sys.executable, str(self.root / "tools/release"), *map(str, arguments)], env=GIT,
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def refused(self, sentence, *arguments):
        code, output = self.release(*(arguments or ["--check"]))
        self.assertEqual(code, 1, output)
        self.assertRegex(output, sentence)
        self.assertRegex(output, r"(?m)^1 fault:", output)

    def test_check_accepts(self):
        self.assertEqual(self.release("--check")[0], 0)
        self.edit("CHANGELOG.md", r"## 0.2.0 \(.*\)", "## Unreleased: 0.2.0")
        self.assertEqual(self.release("--check")[0], 0)

    def test_versions_must_agree(self):
        self.edit("vcpkg/ports/isobit/vcpkg.json", "0.2.0", "0.1.0")
        self.refused("vcpkg.json has version 0.1.0")
        self.edit("vcpkg/ports/isobit/vcpkg.json", "0.1.0", "0.2.0")
        self.edit("README.md", "0.2", "0.1")
        self.refused("README.md says version 0.1")
        self.edit("README.md", "0.1", "0.2")
        self.edit("CHANGELOG.md", "## 0.2.0", "## 0.2.1")
        self.refused("CHANGELOG.md: .*version.hpp has 0.2.0")

    def test_changelog_must_say_something(self):
        self.edit("CHANGELOG.md", "- .*", "")
        self.refused("nothing is listed")
        (self.root / "CHANGELOG.md").write_text(CHANGELOG.replace("### Bits", "### Other"))
        self.refused("has no '### Bits'")
        (self.root / "CHANGELOG.md").write_text(CHANGELOG.replace("## 0.2.0 (", "## 0.2.0 ["))
        self.refused("should be '## X.Y.Z")
        (self.root / "CHANGELOG.md").write_text(CHANGELOG + "\n## 0.3.0 (2025-01-01), bits version 1\n- A.\n")
        self.refused("0.2.0 stands above 0.3.0")

    def test_bits_need_a_release_that_is_not_a_patch(self):
        (self.root / "CHANGELOG.md").write_text(CHANGELOG + "\n## 0.2.0 (2025-01-01), bits version 0\n- A.\n")
        self.edit("include/isobit/version.hpp", "PATCH 0", "PATCH 1")
        self.edit("vcpkg/ports/isobit/vcpkg.json", "0.2.0", "0.2.1")
        self.edit("CHANGELOG.md", "## 0.2.0 .2026", "## 0.2.1 (2026")
        self.refused("bits version changes from 0 to 1 in a patch release")

    def test_one_namespace(self):
        self.edit("include/isobit/bits/cast.hpp", "inline bits1", "inline bits2")
        self.refused("cast.hpp: namespace bits2, but the bits version is 1")

    def test_golden_values_of_the_last_release_stay(self):
        self.git("tag", "v0.1.0")
        golden = self.root / "tests/golden/digest.hpp"
        golden.write_text(golden.read_text() + "// one more line\n")
        self.assertEqual(self.release("--check")[0], 0)
        golden.write_text("// " + golden.read_text())
        self.refused("digest.hpp: lines of v0.1.0 are changed or gone")

    def test_a_release_is_committed_dated_and_new(self):
        out = pathlib.Path(self.folder.name) / "out"
        (self.root / "README.md").write_text("Version 0.2!\n")
        self.refused("not committed", out)
        self.assertFalse(out.exists())
        self.commit()
        self.git("tag", "v0.2.0")
        self.refused("the tag v0.2.0 exists", out)
        self.git("tag", "-d", "v0.2.0")
        self.edit("CHANGELOG.md", r"## 0.2.0 \(.*\)", "## Unreleased: 0.2.0")
        self.commit()
        self.refused("'## Unreleased: 0.2.0, bits version 1' should be", out)
        self.assertEqual(self.release(out, "--draft")[0], 0)

    def test_the_same_commit_gives_the_same_bytes(self):
        folders = [pathlib.Path(self.folder.name) / name for name in ("one", "two")]
        for folder in folders:
            code, output = self.release(folder, "--url", URL)
            self.assertEqual(code, 0, output)
        sums = [(f / "SHA256SUMS").read_text() for f in folders]
        self.assertEqual(*sums)
        names = {line.split()[1] for line in sums[0].splitlines()}
        self.assertEqual(names, {"isobit-0.2.0.tar.gz", "isobit.hpp", "compiler_explorer.md"})
        for line in sums[0].splitlines():
            digest, name = line.split()
            self.assertEqual(hashlib.sha256((folders[0] / name).read_bytes()).hexdigest(), digest)
        with tarfile.open(folders[0] / "isobit-0.2.0.tar.gz") as archive:
            self.assertIn("isobit-0.2.0/include/isobit/reduce.hpp", archive.getnames())
        self.assertRegex(output, "SHA512 [0-9a-f]{128}")

        # Each link holds its program, for an address of ours; the programs run with the header that was made.
        links = re.findall(r"\((https://[^)]*)\)", (folders[0] / "compiler_explorer.md").read_text())
        self.assertEqual(len(links), len(explorer.PAGES))
        for link, (program, _, language, compilers) in zip(links, explorer.PAGES):
            self.assertLess(len(link), 8000)
            (pane,) = explorer.decode(link)["sessions"]
            self.assertEqual(pane["language"], language)
            self.assertEqual(pane["source"].count(f"#include <{URL}>"), 1)
            self.assertEqual(len(pane["compilers"]) + len(pane["executors"]), len(compilers))
            if pane["executors"]:
                self.runs(pane, folders[0])
        with self.assertRaises(ValueError):
            explorer.decode(links[0][:-2] + "!")

    def runs(self, pane, folder):
        source = pane["source"].replace(f"<{URL}>", '"isobit.hpp"')
        (folder / "program.cpp").write_text(source)
        options = pane["executors"][0]["compiler"]["options"].split()
        subprocess.run(["g++", *options, "program.cpp", "-o", "program"], cwd=folder, check=True)
        lines = subprocess.run([folder / "program"], check=True, capture_output=True, text=True).stdout.splitlines()
        if "threads" in source:
            self.assertEqual(len(lines), 6)
            self.assertEqual(len({line.split()[-1] for line in lines}), 1, lines)
        else:
            exact, textbook, isobit = (line.split()[-1] for line in lines)
            self.assertEqual(exact, isobit)
            self.assertNotEqual(exact, textbook)


if __name__ == "__main__":
    if shutil.which("git") is None:
        print("no git: not run")
        sys.exit(77)
    unittest.main()
