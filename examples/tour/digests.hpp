// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! From the digest sums of chunks, which each target computes, to digests.
#pragma once

#include "outputs.hpp"

#include <isobit/algo/digest.hpp>

#include <cstdint>
#include <vector>

namespace tour {

//! Bytes of a chunk: a difference is narrowed down to 1024 floats.
inline constexpr std::uint64_t chunk_bytes = 4096;

//! The digests of an array of `count` elements of `T` whose chunks have these sums; they add to the sum of the whole.
template <class T> array_digests finish(std::vector<isobit::digest_sum> const& sums, std::uint64_t count) {
  array_digests result;
  isobit::digest_sum total;
  std::uint64_t left = count * sizeof(T);
  for (auto const& s : sums) {
    std::uint64_t const length = left < chunk_bytes ? left : chunk_bytes;
    result.chunks.push_back(isobit::finish_digest(s, length));
    total += s;
    left -= length;
  }
  result.whole = isobit::finish_digest(total, {isobit::dtype_of<T>, &count, 1});
  return result;
}

} // namespace tour
