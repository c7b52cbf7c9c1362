// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The tour's safetensors reader on good files, on every broken file we could think of, and on random damage.
#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <string>

#include "../../examples/tour/safetensors.hpp"

namespace {

std::string file_of(std::string const& header, std::string const& data) {
  std::string file(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(header.size() >> (8 * i));
  return file + header + data;
}

tour::safetensors parse(std::string const& file) { return tour::safetensors::parse(std::as_bytes(std::span(file))); }

//! What the reader says about `file`; "" where it accepts it.
std::string complaint(std::string const& file) {
  try {
    parse(file);
    return "";
  } catch (tour::safetensors_error const& e) {
    return e.what();
  }
}

std::string complaint(std::string const& header, std::string const& data) { return complaint(file_of(header, data)); }

bool contains(std::string const& text, char const* part) { return text.find(part) != std::string::npos; }

std::string const two_floats = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
std::string const eight_bytes(8, '\1');

} // namespace

TEST_CASE("safetensors: a good file") {
  std::string const header = R"({"__metadata__":{"k":"v"},)"
                             R"("b":{"dtype":"BF16","shape":[2,1,3],"data_offsets":[8,20]},)"
                             R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                             R"("none":{"dtype":"U8","shape":[0,7],"data_offsets":[20,20]},)"
                             R"("one":{"dtype":"U8","shape":[],"data_offsets":[20,21]}}   )";
  std::string data(21, '\0');
  float const one_half = 0.5f;
  std::memcpy(data.data() + 4, &one_half, 4);
  auto const file = parse(file_of(header, data));
  REQUIRE(file.tensors().size() == 4);
  CHECK(file.metadata().at("k") == "v");
  auto const& a = file.tensors()[0];
  CHECK(a.name == "a");
  CHECK(a.rows() == 1);
  CHECK(a.columns() == 2);
  float second;
  std::memcpy(&second, a.bytes.data() + 4, 4);
  CHECK(second == 0.5f);
  auto const& b = file.tensors()[1];
  CHECK(b.type == tour::dtype::bf16);
  CHECK(b.count() == 6);
  CHECK(b.rows() == 2);
  CHECK(b.columns() == 3);
  CHECK(file.tensors()[2].count() == 0);
  CHECK(file.tensors()[3].count() == 1);
}

TEST_CASE("safetensors: an empty header is a file without tensors") {
  CHECK(parse(file_of("{}", "")).tensors().empty());
}

TEST_CASE("safetensors: the element type table is in the order of the enumeration") {
  for (auto const& d : tour::dtype_names) CHECK(&tour::describe(d.type) == &d);
}

TEST_CASE("safetensors: broken files are refused with a reason") {
  CHECK(complaint(two_floats, eight_bytes) == "");
  CHECK(contains(complaint(""), "truncated"));
  CHECK(contains(complaint(std::string(7, '\0')), "truncated"));
  CHECK(contains(complaint(std::string(8, '\0')), "does not begin with '{'"));
  CHECK(contains(complaint(std::string(8, '\xff')), "limit"));
  CHECK(contains(complaint(file_of(two_floats, "").substr(0, 30)), "truncated"));
  CHECK(contains(complaint(two_floats, "1234567"), "has only 7"));
  CHECK(contains(complaint(two_floats, "123456789"), "belong to none"));
  CHECK(contains(complaint("[1]", ""), "does not begin"));
  CHECK(contains(complaint("{\"a\":", ""), "not valid JSON"));
  CHECK(contains(complaint("{\"a\xff\":1}", ""), "not valid JSON"));
  CHECK(contains(complaint("{} x", ""), "not valid JSON"));
  CHECK(contains(complaint(R"({"a":1})", ""), "exactly dtype"));
  CHECK(contains(complaint(R"({"a":{}})", ""), "exactly dtype"));
  CHECK(contains(complaint(R"({"__metadata__":[]})", ""), "must be an object"));
  CHECK(contains(complaint(R"({"__metadata__":{"k":1}})", ""), "strings only"));
}

TEST_CASE("safetensors: wrong entries are refused with the tensor's name") {
  auto const entry = [](char const* dtype, char const* shape, char const* offsets) {
    return std::string(R"({"a":{"dtype":)") + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
  };
  auto const said = [&](char const* dtype, char const* shape, char const* offsets, char const* part) {
    auto const text = complaint(entry(dtype, shape, offsets), eight_bytes);
    CAPTURE(text);
    CHECK(contains(text, "\"a\""));
    CHECK(contains(text, part));
  };
  CHECK(complaint(entry("\"F32\"", "[2]", "[0,8]"), eight_bytes) == "");
  said("\"F33\"", "[2]", "[0,8]", "unknown dtype");
  said("32", "[2]", "[0,8]", "dtype must be a string");
  said("\"F32\"", "2", "[0,8]", "shape must be a list");
  said("\"F32\"", "[-2]", "[0,8]", "not negative");
  said("\"F32\"", "[2.5]", "[0,8]", "not negative");
  said("\"F32\"", "[99999999999999999999999]", "[0,8]", "not negative");
  said("\"F32\"", "[2]", "[0]", "two numbers");
  said("\"F32\"", "[2]", "[0,8,8]", "two numbers");
  said("\"F32\"", "[2]", "[8,0]", "end before they begin");
  said("\"F32\"", "[2]", "[0,9]", "has only 8");
  said("\"F32\"", "[2]", "[0,18446744073709551615]", "has only 8");
  said("\"F32\"", "[3]", "[0,8]", "needs 12 bytes");
  said("\"F32\"", "[4294967296,4294967296]", "[0,8]", "over 2^64");
  said("\"F32\"", "[4611686018427387904]", "[0,0]", "over 2^64");
  said("\"F32\"", "[1]", "[2,6]", "multiple of its element size");
}

TEST_CASE("safetensors: overlaps, gaps and duplicates") {
  auto const two = [](char const* first, char const* second, char const* name = "b") {
    return std::string(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)") + first + R"(},")" + name +
           R"(":{"dtype":"U8","shape":[4],"data_offsets":)" + second + "}}";
  };
  CHECK(complaint(two("[0,4]", "[4,8]"), eight_bytes) == "");
  CHECK(contains(complaint(two("[0,4]", "[3,7]"), eight_bytes), "overlaps"));
  CHECK(contains(complaint(two("[0,4]", "[0,4]"), eight_bytes), "overlaps"));
  CHECK(contains(complaint(two("[1,5]", "[5,9]"), eight_bytes + "1"), "gap"));
  CHECK(contains(complaint(two("[0,4]", "[5,9]"), eight_bytes + "1"), "gap"));
  CHECK(contains(complaint(two("[0,4]", "[4,8]", "a"), eight_bytes), "twice"));
}

