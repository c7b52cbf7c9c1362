// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inputs of tools/golden/vectors.py, made again from the same integers, and a reader of the golden files. The tests
// run in the project's folder.
#pragma once

#include <isobit/quantize.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace vectors {
using namespace isobit;

// Word `index` of SplitMix64 started at `seed`.
inline uint64_t word(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

struct set {
  uint64_t seed;
  uint32_t first, count; // the exponent fields of a block's largest numbers
  bool bf16;
};
inline set named(std::string const& name) {
  if (name == "f32") return {1, 30, 221, false};
  if (name == "bf16") return {2, 30, 221, true};
  if (name == "low") return {3, 1, 16, false};
  if (name == "grid") return {4, 118, 9, true};
  if (name == "fine") return {5, 118, 9, false};
  throw std::invalid_argument("no set of inputs is called " + name);
}

inline std::vector<float> one_block(set const& s, uint64_t number, uint32_t size = 32) {
  std::vector<float> out;
  uint32_t const top = s.first + static_cast<uint32_t>(word(s.seed, 64 * number + 63) % s.count);
  for (uint32_t j = 0; j < size; ++j) {
    uint64_t const w = word(s.seed, 64 * number + j);
    uint32_t const drop = static_cast<uint32_t>((w >> 40) % 20);
    uint32_t mantissa = static_cast<uint32_t>(w) & 0x7fffff;
    if (w >> 23 & 1) mantissa &= 0x780000;
    if ((w >> 24 & 7) == 0) mantissa ^= 1;
    uint32_t bits = (w >> 28 & 15) == 0 ? 0 : (top > drop ? top - drop : 0) << 23 | mantissa;
    bits |= static_cast<uint32_t>(w >> 27 & 1) << 31;
    out.push_back(from_bits<float>(s.bf16 ? bits & 0xffff0000u : bits));
  }
  return out;
}

inline std::vector<float> blocks(set const& s, uint64_t count, uint32_t size = 32) {
  std::vector<float> out;
  for (uint64_t b = 0; b < count; ++b)
    for (float x : one_block(s, b, size)) out.push_back(x);
  return out;
}

// Largest magnitudes, as bits, at and beside the places where a rule for the scale steps.
template <small_float E> std::vector<uint32_t> edges(uint32_t first = 0, uint32_t last = 255) {
  uint32_t const bump = to_bits(decode(E{static_cast<uint8_t>(E::format.largest())})) & 0x7fffff;
  uint32_t const half = 0x800000 - (1u << (22 - E::format.mantissa_bits));
  std::vector<uint32_t> steps{0, 1, 2, bump - 1, bump, bump + 1, bump + 2, half - 1, half, half + 1, 0x7fffff}, out;
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  for (uint32_t e = first; e < last; ++e)
    for (uint32_t m : steps) out.push_back(e << 23 | m);
  return out;
}

// Every non-negative number of a format, every number halfway between two, and their neighbours among the floats.
template <small_float E> std::vector<uint32_t> boundaries() {
  std::vector<double> v;
  for (uint32_t c = 0; c <= E::format.largest(); ++c) v.push_back(decode(E{static_cast<uint8_t>(c)}));
  v.push_back(2 * v.back() - v[v.size() - 2]);
  std::vector<uint32_t> out;
  for (size_t i = 0; i + 1 < v.size(); ++i)
    for (double x : {v[i], (v[i] + v[i + 1]) / 2}) {
      uint32_t const bits = to_bits(static_cast<float>(x));
      if (bits != 0) out.push_back(bits - 1);
      out.push_back(bits);
      out.push_back(bits + 1);
    }
  return out;
}

// FNV-1a of 64 bits over bytes, and how many there were, as the files write it.
class digest {
public:
  void add(uint8_t byte) {
    hash_ = (hash_ ^ byte) * 0x100000001b3u;
    ++count_;
  }
  std::string text() const {
    char out[48];
    std::snprintf(out, sizeof out, "%llu %016llx", static_cast<unsigned long long>(count_),
                  static_cast<unsigned long long>(hash_));
    return out;
  }

private:
  uint64_t hash_ = 0xcbf29ce484222325u, count_ = 0;
};

using line = std::vector<std::string>; // a line's words

inline std::vector<line> parse(std::istream& in) {
  std::vector<line> out;
  for (std::string text; std::getline(in, text);) {
    std::istringstream words(text.substr(0, text.find('#')));
    line l;
    for (std::string w; words >> w;) l.push_back(w);
    if (!l.empty()) out.push_back(l);
  }
  return out;
}

inline std::vector<line> read(std::string const& name) {
  std::ifstream in("tests/golden/quantize/" + name);
  if (!in) throw std::runtime_error("tests/golden/quantize/" + name + " cannot be read; run in the project's folder");
  return parse(in);
}

// The lines whose first words are these, without them.
inline std::vector<line> lines_of(std::vector<line> const& file, line const& head) {
  std::vector<line> out;
  for (line const& l : file)
    if (l.size() >= head.size() && std::equal(head.begin(), head.end(), l.begin()))
      out.emplace_back(l.begin() + static_cast<std::ptrdiff_t>(head.size()), l.end());
  return out;
}

// The lines that begin with a word.
inline std::vector<line> only(std::vector<line> const& file, std::string const& first) {
  std::vector<line> out;
  for (line const& l : file)
    if (l[0] == first) out.push_back(l);
  return out;
}

inline uint32_t hexadecimal(std::string const& s) { return static_cast<uint32_t>(std::stoul(s, nullptr, 16)); }

inline std::string hex(uint32_t x, int digits) {
  char out[16];
  std::snprintf(out, sizeof out, "%0*x", digits, x);
  return out;
}

// The bytes of a string of hexadecimal digits.
inline std::vector<uint8_t> bytes(std::string const& s) {
  std::vector<uint8_t> out;
  for (size_t i = 0; i + 1 < s.size(); i += 2) out.push_back(static_cast<uint8_t>(hexadecimal(s.substr(i, 2))));
  return out;
}

template <class Codes> std::string hex_of(Codes const& codes) {
  std::string s;
  for (auto c : codes) s += hex(c.bits, 2);
  return s;
}

// The numbers of a string of hexadecimal floats, eight digits each.
inline std::vector<float> floats(std::string const& s) {
  std::vector<float> out;
  for (size_t i = 0; i + 7 < s.size(); i += 8) out.push_back(from_bits<float>(hexadecimal(s.substr(i, 8))));
  return out;
}

// One block by the recipe's own functions, in plain loops: that quantize_block and the hosts' fast paths have their bits is
// tested in tests/algo. random(i): nothing, or 32 bits for element i.
template <class Recipe, class... Random>
auto by_functions(Recipe const& recipe, std::vector<float> const& x, std::vector<typename Recipe::element>& codes,
                  Random const&... random) {
  uint32_t constexpr n = Recipe::block_size;
  float values[n];
  std::copy_n(x.begin(), n, values);
  auto const s = detail::block_scale(thread{}, recipe, values);
  auto const encoder = detail::encoder_of(recipe, s);
  for (uint32_t i = 0; i < n; ++i) codes.push_back(encoder(values[i], random(i)...));
  return s;
}

// The control of every comparison: `differences(file)` must be 0, and above 0 for the file with one digit changed, for each
// of about `tries` digits of the words `changes` selects.
template <class Differences, class Selects>
void compare_and_control(std::vector<line> file, Differences const& differences, Selects const& changes,
                         size_t tries = 25) {
  CHECK(differences(file) == 0);
  std::vector<std::pair<size_t, size_t>> words;
  for (size_t i = 0; i < file.size(); ++i)
    for (size_t k = 0; k < file[i].size(); ++k)
      if (changes(file[i], k)) words.emplace_back(i, k);
  REQUIRE(!words.empty());
  for (size_t t = 0; t < tries; ++t) {
    auto const place = words[word(99, t) % words.size()];
    std::string const kind = file[place.first][0];
    std::string& text = file[place.first][place.second];
    char& digit = text[word(98, t) % text.size()];
    char const before = digit;
    digit = digit == '0' ? '1' : '0';
    INFO("control: ", kind, " ... ", text, " instead of ", before);
    CHECK(differences(file) > 0);
    digit = before;
  }
}

} // namespace vectors
