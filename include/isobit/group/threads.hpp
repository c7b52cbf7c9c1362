// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! A ready executor for `host`: a number of `std::thread`s. In a header of its own, because `<thread>` is large.
#pragma once

#include <isobit/group/host.hpp>

#if !defined(__CUDACC_RTC__)
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace isobit::inline bits1 {

//! Runs jobs on `count` threads: the caller's and `count - 1` that live as long as one call. 0 stands for as many as
//! the processor runs at once. Starting them costs some 10 microseconds each: for long arrays. Where the system
//! refuses a thread, the others do its work. Each thread takes the next job that nobody has taken.
//!
//!     double sum = isobit::reduce(isobit::host(isobit::threads(8)), x, n);   // the bits of one thread
class threads {
public:
  explicit threads(unsigned count = 0) : count_(count != 0 ? count : std::thread::hardware_concurrency()) {}

  template <class F> void operator()(uint64_t count, F const& f) const {
    std::atomic<uint64_t> next{0};
    auto const work = [&] {
      for (uint64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) f(i);
    };
    std::vector<std::thread> others;
    uint64_t const wanted = count < count_ ? count : count_;
    others.reserve(wanted);
    try {
      while (others.size() + 1 < wanted) others.emplace_back(work);
    } catch (std::system_error const&) { // no more threads to be had
    }
    work();
    for (std::thread& t : others) t.join();
  }

private:
  unsigned count_;
};

} // namespace isobit::inline bits1
#endif
