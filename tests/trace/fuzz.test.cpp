// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Thousands of damaged traces: each is refused with a line number, or read; and where the comparison with the
//! undamaged trace says "same", an independent JSON reader finds the same events in both.
#include "folder.hpp"

#include <isobit/trace.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>

namespace trace = isobit::trace;
using nlohmann::json;

namespace {

std::string traced() {
  std::string text;
  std::mt19937_64 random(3);
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    for (std::uint32_t i = 0; i < 4; ++i) {
      trace::event e;
      e.rank = rank, e.iteration = i / 2, e.sequence = i, e.occurrence = i % 2;
      e.kind = "op", e.name = i % 2 ? "mm" : "\xc3\xa9", e.scope = "layers.0", e.order = "isobit.tree.1";
      for (auto* list : {&e.inputs, &e.outputs}) {
        trace::signature s;
        s.name = "x", s.dtype = "f32", s.shape = {4, 8}, s.count = 32, s.digest = random();
        if (list == &e.outputs) s.chunk_bytes = 64, s.chunks = {random(), random()};
        list->push_back(s);
      }
      if (i == 3) {
        e.inputs[0].seen = trace::evidence::none;
        e.inputs[0].text = "skipped_oversize";
      }
      trace::append_line(text, e);
    }
  return text;
}

// What the lines mean, by another reader: what names events, and what tensors hold.
json meaning(std::string const& text) {
  std::vector<json> events;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    json e = json::parse(line);
    for (char const* free : {"sequence", "order_id", "recipe"}) e.erase(free); // reported as remarks
    for (char const* list : {"in", "out"})
      for (auto& s : e[list]) {
        s.erase("data");
        if (!s.contains("name")) s["name"] = "";
        if (s["digest"].get<std::string>().substr(0, 8) == "skipped_") s["digest"] = "skipped";
        // Chunks are compared where both traces have chunks of one size.
        s.erase("chunks"), s.erase("chunk_bytes");
      }
    events.push_back(std::move(e));
  }
  std::sort(events.begin(), events.end());
  return events;
}

std::string mutated(std::string text, std::mt19937_64& random) {
  static constexpr std::string_view pieces[] = {
      "0",        "1",          "-1", "1e3",  "\"", "{",  "}",       "[",
      "]",        ",",          ":",  "null", "\\", "\n", "\\u0000", "18446744073709551616",
      "skipped_", "\"out\":[]", " "};
  for (auto n = random() % 4 == 0 ? random() % 4 + 1 : 1; n-- > 0 && !text.empty();) {
    std::size_t const at = random() % text.size(), length = std::min<std::size_t>(random() % 20 + 1, text.size() - at);
    switch (random() % 11) {
    case 0:
      text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
      break;
    case 1:
      text[at] = static_cast<char>(random());
      break;
    case 2:
      text.erase(at, length);
      break;
    case 3:
      text.insert(at, text.substr(random() % text.size(), length));
      break;
    case 4:
      text.resize(at);
      break;
    case 5:
      text.replace(at, length, pieces[random() % std::size(pieces)]);
      break;
    case 6:
    case 7:
    case 8:
    case 9: { // digits and letters of digests: still well-formed
      std::size_t const p = text.find_first_of("0123456789abcdef", at);
      if (p != text.npos) text[p] = "0123456789abcdef"[random() % 16];
      break;
    }
    default: { // two lines change places, or one comes twice
      std::size_t const end = text.find('\n', at);
      if (end == text.npos) break;
      text += text.substr(0, end + 1);
      if (random() % 2) text.erase(0, end + 1);
    }
    }
  }
  return text;
}

struct tally {
  int refused = 0, diverged = 0, same = 0, unsound = 0;
};

// `blind`: compares A with itself, as a comparison that looks at nothing would: the referee must notice.
tally fuzz(int trials, std::uint64_t seed, bool blind) {
  folder const f;
  std::string const text = traced();
  trace::log const a = trace::read(f.write("a.jsonl", text));
  json const wanted = meaning(text);
  std::mt19937_64 random(seed);
  tally out;
  for (int trial = 0; trial < trials; ++trial) {
    std::string const other = mutated(text, random);
    std::string const path = f.write("b.jsonl", other);
    try {
      trace::log const b = trace::read(path);
      bool const same = trace::compare(a, blind ? a : b).same();
      out.same += same;
      out.diverged += !same;
      if (same && meaning(other) != wanted) {
        ++out.unsound;
        if (!blind) MESSAGE(other);
      }
    } catch (trace::error const& e) {
      ++out.refused;
      bool const whole_file = e.line() == 0 && other.empty();
      if (!whole_file) CHECK(e.line() > 0);
      CHECK(e.line() <= static_cast<std::uint64_t>(std::count(other.begin(), other.end(), '\n')) + 1);
      CHECK(e.file() == path);
    }
  }
  return out;
}

} // namespace

TEST_CASE("fuzz: damaged traces are refused or compared soundly") {
  int const trials = std::getenv("ISOBIT_EXHAUSTIVE") != nullptr ? 400000 : 5000;
  tally const t = fuzz(trials, 11, false);
  CHECK(t.unsound == 0);
  CHECK(t.refused > trials / 4);
  CHECK(t.diverged > trials / 20);
  CHECK(t.same > trials / 100);
}

TEST_CASE("fuzz: the referee catches a comparison that looks at nothing") { CHECK(fuzz(2000, 12, true).unsound > 60); }
