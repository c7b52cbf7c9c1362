// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What the tour prints.
#pragma once

#include "others.hpp"
#include "outputs.hpp"
#include "safetensors.hpp"

#include <isobit/algo/digest.hpp>

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace tour {

//! One line on the terminal that says what is being done; nothing where standard error is not a terminal.
class progress {
public:
  ~progress() { clear(); }
  void say(std::string const& what) {
    if (!visible_) return;
    std::fprintf(stderr, "\r\033[K%s", what.substr(0, 78).c_str());
    std::fflush(stderr);
  }
  void clear() {
    if (visible_) std::fputs("\r\033[K", stderr);
  }

private:
  bool visible_ = isatty(STDERR_FILENO) != 0;
};

//! One number for all outputs of a target: each output's digest, in order.
inline std::uint64_t digest(outputs const& o) {
  isobit::digest_accumulator all;
  std::uint64_t index = 0;
  for (auto const& p : parts(o))
    all.add(isobit::digest(isobit::thread{}, p.bytes.data(), p.bytes.size()), p.bytes.size(), index++);
  return isobit::finish_digest(all.sum(), index);
}

inline std::string percent(float x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", 100.0 * double(x));
  return text;
}

inline void print_heading() {
  std::printf("%-46s %12s %5s %15s %15s %8s %8s\n", "tensor", "rows x cols", "type", "sum", "compensated", "MX floor",
              "MX rceil");
  std::printf("%-46s %12s %5s %15s\n\n", "  target", "launches", "", "all outputs");
}

inline void print_tensor(tensor const& t, outputs const& o) {
  std::string const shape = std::to_string(t.rows()) + " x " + std::to_string(t.columns());
  std::printf("%-46s %12s %5s %15.9g %15.9g %8s %8s\n", t.name.c_str(), shape.c_str(),
              std::string(describe(t.type).name).c_str(), double(o.sum), double(o.compensated_sum),
              percent(o.floor.relative_rms).c_str(), percent(o.rceil.relative_rms).c_str());
}

//! `difference`: "" where all bits are the same.
inline void print_target(std::string const& target, std::size_t launches, outputs const& o,
                         std::string const& difference) {
  std::string const count = launches == 0 ? "" : std::to_string(launches);
  std::printf("  %-44s %12s %4s %016llx   same bits: %s\n", target.c_str(), count.c_str(), "",
              static_cast<unsigned long long>(digest(o)), difference.empty() ? "yes" : "NO");
  if (!difference.empty()) std::printf("    first difference: %s\n", difference.c_str());
}

//! "+3", or "-2 .. +7" for several sums.
inline std::string range(sums const& s) {
  char text[64];
  if (s.distinct() == 1)
    std::snprintf(text, sizeof text, "%+lld", static_cast<long long>(s.least()));
  else
    std::snprintf(text, sizeof text, "%+lld .. %+lld", static_cast<long long>(s.least()),
                  static_cast<long long>(s.most()));
  return text;
}

//! The same, with the number of different sums.
inline std::string range_and_count(sums const& s) { return range(s) + " (" + std::to_string(s.distinct()) + ")"; }

inline constexpr char const* other_columns = "%-46s %8s %6s %10s %11s %19s %19s\n";

inline void print_other_heading(unsigned seeds) {
  std::printf(
      "\nThe same sums in other ways: distance from the exact sum in units in the last place (number of results).\n"
      "isobit and partial sums: split over 1, 2, 3 and 8 ranks; atomicAdd: %u schedules of the simulated GPU.\n\n",
      seeds);
  std::printf(other_columns, "tensor", "isobit", "comp.", "accumulate", "std::reduce", "partial sums", "atomicAdd");
}

inline void print_other(std::string const& name, other_sums const& o) {
  std::printf(other_columns, name.c_str(), range_and_count(o.fragments).c_str(), range(o.compensated).c_str(),
              range(o.accumulate).c_str(), range(o.reduce).c_str(), range_and_count(o.partial_sums).c_str(),
              range_and_count(o.atomics).c_str());
}

} // namespace tour
