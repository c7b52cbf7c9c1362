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

//! The digests of the chunks of one array: a difference names its chunk.
struct digest_list {
  std::string of;
  std::vector<std::uint64_t> chunks;
};

struct outputs {
  float sum = 0, compensated_sum = 0;
  std::vector<float> row_sums, row_norms, row_scans;
  mx_copy floor, rceil;
  std::vector<digest_list> digests; //!< of the input, then of every array above
};

//! The bytes of one output.
struct part {
  std::string name;
  std::span<std::byte const> bytes;
  std::size_t element;
};

//! All parts of `o`, in a fixed order. They point into `o`.
inline std::vector<part> parts(outputs const& o) {
  std::vector<part> result;
  auto const list = [&](std::string const& name, auto const& values) {
    result.push_back({name, std::as_bytes(std::span(values)), sizeof(values[0])});
  };
  auto const one = [&](std::string const& name, auto const& value) {
    result.push_back({name, std::as_bytes(std::span(&value, 1)), sizeof value});
  };
  auto const copy = [&](std::string const& name, mx_copy const& c) {
    list(name + " code", c.codes);
    list(name + " scale", c.scales);
    one(name + " largest error", c.largest_error);
    one(name + " relative rms", c.relative_rms);
  };
  for (auto const& d : o.digests) list("digest of " + d.of + ", chunk", d.chunks);
  one("sum", o.sum);
  one("compensated sum", o.compensated_sum);
  list("row sum", o.row_sums);
  list("row norm", o.row_norms);
  list("row scan, element", o.row_scans);
  copy("MXFP8 floor", o.floor);
  copy("MXFP8 rceil", o.rceil);
  return result;
}

//! The first place where `got` differs from `expected` in any bit ("row norm 17", say), and how many others do;
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
        first = a[p].bytes.size() == a[p].element ? a[p].name : a[p].name + ' ' + std::to_string(i / a[p].element);
      else
        ++others;
    }
  }
  if (others != 0) first += " and " + std::to_string(others) + " others";
  return first;
}

} // namespace tour
