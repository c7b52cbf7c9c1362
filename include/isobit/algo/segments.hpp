// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Where segments lie: `csr` (offsets), `fixed_rows` (rows of one length), `counted_csr` (as `csr`, with a number of
//! segments that only the device knows); and how they are cut into units of equal work.
//!
//! Work is measured in positions: a segment takes one for each element and one for itself, so that a million empty
//! segments are work too. A unit is 2^level neighbouring positions.
#pragma once

#include <isobit/bits/integer.hpp>
#include <isobit/error.hpp>
#include <isobit/group/thread.hpp>
#include <isobit/group/tile.hpp>
#include <isobit/order/level.hpp>

namespace isobit::inline bits1 {

//! Segment s holds the elements [offsets[s], offsets[s + 1]). `offsets` has `count` + 1 entries of any integer type that
//! never fall.
template <stl::integral Offset> struct csr {
  Offset const* offsets;
  uint64_t count;

  ISOBIT_HD uint64_t segments() const { return count; }
  ISOBIT_HD uint64_t first(uint64_t s) const { return static_cast<uint64_t>(offsets[s]); }
  ISOBIT_HD uint64_t length(uint64_t s) const { return static_cast<uint64_t>(offsets[s + 1] - offsets[s]); }
  //! The elements before segment s and in no other place than a segment.
  ISOBIT_HD uint64_t before(uint64_t s) const { return static_cast<uint64_t>(offsets[s] - offsets[0]); }
};
template <stl::integral Offset> csr(Offset const*, uint64_t) -> csr<Offset>;

//! The same, where the number of segments lies in memory too: it may be the result of an earlier kernel.
template <stl::integral Offset> struct counted_csr {
  Offset const* offsets;
  uint64_t const* count;

  ISOBIT_HD uint64_t segments() const { return *count; }
  ISOBIT_HD uint64_t first(uint64_t s) const { return static_cast<uint64_t>(offsets[s]); }
  ISOBIT_HD uint64_t length(uint64_t s) const { return static_cast<uint64_t>(offsets[s + 1] - offsets[s]); }
  ISOBIT_HD uint64_t before(uint64_t s) const { return static_cast<uint64_t>(offsets[s] - offsets[0]); }
};

//! Row s holds the elements [s * stride, s * stride + columns). rows * stride may exceed 2^32.
struct fixed_rows {
  uint64_t rows, columns, stride;

