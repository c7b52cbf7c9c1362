# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives isobit to a consumer's project (tests/package/consumer) in one of the ways that docs/packages.md names, builds
it with warnings as errors, and runs it.

  check_package.py find_package|add_subdirectory|fetch_content|fetch_content_installed|cpm|documented|vcpkg|controls
  check_package.py find_package|add_subdirectory --nvcc PATH    the same with a program that nvcc builds
  check_package.py find_package --cxx clang++                   the same by another compiler
  check_package.py conan --venv DIR                             conan comes from PyPI into DIR where none is in PATH

`documented` configures a project with each block of CMake that docs/packages.md shows. `vcpkg` runs the port by a
stand-in for its functions (vcpkg_stub.cmake). `controls`: requests that must be refused, and faults of a consumer or
a package that the checks must notice. Exit code 77: it could not run here, and why.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
TEST_REQUIREMENTS = {"doctest": "2.4.12", "benchmark": "1.9.4"}


class Failed(Exception):
    pass


def run(*command, env=None, cwd=None, both=False):
    """stdout, or both outputs; Failed where the exit code is not 0."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=env, cwd=cwd)
    if done.returncode:
        raise Failed(f"$ {' '.join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout + done.stderr if both else done.stdout


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
        compiler = [f"-DCMAKE_CXX_COMPILER={args.cxx}"] if args.cxx else []
        consume(work, how, "-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON", *compiler, *options)
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


# What the documentation calls, where it cannot be had: CPM by the FetchContent calls that it makes.
STAND_INS = """
include(FetchContent)
function(CPMAddPackage)
  cmake_parse_arguments(arg "" "NAME;VERSION;GIT_REPOSITORY;GIT_TAG" "OPTIONS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME OR NOT arg_VERSION)
    message(FATAL_ERROR "CPMAddPackage(${ARGN})")
  endif()
  foreach(option IN LISTS arg_OPTIONS)
    string(REPLACE " " ";" option "${option}")
    set(${option})
  endforeach()
  FetchContent_Declare(${arg_NAME} GIT_REPOSITORY ${arg_GIT_REPOSITORY} GIT_TAG v${arg_VERSION})
  FetchContent_MakeAvailable(${arg_NAME})
endfunction()
"""


def documented(work):
    page = (REPOSITORY / "docs" / "packages.md").read_text()
    blocks = re.findall(r"```cmake\n(.*?)```", page, re.S)
    calls = ("find_package(", "FetchContent_Declare(", "CPMAddPackage(", "add_subdirectory(")
    if len(blocks) != len(calls) or not all(c in b for b, c in zip(blocks, calls)):
        raise Failed(f"docs/packages.md shows {len(blocks)} blocks of CMake; expected one each for {calls}")
    prefix = install(work)
    for call, block in zip(calls, blocks):
        source = work / re.sub(r"\W", "", call)
        (source / "third_party").mkdir(parents=True)
        (source / "third_party" / "isobit").symlink_to(REPOSITORY)
        for name in ("sum.cpp", "kernel.cpp", "row_sums.cuh"):
            shutil.copy(HERE / "consumer" / name, source)
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(page LANGUAGES CXX)\nadd_executable(my_kernels sum.cpp)\n"
            f"add_executable(my_tests kernel.cpp)\n{STAND_INS}\n{block}")
        where = {"CMAKE_PREFIX_PATH": prefix} if call == calls[0] else {"FETCHCONTENT_SOURCE_DIR_ISOBIT": REPOSITORY}
        run("cmake", "-S", source, "-B", source / "build", "-G", "Ninja", *(f"-D{k}={v}" for k, v in where.items()))
    print(f"{len(blocks)} blocks of docs/packages.md were configured")


def run_port(work, repository):
    """The package tree that the port makes, checked as vcpkg does after a build."""
    run("cmake", f"-DREPOSITORY={repository}", f"-DWORK={work}", "-P", HERE / "vcpkg_stub.cmake")
    package = work / "package"
    found = sorted(str(p.relative_to(package)) for p in [*package.glob("*"), *package.glob("share/*")])
    if found != ["include", "share", "share/isobit"]:
        raise Failed(f"vcpkg's package holds {found}")
    for name in ("copyright", "usage", "isobitConfig.cmake"):
        if not (package / "share" / "isobit" / name).is_file():
            raise Failed(f"vcpkg's package has no share/isobit/{name}")
    for path in package.rglob("*"):
        if path.is_dir() and not any(path.iterdir()):
            raise Failed(f"vcpkg's package has an empty folder: {path.relative_to(package)}")
        text = path.read_text() if path.suffix == ".cmake" else ""
        if str(work) in text or str(repository) in text:
            raise Failed(f"vcpkg's {path.name} names a folder of the machine that built it")
    return package


def vcpkg(work):
    package = run_port(work, REPOSITORY)
    consume(work, "find_package", f"-DCMAKE_PREFIX_PATH={package}", targets=["sum"])

    # Each indented block of the usage text is a consumer's CMakeLists.txt.
    usage = (package / "share" / "isobit" / "usage").read_text()
    blocks = re.findall(r"(?m)(?:^    \S.*\n)+", usage)
    for i, (block, program) in enumerate(zip(blocks, ("sum.cpp", "kernel.cpp"), strict=True)):
        source = work / f"usage_{i}"
        shutil.copytree(HERE / "consumer", source)
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(usage LANGUAGES CXX)\n"
            f"add_executable(main {program})\n{block}")
        run("cmake", "-S", source, "-B", source / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={package}")
        if i == len(blocks) - 1:  # the first one's program was built above
            run("cmake", "--build", source / "build")
            run(source / "build" / "main")

    # Control: a port that leaves the CMake package where isobit installs it.
    wrong = work / "wrong" / "repository"
    wrong.mkdir(parents=True)
    for name in ("CMakeLists.txt", "LICENSE", "cmake", "include"):
        (wrong / name).symlink_to(REPOSITORY / name)
    shutil.copytree(REPOSITORY / "vcpkg", wrong / "vcpkg")
    portfile = wrong / "vcpkg" / "ports" / "isobit" / "portfile.cmake"
    text = portfile.read_text()
    for line, expected in (("vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/isobit)", "no share/isobit/isobitConfig"),
                           ('vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")', "share/isobit/copyright")):
        if line not in text:
            raise Failed(f"the control needs the line {line}")
        portfile.write_text(text.replace(line, ""))
        must_fail(f"a port without {line}", expected, run_port, work / "wrong" / str(len(line)), wrong)


def find_conan(venv):
    """The conan 2 in PATH, or one from PyPI in a virtual environment that later runs find again."""
    if shutil.which("conan") and "version 2" in run("conan", "--version"):
        return "conan"
    if venv is None:
        print("no conan 2 in PATH, and no --venv to install it into: not run")
        sys.exit(77)
    if not (venv / "bin" / "conan").exists():
        try:
            run(sys.executable, "-m", "venv", "--clear", venv)
        except Failed as failed:
            if "ensurepip" not in str(failed):
                raise
            print(f"conan create was not run: Python makes no virtual environment (Debian: python3-venv)\n{failed}")
            sys.exit(77)
        try:
            run(venv / "bin" / "python", "-m", "pip", "install", "--quiet", "--retries", "1", "conan>=2,<3")
        except Failed as failed:
            unreachable = "NewConnectionError|Could not fetch URL|not known|timed out|No matching distribution"
            if not re.search(unreachable, str(failed)):
                raise
            print(f"conan create was not run: there is no conan 2 here, and PyPI cannot be reached:\n{failed}")
            sys.exit(77)
    return venv / "bin" / "conan"


def conan(work):
    command = find_conan(args.venv)
    env = {**os.environ, "CONAN_HOME": str(work / "home")}
    run(command, "profile", "detect", env=env)
    # The recipe is exported from a copy, as conan writes into test_package.
    copy = work / "copy"
    copy.mkdir()
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("CMakeLists.txt", "LICENSE", "cmake", "include", "conan"):
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=ignore)
        else:
            shutil.copy(source, copy / name)
    create = (command, "create", copy / "conan", "--no-remote")
    log = run(*create, "-s", "compiler.cppstd=20", env=env, cwd=work, both=True)
    for line in ("isobit: 0", "kernel: 0"):
        if line not in log:
            raise Failed(f"the test package did not print '{line}':\n{log[-3000:]}")

    # One package for every setting: another build type finds it.
    log = run(*create, "-s", "compiler.cppstd=20", "-s", "build_type=Debug", "--test-folder=", "--build=never", env=env,
              cwd=work, both=True)
    if "Calling package()" in log:
        raise Failed(f"another build type needed another package:\n{log[-3000:]}")
    version = re.search(r"isobit/(\d+\.\d+\.\d+)", log)[1]
    must_fail("C++17", r"C\+\+ Standard \(17\)|cppstd", run, *create, "-s", "compiler.cppstd=17", env=env, cwd=work)

    # With the tests switched on, the graph has doctest and benchmark as test requirements, and only then.
    for name, number in TEST_REQUIREMENTS.items():
        run(command, "export", HERE / "conan_stand_in", f"--name={name}", f"--version={number}", env=env)
    graph = (command, "graph", "info", copy / "conan", "--no-remote", "-s", "compiler.cppstd=20", "--format=json")
    for options, expected in (((), set()), (("-c", "user.isobit:build_tests=True"), set(TEST_REQUIREMENTS))):
        nodes = json.loads(run(*graph, *options, env=env))["graph"]["nodes"]
        found = {d["ref"].split("/")[0] for d in nodes["0"]["dependencies"].values() if d["test"]}
        if found != expected:
            raise Failed(f"test requirements with {options}: {found}, not {expected}")
    print(f"conan create: isobit/{version} built, packaged, consumed")


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
                            ("set_property(TARGET isobit::isobit PROPERTY INTERFACE_LINK_LIBRARIES m)",
                             "forces on its consumers")):
        config.write_text(text + fault + "\n")
        must_fail(fault, expected, run, "cmake", "-S", consumer, "-B", work / "again", "-DISOBIT_HOW=find_package",
                  *found)
        shutil.rmtree(work / "again")
    print("controls: what must be refused was refused")


def main():
    global args
    ways = {f.__name__: f for f in (find_package, add_subdirectory, fetch_content, fetch_content_installed, cpm,
                                     documented, vcpkg, conan, controls)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("way", choices=ways)
    parser.add_argument("--nvcc")
    parser.add_argument("--cxx")
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
