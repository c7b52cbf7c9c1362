// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The operating-system threads that resident blocks run on. `static thread_local` is a block's shared memory, so each
//! resident block has a thread of its own.
#pragma once

#include <isobit/simt/worker.hpp>

#include <sys/types.h>
#include <thread>
#include <unistd.h>

namespace isobit::inline bits1::simt::detail::inline ISOBIT_SIMT_VARIANT {

//! Worker threads that wait for launches of the thread that owns them.
class crew {
public:
  crew() = default;
  crew(crew const&) = delete;
  crew& operator=(crew const&) = delete;
  ~crew() {
    forget_if_forked();
    dismiss();
  }

  //! Runs the job with `resident` blocks at a time. With ThreadSanitizer, which would otherwise take two blocks'
  //! use of the same thread-local variable for a race, every block gets a new thread.
  void run(job& j, size_t resident) {
    size_t const workers = thread_sanitizer ? j.blocks : resident;
    float_environment const environment = float_environment::now();
    forget_if_forked();
    while (members_.size() < workers) members_.push_back(std::make_unique<member>());
    for (size_t i = 0; i < workers; ++i) {
      members_[i]->assignment = &j;
      members_[i]->workers.set_environment(environment);
      if (!members_[i]->runs.joinable()) members_[i]->runs = std::thread(&crew::serve, this, std::ref(*members_[i]));
    }
    for (size_t i = 0; i < resident; ++i) j.active.push_back(&members_[i]->workers);
    for (size_t i = workers; i > resident; --i) j.pending.push_back(&members_[i - 1]->workers);
    j.active[j.choose(j.active.size() - 1)]->my_turn.give();
    done_.take();
    if (thread_sanitizer) dismiss();
  }

private:
  struct member {
    worker workers;
    job* assignment = nullptr;
    std::thread runs;
  };

  void serve(member& m) {
    for (;;) {
      m.workers.my_turn.take();
      if (m.assignment == nullptr) return;
      m.workers.work(*m.assignment, thread_sanitizer ? 1 : ~uint64_t(0));
      unseen u;
      pass_on(*m.assignment, m.workers);
      if (thread_sanitizer) return;
    }
  }

  // `w` is done: whose turn is it now?
  void pass_on(job& j, worker& w) {
    auto const mine = std::find(j.active.begin(), j.active.end(), &w);
    if (!j.pending.empty()) {
      *mine = j.pending.back();
      j.pending.pop_back();
    } else {
      j.active.erase(mine);
    }
    if (j.active.empty()) return done_.give();
    j.active[j.choose(j.active.size() - 1)]->my_turn.give();
  }

  // In a child process (a death test, say) the parent's threads do not exist.
  void forget_if_forked() {
    if (process_ == ::getpid()) return;
    for (auto& m : members_) static_cast<void>(m.release());
    members_.clear();
    process_ = ::getpid();
  }

  void dismiss() {
    for (auto& m : members_) {
      if (!m->runs.joinable()) continue;
      if (!thread_sanitizer) {
        m->assignment = nullptr;
        m->workers.my_turn.give();
      }
      m->runs.join();
    }
    members_.clear();
  }

  std::vector<std::unique_ptr<member>> members_;
  ::pid_t process_ = ::getpid();
  turn done_;
};

//! How many blocks the job has on the machine at once.
inline size_t resident_blocks(job& j) {
  uint64_t wanted = j.settings.resident;
  if (wanted == 0) wanted = j.settings.order == schedule::random ? 1 + j.random.below(4) : 1;
  return static_cast<size_t>(std::min<uint64_t>(wanted, j.blocks));
}

inline report run(job& j) {
  size_t const resident = resident_blocks(j);
  if (resident == 1 && !thread_sanitizer) {
    static thread_local worker alone;
    alone.set_environment(float_environment::now());
    j.active.push_back(&alone);
    alone.work(j, ~uint64_t(0));
  } else {
    static thread_local crew everyone;
    everyone.run(j, resident);
  }
  if (j.error) std::rethrow_exception(j.error);
  return j.result;
}

} // namespace isobit::inline bits1::simt::detail::inline ISOBIT_SIMT_VARIANT
