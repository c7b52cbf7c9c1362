// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The state of a block's threads in words.
#pragma once

#include <isobit/simt/thread_state.hpp>

#include <cstdio>
#include <string>

namespace isobit::inline bits1::simt::detail {

inline std::string text(char const* format, auto... values) {
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

inline std::string text(extent3 e) { return text("(%u,%u,%u)", e.x, e.y, e.z); }
inline std::string text(source_line w) { return text("%s:%d", w.file, w.line); }

//! "0-15, 17, 31" from the bits of a mask.
inline std::string lanes_of(uint32_t mask) {
  std::string out;
  for (uint32_t i = 0; i < 32; ++i) {
    if ((mask >> i & 1) == 0) continue;
    uint32_t last = i;
    while (last + 1 < 32 && (mask >> (last + 1) & 1) != 0) ++last;
    if (!out.empty()) out += ", ";
    out += last == i ? text("%u", i) : text("%u-%u", i, last);
    i = last;
  }
  return out;
}

//! Whom the collective of `t`, a thread of warp `w`, still waits for.
inline std::string missing(thread_state const& t, warp_state const& w) {
  std::string out = text(" of mask 0x%08x", t.mask);
  for (uint32_t g = 0; g < w.groups; ++g) {
    if (w.group[g].mask != t.mask) continue;
    uint32_t const absent = t.mask & ~w.group[g].arrived;
    if ((absent & ~w.exited) != 0) out += "; lanes " + lanes_of(absent & ~w.exited) + " have not arrived";
    if ((absent & w.exited) != 0) out += "; lanes " + lanes_of(absent & w.exited) + " have exited";
  }
  return out;
}

inline std::string describe(thread_state const& t, warp_state const& w) {
  std::string const at = ", " + text(t.where);
  switch (t.wait) {
  case waiting::nothing:
    return t.spins >= 2 ? "at an atomic" + at : "able to run";
  case waiting::start:
    return "not started";
  case waiting::finished:
    return "exited";
  case waiting::block_barrier:
    return "at the block barrier" + at;
  case waiting::warp_barrier:
    return "at the warp barrier" + missing(t, w) + at;
  case waiting::shuffle:
    return "in a shuffle" + missing(t, w) + at;
  case waiting::ballot:
    return "in a ballot" + missing(t, w) + at;
  }
  return {};
}

//! One line for each run of threads in the same state, 18 at most; each begins with a line break.
inline std::string describe_threads(thread_state const* threads, warp_state const* warps, uint32_t count) {
  auto const state_of = [&](uint32_t rank) { return describe(threads[rank], warps[rank / machine::warp_width]); };
  std::string out;
  int lines = 0;
  for (uint32_t first = 0, last = 0; first < count; first = last + 1) {
    std::string const what = state_of(first);
    last = first;
    while (last + 1 < count && state_of(last + 1) == what) ++last;
    if (++lines > 18) return out + text("\n  ... and %u more threads", count - first);
    out += first == last ? text("\n  thread %u: ", first) : text("\n  threads %u-%u: ", first, last);
    out += what;
  }
  return out;
}

} // namespace isobit::inline bits1::simt::detail
