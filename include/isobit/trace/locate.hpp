// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! From a differing tensor to its chunk, by digests, and to its element, by bytes.
#pragma once

#include <isobit/algo/digest_host.hpp>
#include <isobit/trace/element.hpp>
#include <isobit/trace/finding.hpp>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>

namespace isobit::inline bits1::trace {

using bytes = std::vector<unsigned char>;

//! Where the bytes of a tensor are: of input or output number `index` of an event. Nothing where they are not at hand.
using byte_source = std::function<std::optional<bytes>(event const&, bool output, size_t index)>;

//! The files that a recorder kept beside the trace in `folder`.
inline byte_source files_in(std::filesystem::path folder) {
  return [folder = std::move(folder)](event const& e, bool output, size_t index) -> std::optional<bytes> {
    auto const& list = output ? e.outputs : e.inputs;
    if (index >= list.size() || list[index].data.empty()) return {};
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen((folder / list[index].data).c_str(), "rb"),
                                                         [](std::FILE* f) { return std::fclose(f); });
    if (!file) return {};
    bytes out;
    unsigned char part[1 << 14];
    while (size_t const n = std::fread(part, 1, sizeof part, file.get())) out.insert(out.end(), part, part + n);
    if (std::ferror(file.get())) return {};
    return out;
  };
}

namespace detail {

// Whether these are the bytes that the digest was made of, as far as one can tell.
inline bool belong(bytes const& data, signature const& s) {
  auto const* type = find_element_type(s.dtype);
  if (type == nullptr) return true;
  if (s.seen != evidence::full || !s.text.empty()) return data.size() / type->bytes == s.count;
  if (data.size() % type->bytes != 0 || data.size() / type->bytes != s.count) return false;
  auto const sum = digest_range(host(), data.data(), data.size());
  return finish_digest(sum, {type->type, s.shape.data(), static_cast<uint32_t>(s.shape.size())}) == s.digest;
}

inline void locate_chunk(signature const& a, signature const& b, location& where) {
  if (a.chunk_bytes == 0 || a.chunk_bytes != b.chunk_bytes || a.chunks.size() != b.chunks.size()) return;
  where.chunk_bytes = a.chunk_bytes;
  where.chunks = a.chunks.size();
  for (size_t c = a.chunks.size(); c-- > 0;)
    if (a.chunks[c] != b.chunks[c]) ++where.chunks_different, where.first_chunk = c;
}

inline void locate_element(bytes const& a, bytes const& b, signature const& s, location& where) {
  auto const* type = find_element_type(s.dtype);
  if (type == nullptr || a.size() % type->bytes != 0) type = find_element_type("u8");
  if (a.size() != b.size()) {
    where.note = "the kept bytes differ in length";
    return;
  }
  size_t const n = a.size() / type->bytes;
  for (size_t i = n; i-- > 0;) {
    if (std::memcmp(&a[i * type->bytes], &b[i * type->bytes], type->bytes) == 0) continue;
    ++where.elements_different;
    where.first_element = i;
  }
  if (where.elements_different == 0) {
    where.note = "the kept bytes are equal";
    return;
  }
  where.elements = n;
  unsigned char const *pa = &a[where.first_element * type->bytes], *pb = &b[where.first_element * type->bytes];
  where.a = type->describe(pa);
  where.b = type->describe(pb);
  where.ulps = type->apart(pa, pb);
}

// Fills `f.where` for a finding that names a tensor of both traces. `checked`: digests are isobit's, so that they tell
// whether kept bytes are the right ones.
inline void locate(finding& f, byte_source const& bytes_a, byte_source const& bytes_b, bool checked) {
  signature const *a = f.tensor(f.a), *b = f.tensor(f.b);
  if (a == nullptr || b == nullptr) return;
  if (a->dtype != b->dtype || a->shape != b->shape) return;
  locate_chunk(*a, *b, f.where);
  auto const x = bytes_a ? bytes_a(*f.a, f.output, f.index) : std::nullopt;
  auto const y = bytes_b ? bytes_b(*f.b, f.output, f.index) : std::nullopt;
  if (!x || !y) {
    f.where.note = "the bytes are not at hand";
    return;
  }
  if (checked && f.kind != finding_kind::contradiction && (!belong(*x, *a) || !belong(*y, *b))) {
    f.where.note = "the kept bytes are not those that the digest was made of";
    return;
  }
  locate_element(*x, *y, *a, f.where);
}

} // namespace detail

} // namespace isobit::inline bits1::trace
