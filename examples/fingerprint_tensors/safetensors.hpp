// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Reads the header of a safetensors file that lies in memory. Whatever the bytes are, it returns tensors that lie
//! wholly within them and cover the data without gap or overlap, or throws a file_error that names the field.
//! Format: 8 bytes little-endian header length, a JSON header, then the tensors' data.
#pragma once

#include "tensor_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

namespace tensors {

class safetensors_reader {
public:
  static std::vector<tensor> read(std::span<std::byte const> file) { return safetensors_reader(file).read_all(); }

private:
  using json = nlohmann::json;
  static constexpr std::uint64_t longest_header = 100'000'000; // the format's own limit

  explicit safetensors_reader(std::span<std::byte const> file) {
    if (file.size() < 8)
      throw file_error("header length", "truncated: the file has only " + std::to_string(file.size()) + " bytes");
    std::uint64_t length = 0;
    std::memcpy(&length, file.data(), 8);
    if (length > longest_header)
      throw file_error("header length", std::to_string(length) + " is above the format's limit of 100000000");
    if (length > file.size() - 8)
      throw file_error("header length",
                       std::to_string(length) + ", but only " + std::to_string(file.size() - 8) + " bytes follow");
    header_ = {reinterpret_cast<char const*>(file.data()) + 8, static_cast<std::size_t>(length)};
    data_ = file.subspan(8 + static_cast<std::size_t>(length));
  }

  std::vector<tensor> read_all() const {
    std::vector<tensor> result;
    auto const header = parse();
    for (auto const& [name, entry] : header.items()) {
      if (name == "__metadata__")
        check_metadata(entry);
      else
        result.push_back(read_tensor(name, entry));
    }
    check_cover(result);
    return result;
  }

  json parse() const {
    if (header_.empty() || header_.front() != '{') throw file_error("header", "does not begin with '{'");
    std::vector<std::set<std::string>> seen; // the keys of each open object
    auto const no_duplicates = [&](int depth, json::parse_event_t event, json& value) {
      if (depth > 8) throw file_error("header", "is nested too deeply");
      if (event == json::parse_event_t::object_start) seen.emplace_back();
      if (event == json::parse_event_t::object_end) seen.pop_back();
      if (event == json::parse_event_t::key && !seen.back().insert(value.get<std::string>()).second)
        throw file_error("header", "names " + value.dump() + " twice");
      return true;
    };
    try {
      return json::parse(header_, no_duplicates);
    } catch (json::exception const& e) {
      throw file_error("header", std::string("is not valid JSON: ") + e.what());
    }
  }

  static void check_metadata(json const& entry) {
    if (!entry.is_object()) throw file_error("__metadata__", "must be an object");
    for (auto const& [key, value] : entry.items())
      if (!value.is_string()) throw file_error("__metadata__", "\"" + key + "\" is not a string");
  }

  static std::optional<isobit::dtype> type_named(std::string const& name) {
    using isobit::dtype;
    static constexpr std::pair<std::string_view, dtype> names[] = {
        {"BOOL", dtype::boolean}, {"U8", dtype::u8},        {"I8", dtype::i8},        {"F8_E5M2", dtype::e5m2},
        {"F8_E4M3", dtype::e4m3}, {"F8_E8M0", dtype::e8m0}, {"F4", dtype::e2m1},      {"I16", dtype::i16},
        {"U16", dtype::u16},      {"F16", dtype::f16},      {"BF16", dtype::bf16},    {"I32", dtype::i32},
        {"U32", dtype::u32},      {"F32", dtype::f32},      {"F64", dtype::f64},      {"I64", dtype::i64},
        {"U64", dtype::u64}};
    for (auto const& [known, type] : names)
      if (known == name) return type;
    return {};
  }

  tensor read_tensor(std::string const& name, json const& entry) const {
    std::string const in = "tensor \"" + name + "\"";
    if (!entry.is_object()) throw file_error(in, "is not an object");
    for (auto const& [key, value] : entry.items())
      if (key != "dtype" && key != "shape" && key != "data_offsets")
        throw file_error(in, "has the unknown field \"" + key + "\"");
    auto const member = [&](char const* key) -> json const& {
      auto const found = entry.find(key);
      if (found == entry.end()) throw file_error(in + ": " + key, "is missing");
      return *found;
    };
    auto const& type_name = member("dtype");
    if (!type_name.is_string()) throw file_error(in + ": dtype", "is not a string");
    auto const type = type_named(type_name.get<std::string>());
    if (!type) throw file_error(in + ": dtype", type_name.dump() + " is not known");
    auto const shape = numbers(member("shape"));
    if (!shape) throw file_error(in + ": shape", "is not a list of numbers that are not negative");
    auto const offsets = numbers(member("data_offsets"));
    if (!offsets || offsets->size() != 2)
      throw file_error(in + ": data_offsets", "are not two numbers that are not negative");
    std::uint64_t const begin = (*offsets)[0], end = (*offsets)[1];
    if (begin > end) throw file_error(in + ": data_offsets", "end before they begin");
    if (end > data_.size())
      throw file_error(in + ": data_offsets", "end at byte " + std::to_string(end) + " of the data, which has only " +
                                                  std::to_string(data_.size()));
    auto const size = size_in_bytes(*type, *shape);
    if (!size || *size != end - begin)
      throw file_error(in + ": shape", "needs " + (size ? std::to_string(*size) : std::string("no whole number of")) +
                                           " bytes, data_offsets give " + std::to_string(end - begin));
    return {name, *type, *shape, data_.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin))};
  }

  static std::optional<std::vector<std::uint64_t>> numbers(json const& list) {
    if (!list.is_array()) return {};
    std::vector<std::uint64_t> result;
    for (auto const& value : list) {
      if (!value.is_number_unsigned()) return {};
      result.push_back(value.get<std::uint64_t>());
    }
    return result;
  }

  // Sorts the tensors by their place; they must cover the data without a gap and without an overlap.
  void check_cover(std::vector<tensor>& all) const {
    auto const position = [&](tensor const& t) { return static_cast<std::size_t>(t.bytes.data() - data_.data()); };
    std::sort(all.begin(), all.end(), [&](tensor const& a, tensor const& b) {
      return std::tuple(position(a), a.bytes.size(), a.name) < std::tuple(position(b), b.bytes.size(), b.name);
    });
    std::size_t covered = 0;
    for (auto const& t : all) {
      std::string const field = "tensor \"" + t.name + "\": data_offsets";
      if (position(t) < covered) throw file_error(field, "overlap the tensor before");
      if (position(t) > covered) throw file_error(field, "leave a gap before the tensor");
      covered += t.bytes.size();
    }
    if (covered != data_.size())
      throw file_error("data", std::to_string(data_.size() - covered) + " bytes after the last tensor belong to none");
  }

  std::string_view header_;
  std::span<std::byte const> data_;
};

} // namespace tensors
