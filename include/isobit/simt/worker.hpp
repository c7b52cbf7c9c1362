// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Runs blocks, one at a time, on one operating-system thread: a fiber for each thread of the block.
#pragma once

#include <isobit/simt/atomic.hpp>
#include <isobit/simt/description.hpp>
#include <isobit/simt/job.hpp>

#include <algorithm>
#include <memory>

namespace isobit::inline bits1::simt::detail::inline ISOBIT_SIMT_VARIANT {

//! Thrown through a simulated thread whose launch has failed, so that its destructors run.
struct abandoned {};

class worker final : public worker_base, public simulator {
public:
  worker() = default;
  worker(worker const&) = delete;
  worker& operator=(worker const&) = delete;

  //! The worker of the simulated thread that calls.
  static worker& here() { return static_cast<worker&>(machine::here()); }

  //! Takes blocks of `j` until there are none, or `most` of them. Called with the turn to run, and keeps it.
  void work(job& j, uint64_t most) {
    unseen u;
    fiber main;
    main_ = &main;
    job_ = &j;
    current = this;
    try {
      for (uint64_t rank = 0; most > 0 && j.take_block(rank); --most) {
        run_block(rank);
        if (most > 1 && !j.abandoned) hand_over();
      }
    } catch (...) {
      j.fail(std::current_exception()); // no memory for the stacks
    }
    current = nullptr;
    happens_after(this);
    if (thread_sanitizer) fibers_.clear();
  }

  // What kernels ask for through isobit::machine.

  extent3 thread_index() const override { return running_->index; }
  extent3 block_index() const override { return block_; }
  extent3 block_extent() const override { return job_->settings.block; }
  extent3 grid_extent() const override { return job_->settings.grid; }

  void sync_block(source_line where) override { count_at_barrier(false, where); }

  //! A block barrier that also tells every thread how many voted (CUDA's __syncthreads_count).
  uint32_t count_at_barrier(bool vote, source_line where) {
    unseen u;
    if (unwinding()) return 0;
    ++job_->result.barriers;
    thread_state& t = *running_;
    t.where = where;
    t.wait = waiting::block_barrier;
    if (barrier_.arrived++ == 0)
      barrier_.where = where;
    else if (!same_line(barrier_.where, where))
      barrier_.diverged = true;
    barrier_.votes += vote;
    void* const sync = &barrier_.sync[barrier_.generation & 1];
    happens_before(sync);
    complete_barrier();
    suspend();
    happens_after(sync);
    return t.votes;
  }

  void sync_warp(uint32_t mask, source_line where) override {
    unseen u;
    if (unwinding()) return;
    thread_state& t = *running_;
    t.where = where;
    meet(waiting::warp_barrier, mask, 0);
  }

  void shuffle(uint32_t mask, void const* mine, void* received, size_t bytes, uint32_t from,
               source_line where) override {
    unseen u;
    if (unwinding()) return copy_registers(received, mine, bytes);
    thread_state& t = *running_;
    t.where = where;
    t.offered = mine;
    t.received = received;
    t.from = from;
    if (from >= machine::warp_width || (mask >> from & 1) == 0)
      fail(error_kind::bad_lane, text("a shuffle of mask 0x%08x reads lane %u, which the mask does not hold, %s:%d",
                                      mask, from, where.file, where.line));
    meet(waiting::shuffle, mask, static_cast<uint32_t>(bytes));
  }

  uint32_t ballot(uint32_t mask, bool vote, source_line where) override {
    unseen u;
    if (unwinding()) return 0;
    thread_state& t = *running_;
    t.where = where;
    t.vote = vote;
    meet(waiting::ballot, mask, 0);
    return t.votes;
  }

  uint64_t atomic(atomic_op op, void* address, size_t bytes, uint64_t operand, uint64_t compared, memory_order order,
                  source_line where) override {
    before_atomic(where, address);
    if (bytes == 4) {
      auto const a = perform(op, static_cast<uint32_t*>(address), static_cast<uint32_t>(operand),
                             static_cast<uint32_t>(compared), order);
      after_atomic(a.changed);
      return a.old;
    }
    auto const a = perform(op, static_cast<uint64_t*>(address), operand, compared, order);
    after_atomic(a.changed);
    return a.old;
  }

