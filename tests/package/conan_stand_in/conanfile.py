# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stands for a package that no remote can give here, so that conan can solve the graph of isobit's own tests."""
from conan import ConanFile


class StandIn(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
