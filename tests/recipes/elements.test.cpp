// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Single numbers against ml_dtypes, gfloat and torch: tests/golden/quantize/elements.txt, made by
// tools/golden/elements.py. Where a package deviates, the deviation is written down here and must be there.
#include "vectors.hpp"

#include <iterator>

namespace {
using namespace vectors;

// The finite floats of an input of the file.
std::vector<float> inputs(std::string const& name) {
  std::vector<float> out;
  auto const keep = [&out](float x) {
    if (is_finite(x)) out.push_back(x);
  };
  if (name == "f16" || name == "bf16")
    for (uint32_t c = 0; c < 65536; ++c)
      keep(name == "f16" ? decode(f16{static_cast<uint16_t>(c)}) : decode(bf16{static_cast<uint16_t>(c)}));
  if (name == "random")
    for (char const* set : {"f32", "low"})
      for (float x : blocks(named(set), 2000)) keep(x);
  if (name == "ends")
    for (auto const& list : {boundaries<e4m3>(), boundaries<e5m2>(), boundaries<e3m2>(), boundaries<e2m3>(),
                             boundaries<e2m1>()})
      for (uint32_t bits : list)
        for (uint32_t sign : {0u, 0x80000000u}) keep(from_bits<float>(bits | sign));
  return out;
}

// The code of `x` as a format and mode of the file has it, by isobit alone.
uint32_t code(std::string const& format, bool saturating, float x) {
  auto const as = [=](auto type) -> uint32_t {
    using T = decltype(type);
    return saturating ? encode<T, overflow::saturate>(x).bits : encode<T>(x).bits;
  };
  if (format == "e4m3") return as(e4m3{});
  if (format == "e5m2") return as(e5m2{});
  if (format == "e3m2") return as(e3m2{});
  if (format == "e2m3") return as(e2m3{});
  if (format == "e2m1") return as(e2m1{});
  if (format == "f16") return as(f16{});
  if (format == "bf16") return as(bf16{});
  return encode_e8m0<e8m0_rounding::nearest>(x).bits;
}

bool saturates(line const& l) { // torch 2.13's cast to e4m3 saturates, infinities too
  return l[2] == "saturating" || (l[1] == "torch" && l[3] == "e4m3");
}

// What the packages do otherwise with finite numbers.
uint32_t as_the_package(line const& l, uint32_t code, float x) {
  if (l[1] == "gfloat" && l[2] == "plain" && l[3] == "e4m3" && (code & 0x7f) == 0x7f) return 0xff; // its NaN has a sign
  if (l[3] == "e8m0") {
    if (is_zero(x) && l[1] == "ml_dtypes") return 0xff; // no code for zero: NaN
    uint32_t const m = magnitude_bits(x); // above 2^-127 both round up, even next to it
    if (m > 0x00400000u && m < 0x00600000u) return 1;
  }
  return code;
}

uint64_t digest_differences(std::vector<line> const& file) {
  uint64_t wrong = 0;
  for (line const& l : file) {
    if (l[0] != "digest") continue;
    digest mine;
    bool const wide = l[3] == "f16" || l[3] == "bf16";
    for (float x : inputs(l[4])) {
      uint32_t const c = as_the_package(l, code(l[3], saturates(l), l[3] == "e8m0" ? isobit::abs(x) : x), x);
      mine.add(static_cast<uint8_t>(c));
      if (wide) mine.add(static_cast<uint8_t>(c >> 8));
    }
    bool const different = mine.text() != l[5] + " " + l[6];
    wrong += different;
  }
  return wrong;
}

TEST_CASE("all half and bfloat16 numbers and more: every package's digest") {
  auto const file = read("elements.txt");
  CHECK(lines_of(file, {"digest"}).size() == 80);
  compare_and_control(only(file, "digest"), digest_differences,
                      [](line const&, size_t k) { return k >= 5; }, 6);
}

template <class T> uint64_t code_differences(line const& l) {
  uint64_t wrong = 0;
  for (size_t k = 2; k < l.size(); ++k) {
    float const x = from_bits<float>(hexadecimal(l[k].substr(0, 8)));
    wrong += encode<T>(x).bits != hexadecimal(l[k].substr(9));
    // With the other sign, from double, and at the largest number saturating.
    wrong += encode<T>(-x).bits != (hexadecimal(l[k].substr(9)) | T::format.sign());
    wrong += encode<T>(static_cast<double>(x)).bits != hexadecimal(l[k].substr(9));
  }
  return wrong;
}

TEST_CASE("every number of a format, every halfway point, and the floats beside them: ml_dtypes' codes") {
  auto const file = only(read("elements.txt"), "codes");
  size_t count = 0;
  for (line const& l : file) count += l.size() - 2;
  CHECK(count == boundaries<e4m3>().size() + boundaries<e5m2>().size() + boundaries<e3m2>().size() +
                     boundaries<e2m3>().size() + boundaries<e2m1>().size());
  auto const differences = [](std::vector<line> const& lines) {
    uint64_t wrong = 0;
    for (line const& l : lines)
      wrong += l[1] == "e4m3"   ? code_differences<e4m3>(l)
               : l[1] == "e5m2" ? code_differences<e5m2>(l)
               : l[1] == "e3m2" ? code_differences<e3m2>(l)
               : l[1] == "e2m3" ? code_differences<e2m3>(l)
                                : code_differences<e2m1>(l);
    return wrong;
  };
  CHECK(differences(file) == 0);
  auto changed = file; // the control: one code
  changed[7][3].back() = changed[7][3].back() == '0' ? '1' : '0';
  CHECK(differences(changed) > 0);
}

TEST_CASE("infinities, NaNs and huge numbers: where each package's code is not isobit's") {
  float const x[8] = {from_bits<float>(0x7f800000), from_bits<float>(0xff800000), from_bits<float>(0x7fc00000),
                      from_bits<float>(0xffc00000), from_bits<float>(0x7f800001), from_bits<float>(0x7f7fffff),
                      1e9f,                         -1e9f};
  struct deviation {
    char const *library, *mode, *format, *where; // one letter for each of the eight: = or x
  };
  // isobit gives every NaN one code, whatever its sign and payload, and the largest number where a format has no NaN (CUDA's
  // rule). ml_dtypes and torch keep a NaN's sign, ml_dtypes makes it -0 in fp4 and fp6; gfloat has another NaN.
  deviation const deviations[] = {
      {"ml_dtypes", "plain", "e4m3", "===x===="}, {"ml_dtypes", "plain", "e5m2", "==xxx==="},
      {"ml_dtypes", "plain", "e3m2", "==xxx==="}, {"ml_dtypes", "plain", "e2m3", "==xxx==="},
      {"ml_dtypes", "plain", "e2m1", "==xxx==="}, {"ml_dtypes", "plain", "e8m0", "=======x"},
      {"ml_dtypes", "plain", "f16", "==xxx==="},  {"ml_dtypes", "plain", "bf16", "==xxx==="},
      {"gfloat", "saturating", "e4m3", "==xxx==="}, {"gfloat", "plain", "e4m3", "x=xxxxx="},
      {"gfloat", "saturating", "e5m2", "==xxx==="}, {"gfloat", "plain", "e5m2", "==xxx==="},
      {"torch", "plain", "e4m3", "===x===="},     {"torch", "plain", "e5m2", "===x===="},
      {"torch", "plain", "e8m0", "========"},     {"torch", "plain", "f16", "==xxx==="},
      {"torch", "plain", "bf16", "==xxx==="},
  };
  auto const file = only(read("elements.txt"), "special");
  CHECK(file.size() == std::size(deviations));
  for (deviation const& d : deviations) {
    auto const found = lines_of(file, {"special", d.library, d.mode, d.format});
    REQUIRE(found.size() == 1);
    std::string where;
    for (size_t i = 0; i < 8; ++i)
      where += code(d.format, saturates({"", d.library, d.mode, d.format}), x[i]) == hexadecimal(found[0][i]) ? '=' : 'x';
    INFO(d.library, " ", d.mode, " ", d.format);
    CHECK(where == d.where);
  }
}

} // namespace
