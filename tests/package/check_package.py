# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives isobit to a consumer's project (tests/package/consumer) in one of the ways that README names, builds it, runs it.

  check_package.py find_package|add_subdirectory|fetch_content|fetch_content_installed|vcpkg|conan|controls

`vcpkg` runs the port by a stand-in for vcpkg's functions (vcpkg_stub.cmake); `conan` needs conan 2 and is skipped
without it. `controls`: requests that must be refused (a version that is not there, a component that does not exist).
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]


class Failed(Exception):
    pass


def run(*command, env=None, cwd=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=env, cwd=cwd)
    if done.returncode:
        raise Failed(f"$ {' '.join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def install(work):
    """isobit's install tree; it must be all relative, so that it can be moved."""
    prefix = work / "installed"
    run("cmake", "-S", REPOSITORY, "-B", work / "isobit", "-G", "Ninja", "-DISOBIT_BUILD_TESTS=OFF",
        "-DISOBIT_BUILD_EXAMPLES=OFF", "-DISOBIT_BUILD_BENCH=OFF", f"-DCMAKE_INSTALL_PREFIX={prefix}")
    run("cmake", "--install", work / "isobit")
    expected = {p.relative_to(REPOSITORY / "include") for p in (REPOSITORY / "include").rglob("*")
                if p.is_file()}
    installed = {p.relative_to(prefix / "include") for p in (prefix / "include").rglob("*") if p.is_file()}
    if expected != installed:
        raise Failed(f"installed headers differ from the repository's: {sorted(map(str, expected ^ installed))}")
    for path in (prefix / "share").rglob("*.cmake"):
        if str(REPOSITORY) in path.read_text() or str(prefix) in path.read_text():
            raise Failed(f"{path.name} names a folder of the machine that built it")
    moved = work / "moved"
    prefix.rename(moved)
    return moved


def consume(work, how, *options):
    build = work / "consumer"
    run("cmake", "-S", HERE / "consumer", "-B", build, "-G", "Ninja", f"-DISOBIT_HOW={how}", *options)
    run("cmake", "--build", build, "--parallel", "2")
    print(re.sub(r"(?m)^(Internal|Test project).*\n", "", run("ctest", "--test-dir", build, "--output-on-failure")))


def find_package(work):
    consume(work, "find_package", f"-DCMAKE_PREFIX_PATH={install(work)}", "-DISOBIT_WANTED=0.1")


def add_subdirectory(work):
    consume(work, "add_subdirectory", f"-DISOBIT_SOURCE={REPOSITORY}")


def fetch_content(work):
    consume(work, "fetch_content", f"-DFETCHCONTENT_SOURCE_DIR_ISOBIT={REPOSITORY}")


def fetch_content_installed(work):
    """An installed isobit is taken in place of a download: FIND_PACKAGE_ARGS."""
    consume(work, "fetch_content", f"-DCMAKE_PREFIX_PATH={install(work)}")


def vcpkg(work):
    run("cmake", f"-DREPOSITORY={REPOSITORY}", f"-DWORK={work}", "-P", HERE / "vcpkg_stub.cmake")
    package = work / "package"
    found = sorted(str(p.relative_to(package)) for p in package.glob("*")) + \
        sorted(str(p.relative_to(package)) for p in package.glob("share/*"))
    if found != ["include", "share", "share/isobit"]:
        raise Failed(f"vcpkg's package holds {found}")
    for name in ("copyright", "usage", "isobitConfig.cmake"):
        if not (package / "share" / "isobit" / name).is_file():
            raise Failed(f"vcpkg's package has no share/isobit/{name}")
    consume(work, "find_package", f"-DCMAKE_PREFIX_PATH={package}")


def conan(work):
    if shutil.which("conan") is None or not run("conan", "--version").startswith("Conan version 2"):
        print("no conan 2 found: not run")
        sys.exit(77)
    env = {**os.environ, "CONAN_HOME": str(work / "home")}
    run("conan", "profile", "detect", env=env)
    # The recipe is exported from a copy: conan writes into test_package.
    copy = work / "copy"
    for name in ("CMakeLists.txt", "LICENSE", "cmake", "include", "conan"):
        source = REPOSITORY / name
        (shutil.copytree if source.is_dir() else lambda a, b: (b.parent.mkdir(exist_ok=True), shutil.copy(a, b)))(
            source, copy / name)
    run("conan", "create", copy / "conan", "-s", "compiler.cppstd=20", "--build=missing", "--no-remote", env=env, cwd=work)
    print("conan create: built, packaged and consumed")


def controls(work):
    prefix = install(work)
    refused = {
        "an incompatible version": ["-DISOBIT_WANTED=0.2"],
        "a major version": ["-DISOBIT_WANTED=1.0"],
        "no prefix": None,
    }
    for what, options in refused.items():
        try:
            consume(work / what.replace(" ", "_"), "find_package",
                    *([] if options is None else [f"-DCMAKE_PREFIX_PATH={prefix}", *options]))
        except Failed as failed:
            if "isobit" not in str(failed) or "find_package" not in str(failed):
                raise
            continue
        raise Failed(f"{what} was accepted")
    # The check itself must notice a program that fails.
    wrong = work / "wrong"
    shutil.copytree(HERE / "consumer", wrong / "source")
    (wrong / "source" / "sum.cpp").write_text("int main() { return 1; }\n")
    run("cmake", "-S", wrong / "source", "-B", wrong / "build", "-G", "Ninja", "-DISOBIT_HOW=add_subdirectory",
        f"-DISOBIT_SOURCE={REPOSITORY}")
    run("cmake", "--build", wrong / "build", "--target", "sum")
    try:
        run("ctest", "--test-dir", wrong / "build", "-R", "sum")
    except Failed:
        print("controls: what must be refused was refused")
        return
    raise Failed("a consumer that fails was not noticed")


def main():
    ways = {f.__name__: f for f in (find_package, add_subdirectory, fetch_content, fetch_content_installed,
                                     vcpkg, conan, controls)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("way", choices=ways)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            ways[args.way](pathlib.Path(folder))
        except Failed as failed:
            print(failed)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
