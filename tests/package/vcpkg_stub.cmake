# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs vcpkg's port without vcpkg: cmake -DREPOSITORY=... -DWORK=... -P vcpkg_stub.cmake
# The vcpkg_* functions do here what the port needs of them, and refuse what the real ones do not know; the result is
# the package tree in ${WORK}/package.
set(port_dir "${REPOSITORY}/vcpkg/ports/isobit")
file(READ "${port_dir}/vcpkg.json" manifest)
string(JSON PORT GET "${manifest}" name)
string(JSON VERSION GET "${manifest}" version)
set(CURRENT_PACKAGES_DIR "${WORK}/package")
set(isobit_build "${WORK}/build")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(code)
    message(FATAL_ERROR "${ARGN}: ${output}")
  endif()
endfunction()

# cmake_parse_arguments of a vcpkg function: an argument that is not known is an error.
macro(parse function flags one_value many_values)
  cmake_parse_arguments(arg "${flags}" "${one_value}" "${many_values}" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${function} does not know ${arg_UNPARSED_ARGUMENTS}")
  endif()
endmacro()

function(vcpkg_from_github)
  parse(vcpkg_from_github "" "OUT_SOURCE_PATH;REPO;REF;SHA512;HEAD_REF" "PATCHES" ${ARGN})
  if(NOT arg_REF STREQUAL "v${VERSION}" OR NOT arg_REPO OR "${arg_SHA512}" STREQUAL "")
    message(FATAL_ERROR "vcpkg_from_github needs REPO, REF v<version> and SHA512")
  endif()
  set(${arg_OUT_SOURCE_PATH} "${REPOSITORY}" PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
  parse(vcpkg_cmake_configure "" "SOURCE_PATH;GENERATOR" "OPTIONS" ${ARGN})
  run("${CMAKE_COMMAND}" -S "${arg_SOURCE_PATH}" -B "${isobit_build}" -G Ninja
      "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
  run("${CMAKE_COMMAND}" --build "${isobit_build}" --target install)
endfunction()

# Moves the CMake package to share/<port> and mends the depth at which it looks for its prefix.
function(vcpkg_cmake_config_fixup)
  parse(vcpkg_cmake_config_fixup "" "PACKAGE_NAME;CONFIG_PATH" "" ${ARGN})
  file(GLOB files "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/*.cmake")
  if(NOT files)
    message(FATAL_ERROR "vcpkg_cmake_config_fixup: nothing in ${arg_CONFIG_PATH}")
  endif()
  foreach(path IN LISTS files)
    get_filename_component(name "${path}" NAME)
    file(READ "${path}" text)
    string(REPLACE "\${CMAKE_CURRENT_LIST_DIR}/../../../" "\${CMAKE_CURRENT_LIST_DIR}/../../" text "${text}")
    string(REGEX REPLACE
           "(get_filename_component\\(_IMPORT_PREFIX \"\\\${CMAKE_CURRENT_LIST_FILE}\" PATH\\))(\nget_filename_component\\(_IMPORT_PREFIX \"\\\${_IMPORT_PREFIX}\" PATH\\))+"
           "\\1\\2\\2" text "${text}")
    file(WRITE "${CURRENT_PACKAGES_DIR}/share/${PORT}/${name}" "${text}")
  endforeach()
  file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}")
endfunction()

function(vcpkg_install_copyright)
  parse(vcpkg_install_copyright "" "" "FILE_LIST" ${ARGN})
  file(READ ${arg_FILE_LIST} text)
  file(WRITE "${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright" "${text}")
endfunction()

include("${port_dir}/portfile.cmake")
