// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The JSON of trace lines: a strict reader that walks a text once and builds nothing, and the escapes of a writer.
//! It is here because the library has no dependencies, because a line's numbers are 64-bit integers that must not pass
//! through floating point, and because a million lines must be read in seconds.
#pragma once

#include <isobit/config.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

namespace isobit::inline bits1::trace {

//! What is wrong with a text, and at which byte of it (from 0).
class json_error : public std::runtime_error {
public:
  json_error(std::string const& what, size_t at) : std::runtime_error(what), at_(at) {}
  size_t at() const { return at_; }

private:
  size_t at_;
};

namespace detail {
inline bool is_utf8(std::string_view s) {
  for (size_t i = 0; i < s.size();) {
    auto const byte = [&](size_t k) { return i + k < s.size() ? static_cast<unsigned char>(s[i + k]) : 0u; };
    unsigned const first = byte(0);
    size_t const length = first < 0x80   ? 1
                          : first < 0xc2 ? 0
                          : first < 0xe0 ? 2
                          : first < 0xf0 ? 3
                          : first < 0xf5 ? 4
                                         : 0;
    if (length == 0) return false;
    for (size_t k = 1; k < length; ++k)
      if ((byte(k) & 0xc0) != 0x80) return false;
    if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f)) return false; // overlong, surrogate
    if ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) return false;
    i += length;
  }
  return true;
}
} // namespace detail

//! Walks one JSON value. Everything that RFC 8259 forbids is refused, and so is a text that is not UTF-8.
class json_reader {
public:
  explicit json_reader(std::string_view text) : text_(text) {}

  //! The next character that is not white space; 0 at the end.
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  size_t at() const { return at_; }
  std::string_view text(size_t begin, size_t end) const { return text_.substr(begin, end - begin); }
  [[noreturn]] void fail(std::string const& what) const { throw json_error(what, at_); }

  //! Calls f(key) for each member; f reads or skips the value.
  template <class F> void object(F const& f) {
    take('{');
    enter();
    if (peek() != '}') {
      std::string room;
      do {
        peek();
        std::string_view const key = string(room);
        take(':');
        f(key);
      } while (took(','));
    }
    take('}');
    --depth_;
  }
  //! Calls f() for each element; f reads or skips it.
  template <class F> void array(F const& f) {
    take('[');
    enter();
    if (peek() != ']') {
      do f();
      while (took(','));
    }
    take(']');
    --depth_;
  }
  //! A string: a part of the text, or, where it has escapes, of `room`.
  std::string_view string(std::string& room) {
    take('"');
    size_t const begin = at_;
    bool ascii = true;
    for (; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\'; ++at_) {
      auto const c = static_cast<unsigned char>(text_[at_]);
      if (c < 0x20) fail("a control character in a string");
      ascii &= c < 0x80;
    }
    if (at_ == text_.size()) fail("a string without an end");
    std::string_view result = text(begin, at_);
    if (text_[at_] == '\\') {
      room.assign(result);
      ascii &= unescape(room);
      result = room;
    }
    ++at_;
    if (!ascii && !detail::is_utf8(result)) fail("a string that is not UTF-8");
    return result;
  }
  std::string string() {
    std::string room;
    return std::string(string(room));
  }
  //! An integer from 0 to `most`; no sign, fraction or exponent.
  uint64_t integer(uint64_t most = ~uint64_t(0)) {
    peek();
    size_t const begin = at_;
    uint64_t n = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      auto const digit = static_cast<uint64_t>(text_[at_] - '0');
      if (n > (most - digit) / 10 || digit > most) fail("a number that is too large");
      n = n * 10 + digit;
    }
    bool const whole = at_ == text_.size() || (text_[at_] != '.' && text_[at_] != 'e' && text_[at_] != 'E');
    if (at_ == begin || !whole || (text_[begin] == '0' && at_ - begin > 1)) fail("not an integer of 0 or more");
    return n;
  }
  bool boolean() {
    bool const yes = peek() == 't';
    word(yes ? "true" : "false");
    return yes;
  }
  //! True, and behind it, where the value is null.
  bool null() {
    if (peek() != 'n') return false;
    word("null");
    return true;
  }
  //! Walks over a value of any kind, as strictly as over one that is read. Returns its text.
  std::string_view skip() {
    char const c = peek();
    size_t const begin = at_;
    if (c == '{')
      object([&](std::string_view) { skip(); });
    else if (c == '[')
      array([&] { skip(); });
    else if (c == '"')
      string(spare_);
    else if (c == 't' || c == 'f')
      boolean();
    else if (!null())
      number();
    return text(begin, at_);
  }
  //! Nothing but white space may follow.
  void end() {
    if (peek() != '\0' || at_ != text_.size()) fail("something after the end of the value");
  }

