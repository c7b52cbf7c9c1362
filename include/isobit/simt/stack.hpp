// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The memory that a fiber runs on.
#pragma once

#include <isobit/config.hpp>
#include <isobit/simt/sanitizer.hpp>

#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace isobit::inline bits1::simt::detail {

//! Whole pages with an inaccessible page below them, so that an overflow stops the program at once.
class stack {
public:
  explicit stack(size_t bytes) {
    size_t const page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    size_ = (bytes + page - 1) / page * page;
    guard_ = page;
    void* const m =
        ::mmap(nullptr, size_ + guard_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m == MAP_FAILED) throw std::bad_alloc();
    mapping_ = static_cast<char*>(m);
    if (::mprotect(mapping_, guard_, PROT_NONE) != 0) { // too many mappings
      ::munmap(mapping_, size_ + guard_);
      throw std::bad_alloc();
    }
  }
  stack(stack&& other) noexcept
      : mapping_(std::exchange(other.mapping_, nullptr)), size_(other.size_), guard_(other.guard_) {}
  stack& operator=(stack&&) = delete;
  ~stack() {
    if (mapping_ == nullptr) return;
#if defined(ISOBIT_SIMT_ASAN)
    __asan_unpoison_memory_region(bottom(), size_);
#endif
    ::munmap(mapping_, size_ + guard_);
  }

  char* bottom() const { return mapping_ + guard_; }
  char* top() const { return bottom() + size_; }
  size_t size() const { return size_; }

private:
  char* mapping_ = nullptr;
  size_t size_ = 0;
  size_t guard_ = 0;
};

} // namespace isobit::inline bits1::simt::detail
