// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! From the digest sums of chunks, which each target computes, to digests.
#pragma once

#include <isobit/algo/digest.hpp>

#include <cstdint>
#include <vector>

namespace tour {

//! Bytes of a chunk: a difference is narrowed down to 1024 floats.
inline constexpr std::uint64_t chunk_bytes = 4096;

//! The digest of the whole array of `T` first, then one for each chunk. The sums of the chunks add to that of the whole.
template <class T> std::vector<std::uint64_t> finish(std::vector<isobit::digest_sum> const& sums, std::uint64_t count) {
  isobit::digest_sum total;
  for (auto const& s : sums) total += s;
  std::vector<std::uint64_t> result{isobit::finish_digest(total, {isobit::dtype_of<T>, &count, 1})};
  std::uint64_t left = count * sizeof(T);
  for (auto const& s : sums) {
    std::uint64_t const length = left < chunk_bytes ? left : chunk_bytes;
    result.push_back(isobit::finish_digest(s, length));
    left -= length;
  }
  return result;
}

} // namespace tour