private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n'))
      ++at_;
  }
  bool took(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void take(char c) {
    if (!took(c)) fail(std::string("'") + c + "' expected");
  }
  void word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) fail("not a value");
    at_ += w.size();
  }
  void enter() {
    if (++depth_ > 64) fail("more than 64 levels deep");
  }
  void digits() {
    if (at_ == text_.size() || !is_digit(text_[at_])) fail("not a value");
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  }
  void number() {
    auto const here = [&](char c) { return at_ < text_.size() && text_[at_] == c; };
    if (here('-')) ++at_;
    if (here('0'))
      ++at_;
    else
      digits();
    if (here('.')) ++at_, digits();
    if (here('e') || here('E')) {
      ++at_;
      if (here('+') || here('-')) ++at_;
      digits();
    }
  }
  unsigned hex4() {
    unsigned n = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      char const c = at_ < text_.size() ? text_[at_] : '\0';
      if (is_digit(c))
        n = n * 16 + static_cast<unsigned>(c - '0');
      else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
        n = n * 16 + static_cast<unsigned>((c | 0x20) - 'a') + 10;
      else
        fail("\\u needs four hexadecimal digits");
    }
    return n;
  }
  // The rest of a string, from its first backslash on. Returns whether all of it is ASCII.
  bool unescape(std::string& out) {
    bool ascii = true;
    for (;;) {
      if (at_ == text_.size()) fail("a string without an end");
      char const c = text_[at_];
      if (c == '"') return ascii;
      ++at_;
      if (c != '\\') {
        if (static_cast<unsigned char>(c) < 0x20) fail("a control character in a string");
        ascii &= static_cast<unsigned char>(c) < 0x80;
        out += c;
        continue;
      }
      char const e = at_ < text_.size() ? text_[at_++] : '\0';
      constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
      if (e == 'u') {
        ascii &= append_code(out);
      } else {
        size_t const i = from.find(e);
        if (e == '\0' || i == from.npos) fail("an unknown escape in a string");
        out += to[i];
      }
    }
  }
  bool append_code(std::string& out) {
    unsigned code = hex4();
    if (code >= 0xdc00 && code < 0xe000) fail("half a surrogate pair");
    if (code >= 0xd800 && code < 0xdc00) {
      if (text_.substr(at_, 2) != "\\u") fail("half a surrogate pair");
      at_ += 2;
      unsigned const low = hex4();
      if (low < 0xdc00 || low >= 0xe000) fail("half a surrogate pair");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    auto const put = [&](unsigned byte) { out += static_cast<char>(byte); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xc0 | code >> 6), put(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      put(0xe0 | code >> 12), put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
    } else {
      put(0xf0 | code >> 18), put(0x80 | (code >> 12 & 0x3f)), put(0x80 | (code >> 6 & 0x3f)),
          put(0x80 | (code & 0x3f));
    }
    return code < 0x80;
  }
  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string spare_;
};

//! Appends `s`, which is UTF-8, as a JSON string.
inline void append_json(std::string& out, std::string_view s) {
  constexpr char const* hex = "0123456789abcdef";
  out += '"';
  for (char const c : s) {
    auto const u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (u < 0x20)
      out += "\\u00", out += hex[u >> 4], out += hex[u & 15];
    else
      out += c;
  }
  out += '"';
}

//! Appends a number as 16 hexadecimal digits in quotes, as digests are written.
inline void append_hex(std::string& out, uint64_t n) {
  out += '"';
  for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[n >> shift & 15];
  out += '"';
}

} // namespace isobit::inline bits1::trace
