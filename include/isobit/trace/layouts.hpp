// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! One line of a trace file to one event: what all readers share, and isobit's own layout (docs/traces.md). Whatever
//! has a meaning is checked, and an unknown field is refused.
#pragma once

#include <isobit/trace/json.hpp>
#include <isobit/trace/log.hpp>

namespace isobit::inline bits1::trace::detail {

// The fields of an object that have been seen: each at most once, and those needed at least once.
class fields {
public:
  template <size_t N>
  fields(json_reader& r, std::string_view const (&known)[N]) : r_(r), known_(known), size_(static_cast<int>(N)) {
    static_assert(N <= 32);
  }
  // The number of the field, or -1 for an unknown one.
  int see(std::string_view key) {
    int n = next_; // fields mostly come in their usual order
    for (int tried = 0; n >= size_ || known_[n] != key; ++tried) {
      if (tried > size_) return -1;
      n = n >= size_ ? 0 : n + 1;
    }
    next_ = n + 1;
    if (has(n)) r_.fail("the field \"" + std::string(key) + "\" is there twice");
    seen_ |= 1u << n;
    return n;
  }
  [[noreturn]] void unknown(std::string_view key) const { r_.fail("unknown field \"" + std::string(key) + "\""); }
  bool has(int n) const { return seen_ >> n & 1; }
  void need(std::initializer_list<int> numbers) const {
    for (int const n : numbers)
      if (!has(n)) r_.fail("the field \"" + std::string(known_[n]) + "\" is missing");
  }

private:
  json_reader& r_;
  std::string_view const* known_;
  int size_, next_ = 0;
  uint32_t seen_ = 0;
};

inline constexpr uint64_t most_number = no_number - 1;

inline uint32_t small_number(json_reader& r) { return static_cast<uint32_t>(r.integer(most_number)); }
inline uint32_t number_or_null(json_reader& r) { return r.null() ? no_number : small_number(r); }
inline void read_text(json_reader& r, std::string& out) {
  std::string room;
  out.assign(r.string(room));
}
// An event without contents, with the memory that it had.
inline void reset(event& e) {
  for (std::string* text : {&e.kind, &e.name, &e.scope, &e.order, &e.recipe}) text->clear();
  for (std::vector<signature>* list : {&e.inputs, &e.outputs}) list->clear();
  e.rank = e.iteration = e.microbatch = e.occurrence = 0;
  e.sequence = 0;
  e.inputs_recorded = true;
}
inline void need_words(json_reader& r, event const& e) {
  if (e.kind.empty() || e.name.empty()) r.fail("an event without kind or name");
}

inline bool hex64(std::string_view text, uint64_t& out) {
  if (text.size() != 16) return false;
  out = 0;
  for (char const c : text) {
    bool const digit = c >= '0' && c <= '9';
    if (!digit && !(c >= 'a' && c <= 'f')) return false;
    out = out << 4 | static_cast<uint64_t>(digit ? c - '0' : c - 'a' + 10);
  }
  return true;
}
inline uint64_t read_hex64(json_reader& r) {
  std::string room;
  uint64_t n;
  if (!hex64(r.string(room), n)) r.fail("a digest is 16 hexadecimal digits, in lower case");
  return n;
}
// A digest, or the reason why there is none.
inline void read_digest(json_reader& r, signature& s) {
  std::string room;
  std::string_view const text = r.string(room);
  s.seen = evidence::full;
  s.text.clear();
  if (hex64(text, s.digest)) return;
  if (text.substr(0, 8) != "skipped_") r.fail("a digest is 16 hexadecimal digits, in lower case, or \"skipped_...\"");
  s.seen = evidence::none;
  s.text.assign(text);
}
inline void read_shape(json_reader& r, signature& s) {
  s.shape.clear();
  r.array([&] { s.shape.push_back(r.integer()); });
}
inline void check_count(json_reader& r, signature const& s) {
  uint64_t product = 1;
  bool overflow = false, zero = false;
  for (uint64_t const e : s.shape) {
    zero |= e == 0;
    overflow |= __builtin_mul_overflow(product, e, &product);
  }
  if (zero ? s.count != 0 : overflow || product != s.count) r.fail("the count is not the product of the shape");
}
inline signature& next_signature(json_reader& r, std::vector<signature>& list) {
  if (list.size() >= 0x7fff) r.fail("more than 32767 tensors in one event");
  return list.emplace_back();
}
// A part of a line that has no meaning here, kept to be compared: without white space outside strings.
inline signature text_signature(char const* name, std::string_view json, evidence seen = evidence::full) {
  signature s;
  s.name = name;
  s.dtype = "json";
  s.count = 1;
  s.seen = seen;
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    char const c = json[i];
    if (!quoted && (c == ' ' || c == '\t' || c == '\r')) continue;
    s.text += c;
    if (quoted && c == '\\')
      s.text += json[++i];
    else if (c == '"')
      quoted = !quoted;
  }
  return s;
}

