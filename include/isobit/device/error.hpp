// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What launchers throw when CUDA refuses a launch, and what they check of the caller's memory.
#pragma once

#include <isobit/error.hpp>

#if !defined(__CUDACC_RTC__)

namespace isobit::inline bits1 {

//! CUDA refused a launch. `what()` names the launcher and CUDA's own description.
class launch_error : public std::exception {
public:
  launch_error(char const* function, int code, char const* description) noexcept : code_(code) {
    std::snprintf(message_, sizeof message_, "isobit::%s: CUDA error %d: %s", function, code, description);
  }
  char const* what() const noexcept override { return message_; }
  //! The value of cudaError_t.
  int code() const noexcept { return code_; }

private:
  char message_[192];
  int code_;
};

namespace detail {

inline bool is_aligned_to(void const* p, size_t bytes) { return reinterpret_cast<std::uintptr_t>(p) % bytes == 0; }

//! The caller's array `name` of `n` elements: not null when n > 0, and aligned for its type.
template <class T> void check_array(char const* function, char const* name, T const* data, uint64_t n) {
  if (data == nullptr && n > 0) throw invalid_argument(function, name, "non-null when n > 0");
  if (!is_aligned_to(data, alignof(T))) throw invalid_argument(function, name, "aligned to", alignof(T), "bytes");
}

//! The caller's workspace: big enough, not null, aligned.
inline void check_workspace(char const* function, void const* workspace, uint64_t bytes, uint64_t needed,
                            size_t alignment) {
  if (bytes < needed) throw invalid_argument(function, "workspace_bytes", "at least", needed, "bytes");
  if (workspace == nullptr && needed > 0) throw invalid_argument(function, "workspace", "non-null");
  if (!is_aligned_to(workspace, alignment)) throw invalid_argument(function, "workspace", "aligned to", alignment, "bytes");
}

} // namespace detail
} // namespace isobit::inline bits1
#endif
