// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Parts of one workspace.
#pragma once

#include <isobit/device/error.hpp>

#if !defined(__CUDACC_RTC__)

namespace isobit::inline bits1::detail {

//! Deals out parts of a workspace, each aligned to 256 bytes; with a null base it only adds up what they take.
class workspace_parts {
public:
  explicit workspace_parts(void* base) : base_(static_cast<unsigned char*>(base)) {}
  template <class T = unsigned char> T* take(uint64_t count) {
    uint64_t const at = used_;
    used_ += (count * sizeof(T) + 255) / 256 * 256;
    return base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + at);
  }
  uint64_t used() const { return used_; }

private:
  unsigned char* base_;
  uint64_t used_ = 0;
};

} // namespace isobit::inline bits1::detail
#endif