// ---- isobit's own ----

inline bool is_safe_path(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.find('\0') != path.npos) return false;
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = path.find('/', begin);
    if (end == path.npos) end = path.size();
    if (path.substr(begin, end - begin) == "..") return false;
    begin = end + 1;
  }
  return true;
}

inline void read_own_signature(json_reader& r, signature& s) {
  static constexpr std::string_view names[] = {"name",   "dtype",       "shape",  "count",
                                               "digest", "chunk_bytes", "chunks", "data"};
  fields f(r, names);
  r.object([&](std::string_view key) {
    switch (f.see(key)) {
    case 0:
      return read_text(r, s.name);
    case 1:
      return read_text(r, s.dtype);
    case 2:
      return read_shape(r, s);
    case 3:
      s.count = r.integer();
      return;
    case 4:
      return read_digest(r, s);
    case 5:
      s.chunk_bytes = r.integer();
      return;
    case 6:
      return r.array([&] { s.chunks.push_back(read_hex64(r)); });
    case 7:
      return read_text(r, s.data);
    default:
      f.unknown(key);
    }
  });
  f.need({1, 2, 3, 4});
  check_count(r, s);
  if (f.has(5) != f.has(6)) r.fail("chunk_bytes and chunks come together");
  if (f.has(5) && (s.chunk_bytes == 0 || s.chunk_bytes % 16 != 0))
    r.fail("chunk_bytes is a multiple of 16, at least 16");
  if (f.has(7) && !is_safe_path(s.data)) r.fail("data is a path within the trace's folder");
}

inline void read_own(json_reader& r, event& e) {
  static constexpr std::string_view names[] = {"isobit_trace", "rank", "iteration", "microbatch", "sequence",
                                               "kind",         "name", "scope",     "occurrence", "order_id",
                                               "recipe",       "in",   "out"};
  fields f(r, names);
  reset(e);
  r.object([&](std::string_view key) {
    switch (f.see(key)) {
    case 0:
      if (r.integer() != schema_version) r.fail("schema version 1 expected");
      return;
    case 1:
      e.rank = small_number(r);
      return;
    case 2:
      e.iteration = small_number(r);
      return;
    case 3:
      e.microbatch = small_number(r);
      return;
    case 4:
      e.sequence = r.integer();
      return;
    case 5:
      return read_text(r, e.kind);
    case 6:
      return read_text(r, e.name);
    case 7:
      return read_text(r, e.scope);
    case 8:
      e.occurrence = small_number(r);
      return;
    case 9:
      return read_text(r, e.order);
    case 10:
      return read_text(r, e.recipe);
    case 11:
      return r.array([&] { read_own_signature(r, next_signature(r, e.inputs)); });
    case 12:
      return r.array([&] { read_own_signature(r, next_signature(r, e.outputs)); });
    default:
      f.unknown(key);
    }
  });
  f.need({0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12});
  need_words(r, e);
}

} // namespace isobit::inline bits1::trace::detail