  ISOBIT_HD constexpr fixed_rows(uint64_t rows_, uint64_t columns_) : fixed_rows(rows_, columns_, columns_) {}
  ISOBIT_HD constexpr fixed_rows(uint64_t rows_, uint64_t columns_, uint64_t stride_)
      : rows(rows_), columns(columns_), stride(stride_) {}
  ISOBIT_HD constexpr uint64_t segments() const { return rows; }
  ISOBIT_HD constexpr uint64_t first(uint64_t s) const { return s * stride; }
  ISOBIT_HD constexpr uint64_t length(uint64_t) const { return columns; }
  ISOBIT_HD constexpr uint64_t before(uint64_t s) const { return s * columns; }
};

//! Anything that says how many segments there are and where each lies.
template <class L>
concept segment_layout = requires(L const l, uint64_t s) {
  { l.segments() } -> stl::convertible_to<uint64_t>;
  { l.first(s) } -> stl::convertible_to<uint64_t>;
  { l.length(s) } -> stl::convertible_to<uint64_t>;
  { l.before(s) } -> stl::convertible_to<uint64_t>;
};

namespace detail {

template <class Layout> ISOBIT_HD constexpr uint64_t position_of(Layout const& layout, uint64_t s) {
  return layout.before(s) + s;
}

// The first segment whose position is `target` or later (segments() if there is none), by one thread.
template <class Layout> ISOBIT_HD uint64_t segment_at(thread const&, Layout const& layout, uint64_t target) {
  uint64_t low = 0, high = layout.segments();
  while (low < high) {
    uint64_t const middle = low + (high - low) / 2;
    if (position_of(layout, middle) < target)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
ISOBIT_HD inline uint64_t segment_at(thread const&, fixed_rows const& layout, uint64_t target) {
  uint64_t const each = layout.columns + 1, s = target / each + (target % each != 0 ? 1 : 0);
  return s < layout.rows ? s : layout.rows;
}
// By a warp: 32 probes a step.
template <class Layout> ISOBIT_HD uint64_t segment_at(tile<32> const& t, Layout const& layout, uint64_t target) {
  uint64_t low = 0, high = layout.segments();
  while (low < high) {
    uint64_t const step = (high - low + 31) / 32, probe = low + (t.thread_rank() + 1) * step - 1;
    bool const before = probe < high && position_of(layout, probe) < target;
    uint32_t const votes = machine::ballot(t.mask(), before); // a run of ones from lane 0 on
    int const passed = lowest_level(~uint64_t(votes));
    low += static_cast<uint64_t>(passed) * step;
    if (low >= high) return high;
    if (high - low > step - 1) high = low + step - 1;
  }
  return low;
}
ISOBIT_HD inline uint64_t segment_at(tile<32> const&, fixed_rows const& layout, uint64_t target) {
  return segment_at(thread{}, layout, target);
}

} // namespace detail

//! The workspace of a segmented reduction by many blocks: for each unit one counter and two partial results. The
//! counters, the first `zeroed_bytes` of it, must be 0 before the first use; every launch leaves them 0 again. Launches
//! that overlap need a workspace each. The level changes no bit.
template <class State> struct segment_workspace {
  uint32_t* arrivals; //!< of the segment that begins in unit u and is longer than a unit
  State* partials; //!< 2u: of the segment that covers the start of unit u; 2u + 1: node 0 of one that begins there
  int level;
  uint64_t units;

  static constexpr int least_level = 12;
  static constexpr uint64_t most_units = 32768;

  //! log2 of a unit's positions for so many elements and segments.
  ISOBIT_HD static constexpr int level_for(uint64_t elements, uint64_t segments) {
    int level = least_level;
    while (level < 62 && ((elements + segments) >> level) >= most_units) ++level;
    return level;
  }
  ISOBIT_HD static constexpr uint64_t units_for(uint64_t elements, uint64_t segments, int level) {
    return ceil_shift(elements + segments, level);
  }
  //! Bytes of a workspace for at most so many elements and segments.
  ISOBIT_HD static constexpr uint64_t bytes(uint64_t elements, uint64_t segments) {
    return bytes(elements, segments, level_for(elements, segments));
  }
  ISOBIT_HD static constexpr uint64_t bytes(uint64_t elements, uint64_t segments, int level) {
    uint64_t const units = units_for(elements, segments, level);
    return zeroed(units) + 2 * units * sizeof(State);
  }
  ISOBIT_HD static constexpr uint64_t zeroed_bytes(uint64_t elements, uint64_t segments) {
    return zeroed(units_for(elements, segments, level_for(elements, segments)));
  }
  //! The workspace at `memory`, aligned to 16 bytes and to State.
  ISOBIT_HD static segment_workspace at(void* memory, uint64_t elements, uint64_t segments) {
    return at(memory, elements, segments, level_for(elements, segments));
  }
  ISOBIT_HD static segment_workspace at(void* memory, uint64_t elements, uint64_t segments, int level) {
    uint64_t const units = units_for(elements, segments, level);
    auto* const base = static_cast<unsigned char*>(memory);
    return {reinterpret_cast<uint32_t*>(base), reinterpret_cast<State*>(base + zeroed(units)), level, units};
  }

private:
  ISOBIT_HD static constexpr uint64_t zeroed(uint64_t units) {
    constexpr uint64_t align = alignof(State) > 16 ? alignof(State) : 16;
    return (units * sizeof(uint32_t) + align - 1) / align * align;
  }
};

//! What a check on a device has found; equal inputs give equal reports, whatever the schedule.
struct index_report {
  uint64_t count; //!< how many entries are wrong
  uint64_t first; //!< the index of the first of them; `~0` where there is none
};

#if !defined(__CUDACC_RTC__)
//! Throws `invalid_argument`, naming the first wrong entry of `argument`, if the report (copied to the host) counts any.
inline void throw_if_any(index_report const& report, char const* function, char const* argument, char const* needed) {
  if (report.count == 0) return;
  char what[128];
  std::snprintf(what, sizeof what, "%s; the first that is not is entry %llu, of %llu", needed,
                static_cast<unsigned long long>(report.first), static_cast<unsigned long long>(report.count));
  throw invalid_argument(function, argument, what);
}
#endif

} // namespace isobit::inline bits1
