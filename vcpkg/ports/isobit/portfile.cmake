# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# An overlay port. REPO is where the release is published; SHA512 is what `tools/release` prints for its archive.
vcpkg_from_github(
  OUT_SOURCE_PATH SOURCE_PATH
  REPO isobit/isobit
  REF "v${VERSION}"
  SHA512 0
  HEAD_REF main)

set(VCPKG_BUILD_TYPE release) # header-only
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DISOBIT_BUILD_TESTS=OFF -DISOBIT_BUILD_EXAMPLES=OFF -DISOBIT_BUILD_BENCH=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/isobit)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug" "${CURRENT_PACKAGES_DIR}/lib" "${CURRENT_PACKAGES_DIR}/share/cmake"
     "${CURRENT_PACKAGES_DIR}/share/licenses")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
