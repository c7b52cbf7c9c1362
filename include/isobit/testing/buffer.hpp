// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Memory for kernels under test: filled with a chosen byte, or placed at a chosen distance from an aligned address.
#pragma once

#include <isobit/config.hpp>

#include <cstring>
#include <new>
#include <span>
#include <vector>

namespace isobit::inline bits1::testing {

//! `n` elements whose every byte is `byte`.
template <class T> std::vector<T> filled(size_t n, unsigned char byte) {
  static_assert(__is_trivially_copyable(T), "isobit: only trivially copyable elements can be filled with bytes");
  std::vector<T> out(n);
  if (n > 0) std::memset(static_cast<void*>(out.data()), byte, n * sizeof(T));
  return out;
}

//! A copy of `values` that starts `offset` bytes after a multiple of 256 bytes, with memory of exactly that length, so
//! that AddressSanitizer sees an access beyond its end. `offset` must be a multiple of the type's own alignment.
template <class T> class placed {
public:
  placed(std::span<T const> values, size_t offset) : count_(values.size()), offset_(offset) {
    memory_ = static_cast<unsigned char*>(::operator new (offset + bytes() + (bytes() == 0), std::align_val_t{256}));
    if (bytes() > 0) std::memcpy(memory_ + offset, static_cast<void const*>(values.data()), bytes());
  }
  placed(std::vector<T> const& values, size_t offset) : placed(std::span<T const>(values), offset) {}
  placed(placed const&) = delete;
  placed& operator=(placed const&) = delete;
  ~placed() { ::operator delete (memory_, std::align_val_t{256}); }

  T* data() { return reinterpret_cast<T*>(memory_ + offset_); }
  T const* data() const { return reinterpret_cast<T const*>(memory_ + offset_); }
  size_t size() const { return count_; }
  T* begin() { return data(); }
  T* end() { return data() + count_; }
  T const* begin() const { return data(); }
  T const* end() const { return data() + count_; }

private:
  size_t bytes() const { return count_ * sizeof(T); }
  unsigned char* memory_;
  size_t count_, offset_;
};

} // namespace isobit::inline bits1::testing
