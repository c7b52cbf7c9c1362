# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The install tree: headers, licence, and a CMake package in share/ (nothing here depends on the architecture).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(isobit_package_dir ${CMAKE_INSTALL_DATADIR}/cmake/isobit)
install(
  TARGETS isobit
  EXPORT isobitTargets
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT isobitTargets NAMESPACE isobit:: DESTINATION ${isobit_package_dir})

configure_package_config_file(cmake/isobitConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/isobitConfig.cmake"
                              INSTALL_DESTINATION ${isobit_package_dir} NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/isobitConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/isobitConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/isobitConfigVersion.cmake"
              cmake/isobitSimt.cmake cmake/isobitCuda.cmake DESTINATION ${isobit_package_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/isobit)
