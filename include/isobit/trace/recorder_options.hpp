// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What a recorder is told: tensors, where it writes, how it gets at digests that kernels made.
#pragma once

#include <isobit/algo/digest.hpp>
#include <isobit/algo/dtype.hpp>
#include <isobit/error.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace isobit::inline bits1::trace {

//! A tensor without gaps. `data` may be a device's address where the digest is made there.
struct tensor {
  std::string name;
  dtype type = dtype::bytes;
  std::vector<uint64_t> shape;
  void const* data = nullptr;

  uint64_t count() const {
    uint64_t n = 1;
    for (uint64_t const e : shape)
      if (__builtin_mul_overflow(n, e, &n))
        throw invalid_argument("trace::tensor", "shape", "of fewer than 2^64 elements");
    return n;
  }
  //! e2m1 elements lie two to a byte.
  uint64_t bytes() const {
    uint64_t const n = count(), bits = static_cast<uint64_t>(dtype_bits(type));
    return n / 8 * bits + (n % 8 * bits + 7) / 8;
  }
};

//! `tensor_of("x", x, {rows, cols})`.
template <class T> tensor tensor_of(std::string name, T const* data, std::vector<uint64_t> shape) {
  return {std::move(name), dtype_of<T>, std::move(shape), data};
}

//! What the caller's fence says about a buffer.
enum class buffer_state { ready, uninitialised, in_flight };

//! A buffer that must not be fingerprinted now. Nothing of the event is recorded.
class not_ready : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

struct recorder_options {
  std::string folder; //!< made if it is not there
  uint32_t rank = 0;
  uint64_t flush_events = 256; //!< events kept before they are written
  uint64_t slots = 1024;       //!< `digest_sum`s on the device, for `device_input` and `device_output`
  //! Copies the first `count` slots of the device to `to`, sets them to zero, and returns when both is done. It must
  //! wait for all kernels that add to them: cudaMemcpyAsync, cudaMemsetAsync, cudaStreamSynchronize.
  std::function<void(digest_sum* to, uint64_t count)> transfer = {};
  //! Asked before a tensor is read or a slot is given out; without it, every buffer is ready.
  std::function<buffer_state(void const* data, uint64_t bytes)> fence = {};
  //! Record a tensor that is not ready as "skipped_uninitialised" or "skipped_in_flight" instead of throwing
  //! `not_ready`.
  bool mark_not_ready = false;
  bool replace = false; //!< replace files of iterations that are there already; without it they are refused
};

//! How one tensor is recorded.
struct tensor_options {
  uint64_t chunk_bytes = 0; //!< a multiple of 16; 0: no chunk digests
  bool keep = false;        //!< keep a copy of the bytes beside the trace (host tensors)
};

} // namespace isobit::inline bits1::trace
