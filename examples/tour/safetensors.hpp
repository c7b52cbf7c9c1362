// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! A reader of safetensors files that trusts nothing: whatever the bytes are, it either returns tensors that lie wholly
//! within the file, or throws one sentence that says what is wrong and where.
//! Format: 8 bytes little-endian header length, a JSON header, then the tensors' data.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace tour {

//! What is wrong with a file.
struct safetensors_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class dtype { boolean, u8, i8, f8_e5m2, f8_e4m3, f8_e8m0, i16, u16, f16, bf16, i32, u32, f32, f64, i64, u64 };

struct dtype_name {
  dtype type;
  std::string_view name;
  std::size_t bytes;
};

//! The element types of the format, with the names that headers use.
inline constexpr std::array<dtype_name, 16> dtype_names{{{dtype::boolean, "BOOL", 1},
                                                         {dtype::u8, "U8", 1},
                                                         {dtype::i8, "I8", 1},
                                                         {dtype::f8_e5m2, "F8_E5M2", 1},
                                                         {dtype::f8_e4m3, "F8_E4M3", 1},
                                                         {dtype::f8_e8m0, "F8_E8M0", 1},
                                                         {dtype::i16, "I16", 2},
                                                         {dtype::u16, "U16", 2},
                                                         {dtype::f16, "F16", 2},
                                                         {dtype::bf16, "BF16", 2},
                                                         {dtype::i32, "I32", 4},
                                                         {dtype::u32, "U32", 4},
                                                         {dtype::f32, "F32", 4},
                                                         {dtype::f64, "F64", 8},
                                                         {dtype::i64, "I64", 8},
                                                         {dtype::u64, "U64", 8}}};

inline dtype_name const& describe(dtype type) { return dtype_names[static_cast<std::size_t>(type)]; }

//! One tensor of a file. `bytes` points into the file's memory, aligned for the element type.
struct tensor {
  std::string name;
  dtype type;
  std::vector<std::uint64_t> shape; //!< empty: one scalar
  std::span<std::byte const> bytes;

  std::uint64_t count() const { return bytes.size() / describe(type).bytes; }
  //! As a matrix: the last extent is a row; a vector or scalar is one row.
  std::uint64_t columns() const { return shape.empty() ? 1 : shape.back(); }
  std::uint64_t rows() const { return columns() == 0 ? 0 : count() / columns(); }
};

//! A file in memory and the tensors in it, in the order of their data.
class safetensors {
public:
  static constexpr std::uint64_t longest_header = 100'000'000; //!< the format's own limit

  //! Reads the file at `path`. Throws safetensors_error.
  static safetensors read(std::string const& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw safetensors_error(path + ": cannot be opened");
    std::vector<char> raw{std::istreambuf_iterator<char>(in), {}};
    if (in.bad()) throw safetensors_error(path + ": cannot be read");
    try {
      return parse(std::as_bytes(std::span(raw)));
    } catch (safetensors_error const& e) {
      throw safetensors_error(path + ": " + e.what());
    }
  }

  //! Checks `file` and copies its data. Throws safetensors_error.
  static safetensors parse(std::span<std::byte const> file) {
    auto const [header, data] = split(file);
    safetensors result;
    result.data_.assign(data.begin(), data.end());
    auto const json = parse_json(header);
    for (auto const& [name, entry] : json.items()) {
      if (name == "__metadata__")
        result.read_metadata(entry);
      else
        result.tensors_.push_back(result.read_tensor(name, entry));
    }
    result.sort_and_check_cover();
    return result;
  }

  // Moving keeps the memory that the tensors point into; copying would not.
  safetensors(safetensors&&) = default;
  safetensors& operator=(safetensors&&) = default;
  safetensors(safetensors const&) = delete;
  safetensors& operator=(safetensors const&) = delete;

  std::vector<tensor> const& tensors() const { return tensors_; }
  std::map<std::string, std::string> const& metadata() const { return metadata_; }

private:
  using json_value = nlohmann::json;
  struct parts {
    std::string_view header;
    std::span<std::byte const> data;
  };

  safetensors() = default;

  static parts split(std::span<std::byte const> file) {
    if (file.size() < 8) throw safetensors_error("truncated: not even the 8 bytes of the header length are there");
    std::uint64_t length = 0;
    for (int i = 7; i >= 0; --i)
      length = length << 8 | std::to_integer<std::uint64_t>(file[static_cast<std::size_t>(i)]);
    if (length > longest_header)
      throw safetensors_error("the header would be " + std::to_string(length) + " bytes long; the limit is 100000000");
    if (length > file.size() - 8)
      throw safetensors_error("truncated: the header should have " + std::to_string(length) + " bytes, only " +
                              std::to_string(file.size() - 8) + " are left");
    auto const* text = reinterpret_cast<char const*>(file.data()) + 8;
    return {{text, static_cast<std::size_t>(length)}, file.subspan(8 + static_cast<std::size_t>(length))};
  }