  //! An atomic read-modify-write that the machine interface has no name for. `T`: uint32_t or uint64_t.
  template <class T, class F> T update_atomically(T* address, memory_order order, source_line where, F const& f) {
    before_atomic(where, address);
    auto const a = update(address, order, f);
    after_atomic(a.changed);
    return a.old;
  }

  //! CUDA's __threadfence: later atomics of this thread release what it wrote, and it acquires what the atomic that it
  //! did last published. ThreadSanitizer knows no fences; this is their common use.
  void fence() {
    running_->fenced = true;
    if (running_->last_atomic != nullptr) happens_after(running_->last_atomic);
  }
  memory_order fenced_order() const { return running_->fenced ? memory_order::release : memory_order::relaxed; }

  void shared_memory(void* memory, size_t bytes) override {
    unseen u;
    for (size_t i = 0; i < shared_count_; ++i)
      if (shared_[i] == memory) return;
    if (shared_count_ == shared_.size()) shared_.resize(shared_.size() + 16);
    shared_[shared_count_++] = memory;
    std::memset(memory, 0xff, bytes);
  }

  //! The block's dynamic shared memory, config::shared_bytes of it.
  void* dynamic_shared() {
    unseen u;
    return dynamic_.get();
  }

private:
  // --- blocks ---

  void run_block(uint64_t rank) {
    prepare_block(rank);
    if (thread_state* const first = pick()) enter(*first);
    if (!job_->abandoned) return;
    last_words::error = job_->error;
    for (uint32_t i = 0; i < threads_; ++i) {
      thread_state& t = thread_[i];
      if (t.wait != waiting::start && t.wait != waiting::finished) enter(t); // it throws `abandoned` and ends
    }
    last_words::error = nullptr;
  }

  void prepare_block(uint64_t rank) {
    config const& c = job_->settings;
    threads_ = static_cast<uint32_t>(c.block.count());
    block_ = {static_cast<uint32_t>(rank % c.grid.x), static_cast<uint32_t>(rank / c.grid.x % c.grid.y),
              static_cast<uint32_t>(rank / c.grid.x / c.grid.y)};
    random_ = random_numbers(c.seed, rank + 2);
    eagerness_ = c.order == schedule::random ? random_.below(4) : 0;
    live_ = threads_;
    barrier_ = {};
    shared_count_ = 0;
    prepare_shared(c.shared_bytes);
    prepare_fibers(c.stack_bytes);
    prepare_warps();
    prepare_threads(c.block);
  }

  void prepare_shared(size_t bytes) {
    if (bytes != dynamic_bytes_) {
      dynamic_.reset(bytes == 0 ? nullptr : ::operator new (bytes, std::align_val_t{128}));
      dynamic_bytes_ = bytes;
    }
    if (bytes != 0) std::memset(dynamic_.get(), 0xff, bytes);
  }

  void prepare_fibers(size_t stack_bytes) {
    if (stack_bytes != stack_bytes_) fibers_.clear();
    stack_bytes_ = stack_bytes;
    while (fibers_.size() < threads_)
      fibers_.push_back(std::make_unique<fiber>(stack_bytes, &worker::run_threads, this));
  }

  void prepare_warps() {
    uint32_t const warps = (threads_ + machine::warp_width - 1) / machine::warp_width;
    if (warp_.size() < warps) warp_.resize(warps);
    for (uint32_t w = 0; w < warps; ++w) {
      uint32_t const lanes = std::min(threads_ - w * machine::warp_width, machine::warp_width);
      warp_[w].present = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
      warp_[w].exited = 0;
      warp_[w].groups = 0;
    }
  }

  void prepare_threads(extent3 block) {
    if (thread_.size() < threads_) thread_.resize(threads_);
    runs_.reset(threads_);
    extent3 index{0, 0, 0};
    for (uint32_t i = 0; i < threads_; ++i) {
      thread_state& t = thread_[i];
      t.runs_on = fibers_[i].get();
      t.index = index;
      t.wait = waiting::start;
      t.spins = 0;
      t.fenced = false;
      t.last_atomic = nullptr;
      if (++index.x == block.x) {
        index.x = 0;
        if (++index.y == block.y) index.y = 0, ++index.z;
      }
    }
    for (uint32_t i = 0; i < threads_; ++i) runs_.push(in_order(i));
  }