TEST_CASE("safetensors: deep nesting is an error, not a stack overflow") {
  std::string const deep = "{\"a\":" + std::string(200'000, '[') + std::string(200'000, ']') + "}";
  CHECK(contains(complaint(deep, ""), "exactly dtype"));
}

TEST_CASE("safetensors: random damage is either refused or leaves every tensor inside the data") {
  std::string const good = file_of(R"({"__metadata__":{"format":"pt"},)"
                                   R"("w":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]},)"
                                   R"("v":{"dtype":"BF16","shape":[4],"data_offsets":[24,32]}})",
                                   std::string(32, '\7'));
  REQUIRE(complaint(good) == "");
  for (std::size_t length = 0; length < good.size(); ++length) CHECK(complaint(good.substr(0, length)) != "");

  std::mt19937 random(1);
  int refused = 0, accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bad = good;
    for (int hits = 1 + static_cast<int>(random() % 3); hits > 0; --hits) {
      auto const at = random() % (good.size() - 32); // the data itself may be anything
      if (random() % 2 == 0)
        bad[at] = static_cast<char>(random());
      else
        bad[at] = "0123456789{}[]:,\"-"[random() % 18];
    }
    try {
      auto const file = parse(bad);
      std::uint64_t sum = 0, bytes = 0;
      for (auto const& t : file.tensors()) {
        for (auto const b : t.bytes) sum += std::to_integer<std::uint64_t>(b);
        bytes += t.bytes.size();
        CHECK(t.count() * tour::describe(t.type).bytes == t.bytes.size());
      }
      CHECK(sum == 7 * bytes);
      ++accepted;
    } catch (tour::safetensors_error const&) {
      ++refused;
    }
  }
  CHECK(refused > 10'000);
  CHECK(accepted > 0); // renaming a tensor, for one, is harmless
}

TEST_CASE("safetensors: a file that is not there") {
  CHECK_THROWS_AS(tour::safetensors::read("no such file"), tour::safetensors_error);
}
