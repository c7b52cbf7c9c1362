// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: a view has at least one dimension
#include <isobit/fingerprint.hpp>

isobit::tensor_view<float, 0> view;