  // The i-th thread of the block in the schedule's basic order.
  uint32_t in_order(uint32_t i) const { return job_->settings.order == schedule::reverse ? threads_ - 1 - i : i; }

  // --- threads ---

  static void run_threads(void* self) {
    for (;;) static_cast<worker*>(self)->run_thread();
  }

  void run_thread() {
    {
      unseen u;
      running_->wait = waiting::nothing;
      environment_.restore();
    }
    try {
      if (!job_->abandoned) job_->invoke(job_->kernel);
    } catch (abandoned const&) {
    } catch (...) {
      unseen u;
      job_->fail(std::current_exception());
    }
    fiber* mine = nullptr;
    fiber* next = nullptr;
    {
      unseen u;
      mine = running_->runs_on;
      next = end_thread();
    }
    happens_before(this);
    fiber::switch_to(*mine, *next); // returns when this fiber is used for another thread
  }

  // Which fiber runs after the running thread has returned.
  fiber* end_thread() {
    thread_state& t = *running_;
    t.wait = waiting::finished;
    --live_;
    job_->spins = 0;
    if (!job_->abandoned) {
      ++job_->result.threads;
      uint32_t const rank = rank_of(t);
      warp_state& w = warp_[rank / machine::warp_width];
      w.exited |= 1u << rank % machine::warp_width;
      try {
        if (job_->settings.exited_threads_count && live_ != 0) do_without(w, rank / machine::warp_width);
        if (live_ == 0 || job_->abandoned) return main_;
        if (thread_state* const next = pick()) {
          running_ = next;
          return next->runs_on;
        }
        fail_stuck(error_kind::deadlock, "deadlock");
      } catch (abandoned const&) { // the failure is noted
      }
    }
    return main_;
  }

  // An exited thread may have been the last one that others waited for.
  void do_without(warp_state& w, uint32_t warp) {
    complete_barrier();
    for (uint32_t g = 0; g < w.groups;)
      if (!complete_group(w, warp, g)) ++g;
  }

  uint32_t rank_of(thread_state const& t) const { return static_cast<uint32_t>(&t - thread_.data()); }

  // Runs `t` from the worker's own stack until a thread returns there.
  void enter(thread_state& t) {
    running_ = &t;
    fiber::switch_to(*main_, *t.runs_on);
  }

  // Lets another thread run; the running one is in the run list, or waits for something that will put it there.
  void suspend() {
    if (job_->abandoned) throw abandoned{};
    thread_state* const self = running_;
    thread_state* const next = pick();
    if (next == nullptr) fail_stuck(error_kind::deadlock, "deadlock");
    if (next != self) {
      running_ = next;
      fiber::switch_to(*self->runs_on, *next->runs_on);
    }
    if (job_->abandoned) throw abandoned{};
  }

  // Removes the next thread from the run list; null when there is none.
  thread_state* pick() {
    if (runs_.empty()) return nullptr;
    uint32_t rank = 0;
    if (job_->settings.order != schedule::random)
      rank = runs_.pop_oldest();
    else if (eagerness_ == 1 && !random_.one_in(8))
      rank = runs_.pop_newest();
    else if (eagerness_ == 2 && !random_.one_in(8))
      rank = runs_.pop_oldest();
    else
      rank = runs_.pop_any(random_);
    job_->note(rank);
    return &thread_[rank];
  }

  // Whether the launch has failed and the running thread's destructors are at work: they must not wait. A thread whose
  // kernel caught `abandoned` is told again.
  bool unwinding() const {
    if (!job_->abandoned) return false;
    if (std::uncaught_exceptions() > 0) return true;
    throw abandoned{};
  }

  // --- barriers and warp collectives ---

