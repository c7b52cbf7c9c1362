# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

required_conan_version = ">=2.0"


class IsobitConan(ConanFile):
    """conan create conan -s compiler.cppstd=20, from a checkout. It has no options: there is nothing to choose.

    conan build conan -c user.isobit:build_tests=True, from a checkout too, builds and runs isobit's own tests, with
    doctest and benchmark from a remote.
    """

    name = "isobit"
    description = "The same bits, everywhere: templates for reproducible numerics, in CUDA kernels and on CPUs"
    license = "Apache-2.0 WITH LLVM-exception"
    topics = ("cuda", "reproducibility", "floating-point", "reduction", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    @property
    def _build_tests(self):
        return self.conf.get("user.isobit:build_tests", default=False, check_type=bool)

    # The version has one home: include/isobit/version.hpp.
    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "..", "include", "isobit", "version.hpp"))
        self.version = ".".join(re.search(rf"ISOBIT_VERSION_{part} (\d+)", text)[1]
                                for part in ("MAJOR", "MINOR", "PATCH"))

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def layout(self):
        self.folders.root = ".."
        cmake_layout(self)

    def package_id(self):
        self.info.clear()

    def build_requirements(self):
        if self._build_tests:
            self.test_requires("doctest/2.4.12")
            self.test_requires("benchmark/1.9.4")

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "EXAMPLES", "BENCH"):
            toolchain.cache_variables[f"ISOBIT_BUILD_{part}"] = self._build_tests
        toolchain.user_presets_path = False  # a checkout keeps its own
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        if self._build_tests:
            cmake = CMake(self)
            cmake.configure()
            cmake.build()
            cmake.ctest(["--output-on-failure", "-LE", "exhaustive|package"])

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        cmake = CMake(self)
        cmake.configure()
        cmake.install()

    # isobit's own CMake package is used as it is; it brings isobit::isobit, isobit::simt and isobit::cuda.
    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "isobit")]
