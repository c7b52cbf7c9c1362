// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Reads the header of a NumPy .npy file (versions 1.0, 2.0, 3.0) that lies in memory. It returns one tensor, or throws
//! a file_error that names the field. Little-endian numbers and booleans; an array that was stored column by column is
//! copied into row order.
//! Format: numpy.lib.format: "\x93NUMPY", two version bytes, the header's length, a Python dictionary, the elements.
#pragma once

#include "tensor_file.hpp"

#include <algorithm>
#include <string_view>

namespace tensors {

inline bool is_npy(std::span<std::byte const> file) {
  return file.size() >= 6 && std::memcmp(file.data(), "\x93NUMPY", 6) == 0;
}

class npy_reader {
public:
  //! Adds the tensor of `file` to `out`.
  static void read(std::span<std::byte const> file, tensor_file& out) { npy_reader(file).add_to(out); }

private:
  explicit npy_reader(std::span<std::byte const> file) {
    if (file.size() < 10)
      throw file_error("header length", "truncated: the file has only " + std::to_string(file.size()) + " bytes");
    int const major = std::to_integer<int>(file[6]), minor = std::to_integer<int>(file[7]);
    if (major < 1 || major > 3 || minor != 0)
      throw file_error("version", std::to_string(major) + "." + std::to_string(minor) + " is not known");
    std::size_t const width = major == 1 ? 2 : 4;
    if (file.size() < 8 + width) throw file_error("header length", "truncated");
    std::uint32_t length = 0;
    std::memcpy(&length, file.data() + 8, width);
    if (length > file.size() - 8 - width)
      throw file_error("header length", std::to_string(length) + ", but only " +
                                            std::to_string(file.size() - 8 - width) + " bytes follow");
    text_ = {reinterpret_cast<char const*>(file.data()) + 8 + width, length};
    data_ = file.subspan(8 + width + length);
  }

  void add_to(tensor_file& out) {
    parse();
    auto const size = size_in_bytes(*type_, *shape_);
    if (!size) throw file_error("shape", "has 2^61 bytes or more");
    if (*size > data_.size())
      throw file_error("shape", "needs " + std::to_string(*size) + " bytes, but only " + std::to_string(data_.size()) +
                                    " follow");
    if (*size < data_.size())
      throw file_error("data", std::to_string(data_.size() - *size) + " bytes after the array belong to none");
    tensor t{"array", *type_, *shape_, data_};
    if (*by_columns_ && shape_->size() > 1 && *size > 0) {
      out.copies.push_back(in_row_order(*size));
      t.bytes = out.copies.back();
    }
    out.tensors.push_back(std::move(t));
  }

  std::vector<std::byte> in_row_order(std::uint64_t size) const {
    auto const& shape = *shape_;
    std::size_t const element = static_cast<std::size_t>(isobit::dtype_bits(*type_)) / 8;
    std::vector<std::uint64_t> index(shape.size()), stride(shape.size());
    std::uint64_t step = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) stride[d] = step, step *= shape[d];
    std::vector<std::byte> rows(static_cast<std::size_t>(size));
    std::uint64_t from = 0;
    for (std::size_t to = 0; to < rows.size(); to += element) {
      std::memcpy(rows.data() + to, data_.data() + from * element, element);
      for (std::size_t d = shape.size(); d-- > 0;) {
        from += stride[d];
        if (++index[d] < shape[d]) break;
        from -= shape[d] * stride[d];
        index[d] = 0;
      }
    }
    return rows;
  }

  // ---- The dictionary: three known keys, each once. ----

  void parse() {
    expect('{', "header");
    while (!take('}')) {
      std::string const key = string("header");
      expect(':', key);
      if (key == "descr" && !type_)
        type_ = type_named(string("descr"));
      else if (key == "fortran_order" && !by_columns_)
        by_columns_ = boolean();
      else if (key == "shape" && !shape_)
        shape_ = tuple();
      else
        throw file_error(
            "header", "has the key '" + key + "' " +
                          (key == "descr" || key == "fortran_order" || key == "shape" ? "twice" : "that is not known"));
      if (!take(',') && !peek('}')) throw file_error(key, "is not followed by ',' or '}'");
    }
    skip_blanks();
    if (at_ != text_.size()) throw file_error("header", "goes on after its dictionary");
    if (!type_) throw file_error("descr", "is missing");
    if (!by_columns_) throw file_error("fortran_order", "is missing");
    if (!shape_) throw file_error("shape", "is missing");
  }

  static isobit::dtype type_named(std::string const& descr) {
    using isobit::dtype;
    static constexpr std::pair<std::string_view, dtype> names[] = {
        {"b1", dtype::boolean}, {"u1", dtype::u8},  {"i1", dtype::i8},  {"u2", dtype::u16}, {"i2", dtype::i16},
        {"u4", dtype::u32},     {"i4", dtype::i32}, {"u8", dtype::u64}, {"i8", dtype::i64}, {"f2", dtype::f16},
        {"f4", dtype::f32},     {"f8", dtype::f64}};
    if (descr.size() == 3)
      for (auto const& [known, type] : names)
        if (known == std::string_view(descr).substr(1)) {
          bool const single = isobit::dtype_bits(type) == 8;
          if (descr[0] == '<' || (single && (descr[0] == '|' || descr[0] == '>'))) return type;
          if (descr[0] == '>') throw file_error("descr", "'" + descr + "' is big-endian");
        }
    throw file_error("descr", "'" + descr + "' is not a little-endian number or boolean");
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool peek(char c) {
    skip_blanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(char c) {
    bool const there = peek(c);
    at_ += there;
    return there;
  }
  void expect(char c, std::string const& field) {
    if (!take(c)) throw file_error(field, std::string("'") + c + "' is missing");
  }
  std::string string(std::string const& field) {
    skip_blanks();
    char const quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') throw file_error(field, "a quoted string is missing");
    std::size_t const end = text_.find(quote, at_ + 1);
    if (end == text_.npos) throw file_error(field, "a quoted string has no end");
    std::string const value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    skip_blanks();
    for (auto const& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}})
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    throw file_error("fortran_order", "is neither True nor False");
  }
  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> result;
    expect('(', "shape");
    while (!take(')')) {
      skip_blanks();
      std::uint64_t n = 0;
      std::size_t const first = at_;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
        if (__builtin_mul_overflow(n, std::uint64_t(10), &n) ||
            __builtin_add_overflow(n, static_cast<std::uint64_t>(text_[at_] - '0'), &n))
          throw file_error("shape", "has an extent of 2^64 or more");
      if (at_ == first) throw file_error("shape", "has an extent that is not a number");
      result.push_back(n);
      if (!take(',') && !peek(')')) throw file_error("shape", "')' is missing");
    }
    return result;
  }

  std::string_view text_;
  std::span<std::byte const> data_;
  std::size_t at_ = 0;
  std::optional<isobit::dtype> type_;
  std::optional<bool> by_columns_;
  std::optional<std::vector<std::uint64_t>> shape_;
};

} // namespace tensors