  void complete_barrier() {
    uint32_t const needed = job_->settings.exited_threads_count ? live_ : threads_;
    if (barrier_.arrived != needed) return;
    if (barrier_.diverged) fail_stuck(error_kind::divergence, "divergence: threads wait at different block barriers");
    barrier_.arrived = 0;
    ++barrier_.generation;
    job_->spins = 0;
    for (uint32_t i = 0; i < threads_; ++i) {
      thread_state& t = thread_[in_order(i)];
      if (t.wait != waiting::block_barrier) continue;
      t.wait = waiting::nothing;
      t.votes = barrier_.votes;
      runs_.push(in_order(i));
    }
    barrier_.votes = 0;
    if (job_->active.size() > 1 && (job_->settings.order != schedule::random || random_.one_in(4))) hand_over();
  }

  // The running thread takes part in a collective of its warp.
  void meet(waiting kind, uint32_t mask, uint32_t bytes) {
    thread_state& t = *running_;
    ++job_->result.collectives;
    uint32_t const rank = rank_of(t), warp = rank / machine::warp_width, lane = rank % machine::warp_width;
    warp_state& w = warp_[warp];
    check_mask(w, mask, lane, t.where);
    t.wait = kind;
    t.mask = mask;
    uint32_t g = 0;
    while (g < w.groups && w.group[g].mask != mask) ++g;
    warp_group& group = w.group[g];
    if (g == w.groups) {
      ++w.groups;
      group = {mask, 0, kind, false, bytes, t.where, &w.sync[w.next_sync++ % sizeof w.sync]};
    } else if (group.kind != kind || group.bytes != bytes ||
               (kind != waiting::warp_barrier && !same_line(group.where, t.where))) {
      group.diverged = true;
    }
    group.arrived |= 1u << lane;
    void* const sync = group.sync; // a shuffle or ballot orders no memory accesses
    if (kind == waiting::warp_barrier) happens_before(sync);
    complete_group(w, warp, g);
    suspend();
    if (kind == waiting::warp_barrier) happens_after(sync);
  }

  void check_mask(warp_state const& w, uint32_t mask, uint32_t lane, source_line where) {
    if ((mask >> lane & 1) == 0)
      fail(error_kind::bad_mask,
           text("lane %u calls with mask 0x%08x, which does not hold it, %s:%d", lane, mask, where.file, where.line));
    if ((mask & ~w.present) != 0)
      fail(error_kind::bad_mask, text("mask 0x%08x names lanes %s, which the warp does not have, %s:%d", mask,
                                      lanes_of(mask & ~w.present).c_str(), where.file, where.line));
  }

  // Lets the lanes of group `g` go on if all are there; says whether they were.
  bool complete_group(warp_state& w, uint32_t warp, uint32_t g) {
    warp_group& group = w.group[g];
    uint32_t const absent = job_->settings.exited_threads_count ? w.exited : 0;
    if (group.arrived != (group.mask & ~absent)) return false;
    if (group.diverged)
      fail_stuck(error_kind::divergence, "divergence: lanes of one mask wait in different operations");
    exchange(group, warp);
    for (uint32_t i = 0; i < machine::warp_width; ++i) {
      uint32_t const lane = job_->settings.order == schedule::reverse ? machine::warp_width - 1 - i : i;
      if ((group.arrived >> lane & 1) == 0) continue;
      uint32_t const rank = warp * machine::warp_width + lane;
      thread_[rank].wait = waiting::nothing;
      runs_.push(rank);
    }
    group = w.group[--w.groups];
    return true;
  }

  void exchange(warp_group const& group, uint32_t warp) {
    thread_state* const lanes = &thread_[warp * machine::warp_width];
    if (group.kind == waiting::shuffle) {
      for (uint32_t rest = group.arrived; rest != 0; rest &= rest - 1) {
        thread_state& t = lanes[__builtin_ctz(rest)];
        if ((group.arrived >> t.from & 1) == 0)
          fail(error_kind::bad_lane, text("a shuffle of mask 0x%08x reads lane %u, which has exited, %s:%d", group.mask,
                                          t.from, t.where.file, t.where.line));
        copy_registers(t.received, lanes[t.from].offered, group.bytes);
      }
    } else if (group.kind == waiting::ballot) {
      uint32_t votes = 0;
      for (uint32_t rest = group.arrived; rest != 0; rest &= rest - 1)
        votes |= uint32_t(lanes[__builtin_ctz(rest)].vote) << __builtin_ctz(rest);
      for (uint32_t rest = group.arrived; rest != 0; rest &= rest - 1) lanes[__builtin_ctz(rest)].votes = votes;
    }
  }

