// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Compares the fingerprints of two files, or of a file and a manifest, tensor by tensor; where the bytes of both are
//! at hand, finds the first element that differs and confirms what counts as equal byte by byte.
#pragma once

#include "manifest.hpp"

#include <algorithm>

namespace tensors {

//! One thing to compare: a file with its tensors, or a manifest alone.
struct side {
  std::string path;
  std::optional<tensor_file> file;
  manifest prints;

  tensor const* find(std::string const& name) const {
    if (!file) return nullptr;
    auto const t =
        std::find_if(file->tensors.begin(), file->tensors.end(), [&](auto const& x) { return x.name == name; });
    return t == file->tensors.end() ? nullptr : &*t;
  }
};

//! Sentences about what differs, one a tensor; none: everything is equal.
struct comparison {
  std::vector<std::string> differences;
  std::size_t equal = 0; //!< tensors
  bool by_bytes = false; //!< equality was confirmed byte by byte
};

inline std::string shape_text(std::vector<std::uint64_t> const& shape) {
  std::string s = "[";
  for (auto const e : shape) s += (s.size() > 1 ? ", " : "") + std::to_string(e);
  return s + "]";
}

//! "element 1234 at [3, 10]: 0x3f800000 and 0x3f800001"
inline std::string first_different_element(tensor const& a, tensor const& b, std::uint64_t from_byte) {
  auto const place = std::mismatch(a.bytes.begin() + static_cast<std::ptrdiff_t>(from_byte), a.bytes.end(),
                                   b.bytes.begin() + static_cast<std::ptrdiff_t>(from_byte));
  if (place.first == a.bytes.end()) return "";
  auto const byte = static_cast<std::uint64_t>(place.first - a.bytes.begin());
  int const bits = isobit::dtype_bits(a.type);
  auto const read = [&](std::span<std::byte const> x, std::uint64_t element) {
    std::uint64_t v = 0;
    if (bits >= 8)
      std::memcpy(&v, x.data() + element * static_cast<std::uint64_t>(bits) / 8, static_cast<std::size_t>(bits) / 8);
    else v = std::to_integer<std::uint64_t>(x[element / 2] >> (element % 2 == 0 ? 0 : 4)) & 15;
    return v;
  };
  std::uint64_t element = byte * 8 / static_cast<std::uint64_t>(bits);
  if (bits == 4 && read(a.bytes, element) == read(b.bytes, element)) ++element; // the byte's high half
  std::vector<std::uint64_t> index(a.shape.size());
  std::uint64_t rest = element;
  for (std::size_t d = a.shape.size(); d-- > 0;) index[d] = rest % a.shape[d], rest /= a.shape[d];
  auto const digits = static_cast<std::size_t>(bits) / 4;
  auto const pattern = [&](tensor const& t) { return "0x" + hex(read(t.bytes, element)).substr(16 - digits); };
  return "element " + std::to_string(element) + " at " + shape_text(index) + ": " + pattern(a) + " and " + pattern(b);
}

inline std::string different_chunks(fingerprint const& a, fingerprint const& b, std::uint64_t chunk_bytes,
                                    tensor const* ta, tensor const* tb) {
  std::size_t count = 0, first = 0;
  for (std::size_t c = a.chunks.size(); c-- > 0;)
    if (a.chunks[c] != b.chunks[c]) ++count, first = c;
  if (count == 0) return "its digest differs, none of its chunks does: one of the files was damaged";
  std::string text = std::to_string(count) + " of " + std::to_string(a.chunks.size()) +
                     " chunks differ; the first is chunk " + std::to_string(first) + ", bytes " +
                     std::to_string(first * chunk_bytes) + " to " +
                     std::to_string(std::min(a.bytes, (first + 1) * chunk_bytes) - 1);
  if (ta != nullptr && tb != nullptr) text += "; first " + first_different_element(*ta, *tb, first * chunk_bytes);
  return text;
}

inline comparison compare(side const& a, side const& b) {
  comparison result;
  result.by_bytes = a.file && b.file;
  bool const same_chunks = a.prints.chunk_bytes == b.prints.chunk_bytes;
  for (auto const& entry : a.prints.tensors) {
    auto const& name = entry.first;
    auto const& fa = entry.second;
    auto const differs = [&](std::string const& how) { result.differences.push_back(name + ": " + how); };
    auto const other = b.prints.tensors.find(name);
    if (other == b.prints.tensors.end()) {
      differs("only in " + a.path);
      continue;
    }
    auto const& fb = other->second;
    auto const* const ta = a.find(name);
    auto const* const tb = b.find(name);
    if (fa.type != fb.type)
      differs("dtype " + fa.type + " and " + fb.type);
    else if (fa.shape != fb.shape)
      differs("shape " + shape_text(fa.shape) + " and " + shape_text(fb.shape));
    else if (!(fa.digest == fb.digest))
      differs(same_chunks ? different_chunks(fa, fb, a.prints.chunk_bytes, ta, tb)
                          : std::string("its digest differs (chunks of other sizes say no more)"));
    else if (ta != nullptr && tb != nullptr &&
             !std::equal(ta->bytes.begin(), ta->bytes.end(), tb->bytes.begin(), tb->bytes.end()))
      differs("equal digests, but " + first_different_element(*ta, *tb, 0));
    else
      ++result.equal;
  }
  for (auto const& [name, f] : b.prints.tensors)
    if (!a.prints.tensors.contains(name)) result.differences.push_back(name + ": only in " + b.path);
  return result;
}

} // namespace tensors
