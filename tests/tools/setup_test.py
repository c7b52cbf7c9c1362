# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tools/setup on machines that lack things: a PATH of our own making, with a stand-in for apt-get."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SETUP = pathlib.Path(__file__).resolve().parents[2] / "tools" / "setup"
SYSTEM = "bash cat cmake cut env git grep head id mktemp printf python3 rm sed sort tail uname clang++".split()
COMPILER = "g++".split()

# Puts a working ninja (the real one) into its own folder when asked for ninja-build; fails for clang.
APT = """#!/bin/sh
echo "$@" >> "$0.log"
case "$*" in
  *clang*) exit 100 ;;
  *ninja-build*) ln -sf {ninja} "$(dirname "$0")/ninja" ;;
esac
"""


class Setup(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.bin = pathlib.Path(self.folder.name)
        self.add(*SYSTEM, *COMPILER, "ninja")

    def tearDown(self):
        self.folder.cleanup()

    def add(self, *names):
        for name in names:
            found = shutil.which(name)
            if found and not (self.bin / name).exists():
                # A wrapper, not a link: a compiler looks for its parts beside its own name.
                (self.bin / name).write_text(f'#!/bin/sh\nexec {found} "$@"\n')
                (self.bin / name).chmod(0o755)

    def add_apt(self):
        ninja = shutil.which("ninja")
        (self.bin / "apt-get").write_text(APT.format(ninja=ninja))
        (self.bin / "apt-get").chmod(0o755)
        self.add("dirname", "ln", "sh")
        if os.getuid() != 0:
            (self.bin / "sudo").write_text('#!/bin/sh\n[ "$1" = -n ] && shift\nexec "$@"\n')
            (self.bin / "sudo").chmod(0o755)

    def run_setup(self, *purposes):
        env = {"PATH": str(self.bin), "HOME": self.folder.name, "TMPDIR": self.folder.name}
        done = subprocess.run([str(self.bin / "bash"), str(SETUP), *purposes], env=env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr

    def test_nothing_missing_installs_nothing(self):
        self.add_apt()
        code, out, err = self.run_setup("build")
        self.assertEqual((code, err), (0, ""), out)
        self.assertEqual(out, "setup: all that 'build' needs is here\n")
        self.assertFalse((self.bin / "apt-get.log").exists())

    def test_missing_without_apt_lists_and_stops(self):
        (self.bin / "ninja").unlink()
        (self.bin / "g++").unlink()
        code, out, err = self.run_setup("build")
        self.assertEqual(code, 1)
        self.assertIn("no apt-get", err)
        self.assertIn("- ninja", err)
        self.assertIn("- g++ 12 or newer", err)

    def test_missing_with_apt_is_installed_and_named(self):
        self.add_apt()
        (self.bin / "ninja").unlink()
        code, out, err = self.run_setup("build")
        self.assertEqual(code, 0, out + err)
        self.assertIn("setup: installing with apt-get: ninja-build\n", out)
        self.assertIn("install -y", (self.bin / "apt-get.log").read_text())

    def test_useful_package_that_cannot_be_had_does_not_stop(self):
        self.add_apt()
        (self.bin / "clang++").unlink(missing_ok=True)
        (self.bin / "ninja").unlink()
        code, out, err = self.run_setup("test")
        self.assertEqual(code, 0, out + err)
        self.assertIn("going on without clang++", out)

    def test_needed_package_that_cannot_be_had_stops(self):
        self.add_apt()
        (self.bin / "cmake").unlink()
        code, out, err = self.run_setup("build")
        self.assertEqual(code, 1)
        self.assertIn("apt-get could not provide", err)
        self.assertIn("cmake 3.25 or newer", err)

    def test_old_cmake_is_named(self):
        (self.bin / "cmake").write_text("#!/bin/sh\necho cmake version 3.22.1\n")
        code, out, err = self.run_setup("build")
        self.assertEqual(code, 1)
        self.assertIn("cmake is 3.22.1, but isobit needs 3.25", err)

    def test_unknown_purpose(self):
        self.assertNotEqual(self.run_setup("cook")[0], 0)


if __name__ == "__main__":
    unittest.main()