  // --- atomics ---

  void before_atomic(source_line where, void* address) {
    unseen u;
    if (unwinding()) return;
    config const& c = job_->settings;
    thread_state& t = *running_;
    t.where = where;
    t.last_atomic = address;
    ++job_->result.atomics;
    if (t.spins >= 2) {
      if (job_->spins > c.spin_limit)
        fail_stuck(error_kind::livelock, "livelock: threads repeat atomic accesses that change nothing");
      hand_over();
      yield();
    } else if (c.order == schedule::random && c.preempt) {
      uint64_t const r = random_.next();
      if ((r & 3) == 0) hand_over();
      if ((r >> 2 & 3) == 0) yield();
      if (job_->abandoned) throw abandoned{};
    }
  }

  void after_atomic(bool changed) {
    unseen u;
    running_->spins = changed ? 0 : running_->spins + 1;
    job_->spins = changed ? 0 : job_->spins + 1;
  }

  // The running thread goes to the end of the run list.
  void yield() {
    runs_.push(rank_of(*running_));
    suspend();
  }

  // --- other blocks ---

  // Perhaps lets another resident block run. May throw `abandoned` on a simulated thread's stack.
  void hand_over() {
    if (job_->active.size() < 2) return;
    size_t const mine =
        static_cast<size_t>(std::find(job_->active.begin(), job_->active.end(), this) - job_->active.begin());
    size_t const next = job_->choose(mine);
    if (next == mine) return;
    ++job_->result.handovers;
    job_->active[next]->my_turn.give();
    my_turn.take();
  }

  // --- errors ---

  // A mistake of the running thread.
  [[noreturn]] void fail(error_kind kind, std::string const& what) {
    thread_state const& t = *running_;
    throw_error(kind, t,
                text("isobit::simt: block %s, thread %s: ", text(block_).c_str(), text(t.index).c_str()) + what);
  }

  // The block cannot go on.
  [[noreturn]] void fail_stuck(error_kind kind, char const* headline) {
    thread_state const* first = &thread_[0];
    for (uint32_t i = 0; i < threads_; ++i)
      if (thread_[i].wait != waiting::finished) {
        first = &thread_[i];
        break;
      }
    throw_error(kind, *first,
                text("isobit::simt: %s\n  block %s of grid %s; threads by rank, block of %s:", headline,
                     text(block_).c_str(), text(job_->settings.grid).c_str(), text(job_->settings.block).c_str()) +
                    describe_threads(thread_.data(), warp_.data(), threads_));
  }

  [[noreturn]] void throw_error(error_kind kind, thread_state const& t, std::string const& what) {
    job_->fail(std::make_exception_ptr(kernel_error(kind, block_, t.index, t.where, what)));
    last_words::error = job_->error;
    throw abandoned{};
  }

  struct free_aligned {
    void operator()(void* p) const { ::operator delete (p, std::align_val_t{128}); }
  };

  job* job_ = nullptr;
  fiber* main_ = nullptr;
  thread_state* running_ = nullptr;
  extent3 block_;
  uint32_t threads_ = 0;
  uint32_t live_ = 0;
  uint32_t eagerness_ = 0; //!< random schedules: 1 prefers the thread that became runnable last, 2 the first
  random_numbers random_;
  float_environment environment_ = float_environment::now();
  run_list runs_;
  block_barrier barrier_;
  std::vector<thread_state> thread_;
  std::vector<warp_state> warp_;
  std::vector<void*> shared_; //!< what this block's threads announced as shared memory
  size_t shared_count_ = 0;
  std::unique_ptr<void, free_aligned> dynamic_;
  size_t dynamic_bytes_ = 0;
  std::vector<std::unique_ptr<fiber>> fibers_;
  size_t stack_bytes_ = 0;

public:
  //! Simulated threads start with this.
  void set_environment(float_environment e) { environment_ = e; }
};

} // namespace isobit::inline bits1::simt::detail::inline ISOBIT_SIMT_VARIANT
