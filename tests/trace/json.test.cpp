// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The strict JSON reader: what it takes, what it refuses, and that it agrees with an independent one.
#include <isobit/trace/json.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <random>
#include <string>

namespace trace = isobit::trace;

namespace {

bool accepts(std::string const& text) {
  try {
    trace::json_reader r(text);
    r.skip();
    r.end();
    return true;
  } catch (trace::json_error const& e) {
    CHECK(e.at() <= text.size());
    return false;
  }
}

} // namespace

TEST_CASE("json: values that are values") {
  for (char const* text :
       {"{}", "[]", " [ 1 , -2.5e+3 ] ", "\"\"", "true", "false", "null", "0", "-0", "1e9",
        R"({"a":{"b":[{},[],"x"]},"c":null})", R"("\"\\\/\b\f\n\r\t\u0041\ud83d\ude00")", "\"\xc3\xa9\""})
    CHECK_MESSAGE(accepts(text), text);
}

TEST_CASE("json: what is no value is refused") {
  for (char const* text : {"",
                           " ",
                           "{",
                           "}",
                           "[1",
                           "[1,]",
                           "[,1]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "01",
                           "-",
                           "1.",
                           ".5",
                           "1e",
                           "+1",
                           "tru",
                           "nul",
                           "NaN",
                           "\"",
                           "\"\\",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "\"\t\"",
                           "1 2",
                           "[1] x",
                           "'a'",
                           "\"\xff\"",
                           "\"\xc0\xaf\"",
                           "\"\xed\xa0\x80\"",
                           "\"\xf4\x90\x80\x80\"",
                           "\"\xe2\x82\"",
                           "{} {}"})
    CHECK_MESSAGE(!accepts(text), text);
  CHECK_FALSE(accepts(std::string("1\0", 2)));
  CHECK_FALSE(accepts(std::string("[\0]", 3)));
  CHECK_FALSE(accepts(std::string(100, '[') + std::string(100, ']')));
  CHECK(accepts(std::string(60, '[') + std::string(60, ']')));
}

TEST_CASE("json: integers are exact, and nothing but integers") {
  auto const integer = [](std::string const& text, std::uint64_t most = ~std::uint64_t(0)) {
    trace::json_reader r(text);
    auto const n = r.integer(most);
    r.end();
    return n;
  };
  CHECK(integer("18446744073709551615") == ~std::uint64_t(0));
  CHECK(integer("9007199254740993") == 9007199254740993u);
  CHECK(integer("0") == 0);
  CHECK(integer("7", 7) == 7);
  for (char const* text :
       {"18446744073709551616", "99999999999999999999", "-1", "1.0", "1e2", "00", "01", "", "x", "\"1\""})
    CHECK_THROWS_AS(integer(text), trace::json_error);
  CHECK_THROWS_AS(integer("8", 7), trace::json_error);
  CHECK_THROWS_AS(integer("70", 7), trace::json_error);
}

TEST_CASE("json: strings come back, escaped and not") {
  for (std::string const& s : {std::string("plain"), std::string("a\"b\\c\n\t\x01/"),
                               std::string("\xc3\xa9\xf0\x9f\x98\x80"), std::string()}) {
    std::string text;
    trace::append_json(text, s);
    trace::json_reader r(text);
    CHECK(r.string() == s);
    CHECK(nlohmann::json::parse(text).get<std::string>() == s);
  }
  trace::json_reader r("\"\\ud83d\\ude00\\u00e9\\u20ac\"");
  CHECK(r.string() == "\xf0\x9f\x98\x80\xc3\xa9\xe2\x82\xac");
}

TEST_CASE("json: mutated texts are judged as an independent reader judges them") {
  std::string const seed = R"({"a":[1,-2.5e3,true,null,"x\u00e9\n\\"],"b":{"c":"\ud83d\ude00é","d":[[],{}]}} )";
  std::mt19937_64 random(7);
  int accepted = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::string text = seed;
    for (auto n = random() % 3 + 1; n-- > 0;) {
      std::size_t const at = random() % text.size();
      switch (random() % 3) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1);
        break;
      default:
        text.insert(at, 1, text[random() % text.size()]);
      }
    }
    bool const mine = accepts(text), other = nlohmann::json::accept(text);
    accepted += mine;
    CHECK_MESSAGE(mine == other, text);
  }
  CHECK(accepted > 1000);
}
