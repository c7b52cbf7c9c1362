// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! A stack of its own for each simulated thread, and the switch from one to another. Boost.Context's assembly does the
//! switch where ISOBIT_SIMT_BOOST_CONTEXT is defined (the CMake target isobit::simt defines it when it finds the
//! library); ucontext, more than ten times slower, otherwise.
#pragma once

#include <isobit/simt/stack.hpp>

#include <cstring>
#include <cxxabi.h>
#include <optional>

#if defined(ISOBIT_SIMT_BOOST_CONTEXT)
#include <boost/context/detail/fcontext.hpp>
#define ISOBIT_SIMT_VARIANT with_fcontext
#else
#include <ucontext.h>
#define ISOBIT_SIMT_VARIANT with_ucontext
#endif

// The two variants have different names, so that object files built either way can be linked into one program.
namespace isobit::inline bits1::simt::detail::inline ISOBIT_SIMT_VARIANT {

//! A thread's rounding mode and flush-to-zero mode. Simulated threads start with those of the launching thread.
class float_environment {
public:
  static float_environment now() {
    float_environment e;
#if defined(__x86_64__)
    e.control_ = __builtin_ia32_stmxcsr();
#elif defined(__aarch64__)
    asm volatile("mrs %0, fpcr" : "=r"(e.control_));
#endif
    return e;
  }
  void restore() const {
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(static_cast<uint32_t>(control_));
#elif defined(__aarch64__)
    asm volatile("msr fpcr, %0" : : "r"(control_));
#endif
  }

private:
  uint64_t control_ = 0;
};

//! A suspended computation: either a new stack on which `body(argument)` will run (and never return), or, default
//! constructed, the stack of the operating-system thread that constructs it.
class fiber {
public:
  fiber() {
#if defined(ISOBIT_SIMT_TSAN)
    tsan_ = __tsan_get_current_fiber();
#endif
  }

  fiber(size_t stack_bytes, void (*body)(void*), void* argument) : body_(body), argument_(argument) {
    stack_.emplace(stack_bytes);
    bottom_ = stack_->bottom();
    size_ = stack_->size();
#if defined(ISOBIT_SIMT_BOOST_CONTEXT)
    context_ = boost::context::detail::make_fcontext(stack_->top(), stack_->size(), &fiber::enter);
#else
    ::getcontext(&context_);
    context_.uc_stack.ss_sp = stack_->bottom();
    context_.uc_stack.ss_size = stack_->size();
    context_.uc_link = nullptr;
    ::makecontext(&context_, &fiber::enter, 0);
#endif
#if defined(ISOBIT_SIMT_TSAN)
    tsan_ = __tsan_create_fiber(0);
#endif
  }

  fiber(fiber const&) = delete;
  fiber& operator=(fiber const&) = delete;
  ~fiber() {
#if defined(ISOBIT_SIMT_TSAN)
    if (stack_) __tsan_destroy_fiber(tsan_);
#endif
  }

  //! Suspends `from`, which must be what is running now, and runs `to`. Returns when something switches back to `from`,
  //! on the same operating-system thread.
  ISOBIT_SIMT_UNSEEN static void switch_to(fiber& from, fiber& to) {
    exception_state const exceptions; // those being handled belong to the fiber, not to the thread
    handover h{&from, &to};
#if defined(ISOBIT_SIMT_ASAN)
    __sanitizer_start_switch_fiber(&from.fake_stack_, to.bottom_, to.size_);
#endif
#if defined(ISOBIT_SIMT_TSAN)
    __tsan_switch_to_fiber(to.tsan_, __tsan_switch_to_fiber_no_sync);
#endif
#if defined(ISOBIT_SIMT_BOOST_CONTEXT)
    arrive(boost::context::detail::jump_fcontext(to.context_, &h));
#else
    in_flight = &h;
    ::swapcontext(&from.context_, &to.context_);
    arrive(in_flight);
#endif
    exceptions.restore();
  }

private:
  struct handover {
    fiber* from;
    fiber* to;
  };

  // The C++ runtime's list of exceptions in flight.
  class exception_state {
  public:
    ISOBIT_SIMT_UNSEEN exception_state() : globals_(reinterpret_cast<uint64_t*>(abi::__cxa_get_globals())) {
      saved_[0] = globals_[0];
      saved_[1] = globals_[1];
      globals_[0] = 0;
      globals_[1] = 0;
    }
    ISOBIT_SIMT_UNSEEN void restore() const {
      globals_[0] = saved_[0];
      globals_[1] = saved_[1];
    }

  private:
    uint64_t* globals_;
    uint64_t saved_[2];
  };

  ISOBIT_SIMT_UNSEEN static void finish_switch([[maybe_unused]] handover const& h) {
#if defined(ISOBIT_SIMT_ASAN)
    // The stack that was left is known only now if it belongs to an operating-system thread.
    __sanitizer_finish_switch_fiber(h.to->fake_stack_, &h.from->bottom_, &h.from->size_);
#endif
  }

#if defined(ISOBIT_SIMT_BOOST_CONTEXT)
  ISOBIT_SIMT_UNSEEN static handover arrive(boost::context::detail::transfer_t t) {
    handover const h = *static_cast<handover*>(t.data);
    h.from->context_ = t.fctx;
    finish_switch(h);
    return h;
  }
  ISOBIT_SIMT_UNSEEN static void enter(boost::context::detail::transfer_t t) {
    fiber& self = *arrive(t).to;
    self.body_(self.argument_);
  }
  boost::context::detail::fcontext_t context_ = nullptr;
#else
  ISOBIT_SIMT_UNSEEN static handover arrive(handover* p) {
    handover const h = *p;
    finish_switch(h);
    return h;
  }
  ISOBIT_SIMT_UNSEEN static void enter() {
    fiber& self = *arrive(in_flight).to;
    self.body_(self.argument_);
  }
  static inline thread_local handover* in_flight = nullptr;
  ucontext_t context_{};
#endif

  std::optional<stack> stack_;
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;
  void const* bottom_ = nullptr;
  size_t size_ = 0;
  [[maybe_unused]] void* fake_stack_ = nullptr; // used under the sanitizers only
  [[maybe_unused]] void* tsan_ = nullptr;
};

} // namespace isobit::inline bits1::simt::detail::inline ISOBIT_SIMT_VARIANT
