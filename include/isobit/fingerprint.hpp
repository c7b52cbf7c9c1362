// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Job: fingerprints of memory and tensors that see order, type and shape; whole, in chunks, in parts that add, and
//! from inside kernels. docs/fingerprint.md says what they are and are not.
#pragma once

#include <isobit/algo/digest.hpp>
#include <isobit/algo/digest_quantized.hpp>
#include <isobit/algo/digest_tensor_host.hpp>
#include <isobit/algo/torch_hash.hpp>
