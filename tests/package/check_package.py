# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives isobit to a consumer's project (tests/package/consumer) in one of the ways that docs/packages.md names, builds
it with warnings as errors, and runs it.

  check_package.py find_package|add_subdirectory|fetch_content|fetch_content_installed|cpm|vcpkg|controls
  check_package.py find_package|add_subdirectory --nvcc PATH    the same with a program that nvcc builds
  check_package.py conan --venv DIR                             conan comes from PyPI into DIR where none is in PATH

`vcpkg` runs the port by a stand-in for vcpkg's functions (vcpkg_stub.cmake). `controls`: requests that must be refused,
and faults of a consumer or a package that the checks must notice. Exit code 77: it could not run here, and why.
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


def consume(work, how, *options, targets=("all",)):
    build = work / "consumer"
    run("cmake", "-S", HERE / "consumer", "-B", build, "-G", "Ninja", f"-DISOBIT_HOW={how}", *options)
    run("cmake", "--build", build, "--parallel", "2", "--target", *targets)
    only = [] if "all" in targets else ["-R", "|".join(f"^{t}$" for t in targets)]
    print(re.sub(r"(?m)^(Internal|Test project).*\n", "",
                 run("ctest", "--test-dir", build, "--output-on-failure", *only)))


def consume_both(work, how, *options):
    """A host-only project must do without any CUDA; with --nvcc, only what that adds is built."""
    if args.nvcc is None:
        consume(work, how, "-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON", *options)
    else:
        consume(work, how, "-DCONSUMER_CUDA=ON", f"-DCMAKE_CUDA_COMPILER={args.nvcc}", "-DCMAKE_CUDA_ARCHITECTURES=90",
                *options, targets=["device"])


def find_package(work):
    consume_both(work, "find_package", f"-DCMAKE_PREFIX_PATH={install(work)}", "-DISOBIT_WANTED=0.1")


def add_subdirectory(work):
    consume_both(work, "add_subdirectory", f"-DISOBIT_SOURCE={REPOSITORY}")


def fetch_content(work):
    consume(work, "fetch_content", f"-DFETCHCONTENT_SOURCE_DIR_ISOBIT={REPOSITORY}")


def fetch_content_installed(work):
    """An installed isobit is taken in place of a download: FIND_PACKAGE_ARGS."""
    consume(work, "fetch_content", f"-DCMAKE_PREFIX_PATH={install(work)}", targets=["sum"])


def cpm(work):
    consume(work, "cpm", f"-DFETCHCONTENT_SOURCE_DIR_ISOBIT={REPOSITORY}", targets=["sum"])


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


def must_fail(what, expected, action, *arguments, **named):
    try:
        action(*arguments, **named)
    except Failed as failed:
        if not re.search(expected, " ".join(str(failed).split())):
            raise Failed(f"{what} was refused, but not by '{expected}': {failed}")
        return
    raise Failed(f"{what} was accepted")


def controls(work):
    prefix = install(work)
    found = [f"-DCMAKE_PREFIX_PATH={prefix}"]
    for what, expected, options in (
            ("an incompatible version", 'compatible with requested version "0.2"', [*found, "-DISOBIT_WANTED=0.2"]),
            ("a major version", 'compatible with requested version "1.0"', [*found, "-DISOBIT_WANTED=1.0"]),
            ("no prefix", "package configuration file", []),
            ("a component that does not exist", "but no 'tensor_cores'", [*found, "-DISOBIT_COMPONENTS=tensor_cores"]),
            ("the component cuda without a toolkit", "cuda needs a CUDA toolkit",
             [*found, "-DISOBIT_COMPONENTS=cuda", "-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON"])):
        must_fail(what, expected, consume, work / re.sub(r"\W", "_", what), "find_package", *options)

    # Faults that the checks must notice: of a program, of a header, of the package.
    consumer = work / "consumer_with_faults"
    shutil.copytree(HERE / "consumer", consumer)
    build = work / "build_with_faults"
    run("cmake", "-S", consumer, "-B", build, "-G", "Ninja", "-DISOBIT_HOW=find_package", *found)
    (consumer / "sum.cpp").write_text("int main() { return 1; }\n")
    run("cmake", "--build", build, "--target", "sum")
    must_fail("a program that fails", "sum", run, "ctest", "--test-dir", build, "-R", "sum")
    header = prefix / "include" / "isobit" / "narrowing.hpp"
    header.write_text("inline short narrowing(int i) { return i; }\n")
    (consumer / "sum.cpp").write_text("#include <isobit/narrowing.hpp>\nint main() {}\n")
    must_fail("a header with a warning", "Werror=conversion", run, "cmake", "--build", build, "--target", "sum")
    config = prefix / "share" / "cmake" / "isobit" / "isobitConfig.cmake"
    text = config.read_text()
    for fault, expected in (("find_package(Threads)", "brings Threads::Threads"),
                            ("add_library(CCCL::libcudacxx INTERFACE IMPORTED)", "brings CCCL::libcudacxx"),
                            ("set_property(TARGET isobit::isobit PROPERTY INTERFACE_LINK_LIBRARIES m)", "forces on its consumers")):
        config.write_text(text + fault + "\n")
        must_fail(fault, expected, run, "cmake", "-S", consumer, "-B", work / "again", "-DISOBIT_HOW=find_package", *found)
        shutil.rmtree(work / "again")
    print("controls: what must be refused was refused")


def main():
    global args
    ways = {f.__name__: f for f in (find_package, add_subdirectory, fetch_content, fetch_content_installed, cpm,
                                     vcpkg, conan, controls)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("way", choices=ways)
    parser.add_argument("--nvcc")
    parser.add_argument("--venv", type=pathlib.Path)
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
