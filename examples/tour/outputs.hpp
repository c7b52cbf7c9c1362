// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Everything that the tour computes from one tensor, and how two such results are compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace tour {

//! A tensor in MXFP8, and how far it is from the original.
struct mx_copy {
  std::vector<std::uint8_t> codes, scales;
  float largest_error = 0; //!< max |x - copy|
  float relative_rms = 0;  //!< sqrt(sum (x - copy)^2 / sum x^2)
};

//! The digests of one array and of its chunks: a difference names its chunk.
struct array_digests {
  std::vector<std::uint64_t> chunks;
  std::uint64_t whole = 0;
};
struct named_digests {
  std::string of;
  array_digests digests;
};

struct outputs {
  float sum = 0, compensated_sum = 0;
  std::vector<float> row_sums, row_norms, row_scans;
  mx_copy floor, rceil;
  std::vector<named_digests> digests; //!< of the input, then of every array above
};

//! The bytes of one output: an array, or a single number.
struct part {
  std::string name;
  std::span<std::byte const> bytes;
  std::size_t element; //!< bytes of one number
  bool is_array;
};

//! All parts of `o`, in a fixed order. They point into `o`.
inline std::vector<part> parts(outputs const& o) {
  std::vector<part> result;
  auto const list = [&](std::string const& name, auto const& values) {
    result.push_back({name, std::as_bytes(std::span(values)), sizeof(values[0]), true});
  };
  auto const one = [&](std::string const& name, auto const& value) {
    result.push_back({name, std::as_bytes(std::span(&value, 1)), sizeof value, false});
  };
  auto const copy = [&](std::string const& name, mx_copy const& c) {
    list(name + " code", c.codes);
    list(name + " scale", c.scales);
    one(name + " largest error", c.largest_error);
    one(name + " relative rms", c.relative_rms);
  };
  for (auto const& [of, digests] : o.digests) {
    list("digest of " + of + ", chunk", digests.chunks);
    one("digest of " + of, digests.whole);
  }
  one("sum", o.sum);
  one("compensated sum", o.compensated_sum);
  list("row sum", o.row_sums);
  list("row norm", o.row_norms);
  list("row scan, element", o.row_scans);
  copy("MXFP8 floor", o.floor);
  copy("MXFP8 rceil", o.rceil);
  return result;
}

//! The first place where `got` differs from `expected` in any bit ("row norm 17", say), and how many more do;
//! "" where none does.
inline std::string difference(outputs const& expected, outputs const& got) {
  auto const a = parts(expected), b = parts(got);
  if (a.size() != b.size()) return "the number of outputs";
  std::string first;
  std::size_t others = 0;
  for (std::size_t p = 0; p < a.size(); ++p) {
    if (a[p].name != b[p].name || a[p].bytes.size() != b[p].bytes.size()) return "the size of " + a[p].name;
    for (std::size_t i = 0; i < a[p].bytes.size(); i += a[p].element) {
      if (std::memcmp(&a[p].bytes[i], &b[p].bytes[i], a[p].element) == 0) continue;
      if (first.empty())
        first = a[p].is_array ? a[p].name + ' ' + std::to_string(i / a[p].element) : a[p].name;
      else
        ++others;
    }
  }
  if (others != 0) first += " (and " + std::to_string(others) + " more)";
  return first;
}

} // namespace tour