  static json_value parse_json(std::string_view header) {
    if (header.empty() || header.front() != '{') throw safetensors_error("the header does not begin with '{'");
    std::vector<std::set<std::string>> seen; // the keys of each open object
    auto reject_duplicates = [&](int, json_value::parse_event_t event, json_value& value) {
      if (event == json_value::parse_event_t::object_start) seen.emplace_back();
      if (event == json_value::parse_event_t::object_end) seen.pop_back();
      if (event == json_value::parse_event_t::key && !seen.back().insert(value.get<std::string>()).second)
        throw safetensors_error("the header names " + value.dump() + " twice");
      return true;
    };
    try {
      return json_value::parse(header, reject_duplicates);
    } catch (json_value::exception const& e) {
      throw safetensors_error(std::string("the header is not valid JSON: ") + e.what());
    }
  }

  void read_metadata(json_value const& entry) {
    if (!entry.is_object()) throw safetensors_error("__metadata__ must be an object");
    for (auto const& [key, value] : entry.items()) {
      if (!value.is_string()) throw safetensors_error("__metadata__ must hold strings only: " + key + " does not");
      metadata_[key] = value.get<std::string>();
    }
  }

  tensor read_tensor(std::string const& name, json_value const& entry) const {
    auto const wrong = [&](std::string const& what) { return safetensors_error("tensor \"" + name + "\": " + what); };
    if (!entry.is_object() || entry.size() != 3) throw wrong("needs exactly dtype, shape and data_offsets");
    auto const member = [&](char const* key) -> json_value const& {
      auto const found = entry.find(key);
      if (found == entry.end()) throw wrong(std::string("has no ") + key);
      return *found;
    };
    tensor result{name, dtype::boolean, {}, {}};
    auto const& type = member("dtype");
    if (!type.is_string()) throw wrong("dtype must be a string");
    auto const known = std::find_if(dtype_names.begin(), dtype_names.end(),
                                    [&](auto const& d) { return d.name == type.get_ref<std::string const&>(); });
    if (known == dtype_names.end()) throw wrong("unknown dtype " + type.dump());
    result.type = known->type;

    auto const shape = numbers(member("shape"));
    if (!shape) throw wrong("shape must be a list of numbers that are not negative");
    result.shape = *shape;
    auto const offsets = numbers(member("data_offsets"));
    if (!offsets || offsets->size() != 2) throw wrong("data_offsets must be two numbers that are not negative");
    std::uint64_t const begin = (*offsets)[0], end = (*offsets)[1];
    if (begin > end) throw wrong("data_offsets end before they begin");
    if (end > data_.size())
      throw wrong("ends at byte " + std::to_string(end) + " of the data, which has only " +
                  std::to_string(data_.size()));
    auto const size = size_in_bytes(result.shape, known->bytes);
    if (!size || *size != end - begin)
      throw wrong("its shape needs " + (size ? std::to_string(*size) : "over 2^64") + " bytes, data_offsets give it " +
                  std::to_string(end - begin));
    if (begin % known->bytes != 0)
      throw wrong("begins at byte " + std::to_string(begin) + ", not at a multiple of its element size " +
                  std::to_string(known->bytes));
    result.bytes = std::span(data_).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    return result;
  }

  static std::optional<std::vector<std::uint64_t>> numbers(json_value const& list) {
    if (!list.is_array()) return {};
    std::vector<std::uint64_t> result;
    for (auto const& value : list) {
      if (!value.is_number_unsigned()) return {};
      result.push_back(value.get<std::uint64_t>());
    }
    return result;
  }

  //! The product, or nothing where it does not fit into 64 bits.
  static std::optional<std::uint64_t> size_in_bytes(std::vector<std::uint64_t> const& shape, std::uint64_t element) {
    if (std::find(shape.begin(), shape.end(), 0u) != shape.end()) return 0;
    std::uint64_t size = element;
    for (auto const extent : shape)
      if (__builtin_mul_overflow(size, extent, &size)) return {};
    return size;
  }

  //! The tensors must cover the data without a gap and without an overlap.
  void sort_and_check_cover() {
    auto const position = [&](tensor const& t) { return static_cast<std::size_t>(t.bytes.data() - data_.data()); };
    std::sort(tensors_.begin(), tensors_.end(), [&](tensor const& a, tensor const& b) {
      return std::pair(position(a), a.bytes.size()) < std::pair(position(b), b.bytes.size());
    });
    std::size_t covered = 0;
    for (auto const& t : tensors_) {
      if (position(t) < covered) throw safetensors_error("tensor \"" + t.name + "\" overlaps the one before it");
      if (position(t) > covered) throw safetensors_error("tensor \"" + t.name + "\" leaves a gap before it");
      covered += t.bytes.size();
    }
    if (covered != data_.size())
      throw safetensors_error(std::to_string(data_.size() - covered) + " bytes after the last tensor belong to none");
  }

  std::vector<std::byte> data_; // operator new aligns it for every element type
  std::vector<tensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

} // namespace tour
