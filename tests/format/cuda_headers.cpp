// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The codecs against the host functions of CUDA's headers, in any C++ compiler. Without arguments a sample: every 251st
// float, every 4099th with a double beside it, and the neighbours of every value that rounding turns on. With `all I N`:
// part I of N of all 2^32 floats, and a double beside every 64th. With `wrong`: the control, which must find differences.
#include <isobit/format/e8m0.hpp>
#include <isobit/format/element.hpp>
#include <isobit/interop/cuda_types.hpp>

#include <cuda_fp4.h>
#include <cuda_fp6.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {
using namespace isobit;

uint64_t checked = 0, wrong = 0;

void expect(char const* what, uint32_t x, uint32_t mine, uint32_t cuda) {
  ++checked;
  if (mine != cuda && wrong++ < 20) std::printf("%s of %08x: %x, CUDA %x\n", what, x, mine, cuda);
}

uint32_t control = 0; // 1: compares with the conversion of the next float

template <e8m0_rounding R> void check_scale(char const* what, uint32_t bits, float x, cudaRoundMode mode) {
  expect(what, bits, encode_e8m0<R, overflow::saturate>(x).bits, __nv_cvt_float_to_e8m0(x, __NV_SATFINITE, mode));
  expect(what, bits, encode_e8m0<R>(x).bits, __nv_cvt_float_to_e8m0(x, __NV_NOSAT, mode));
}

void check(uint32_t bits) {
  float const x = from_bits<float>(bits ^ control);
  check_scale<e8m0_rounding::down>("e8m0 down", bits, x, cudaRoundZero);
  check_scale<e8m0_rounding::up>("e8m0 up", bits, x, cudaRoundPosInf);
  expect("e4m3 saturating", bits, encode<e4m3, overflow::saturate>(from_bits<float>(bits)).bits,
         __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3));
  expect("e4m3", bits, encode<e4m3>(x).bits, __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3));
  expect("e5m2 saturating", bits, encode<e5m2, overflow::saturate>(x).bits,
         __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2));
  expect("e5m2", bits, encode<e5m2>(x).bits, __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2));
  expect("e3m2", bits, encode<e3m2>(x).bits, __nv_cvt_float_to_fp6(x, __NV_E3M2, cudaRoundNearest));
  expect("e2m3", bits, encode<e2m3>(x).bits, __nv_cvt_float_to_fp6(x, __NV_E2M3, cudaRoundNearest));
  expect("e2m1", bits, encode<e2m1>(x).bits, __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest));
  expect("f16", bits, encode<f16>(x).bits, static_cast<__half_raw>(__float2half_rn(x)).x);
  expect("bf16", bits, encode<bf16>(x).bits, static_cast<__nv_bfloat16_raw>(__float2bfloat16_rn(x)).x);
}

// CUDA's conversions from double keep a NaN's sign in some formats and not in others, so that NaNs are left out.
void check(double x) {
  if (is_nan(x)) return;
  uint32_t const high = static_cast<uint32_t>(to_bits(x) >> 32);
  expect("e4m3 of a double, saturating", high, encode<e4m3, overflow::saturate>(x).bits,
         __nv_cvt_double_to_fp8(x, __NV_SATFINITE, __NV_E4M3));
  expect("e4m3 of a double", high, encode<e4m3>(x).bits, __nv_cvt_double_to_fp8(x, __NV_NOSAT, __NV_E4M3));
  expect("e5m2 of a double, saturating", high, encode<e5m2, overflow::saturate>(x).bits,
         __nv_cvt_double_to_fp8(x, __NV_SATFINITE, __NV_E5M2));
  expect("e5m2 of a double", high, encode<e5m2>(x).bits, __nv_cvt_double_to_fp8(x, __NV_NOSAT, __NV_E5M2));
  expect("e3m2 of a double", high, encode<e3m2>(x).bits, __nv_cvt_double_to_fp6(x, __NV_E3M2, cudaRoundNearest));
  expect("e2m3 of a double", high, encode<e2m3>(x).bits, __nv_cvt_double_to_fp6(x, __NV_E2M3, cudaRoundNearest));
  expect("e2m1 of a double", high, encode<e2m1>(x).bits, __nv_cvt_double_to_fp4(x, __NV_E2M1, cudaRoundNearest));
  expect("f16 of a double", high, encode<f16>(x).bits, static_cast<__half_raw>(__double2half(x)).x);
  expect("bf16 of a double", high, encode<bf16>(x).bits, static_cast<__nv_bfloat16_raw>(__double2bfloat16(x)).x);
  expect("e8m0 down of a double", high, encode_e8m0<e8m0_rounding::down>(x).bits,
         __nv_cvt_double_to_e8m0(x, __NV_NOSAT, cudaRoundZero));
  expect("e8m0 up of a double, saturating", high, encode_e8m0<e8m0_rounding::up, overflow::saturate>(x).bits,
         __nv_cvt_double_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf));
}

// A double that is this float or lies beside it: a conversion by way of float would round twice.
void check_double(uint32_t bits) {
  uint64_t const low[] = {0, 1, 0x10000000, 0x1fffffff, uint64_t(bits) * 0x9e3779b97f4a7c15u >> 35};
  check(from_bits<double>(to_bits(static_cast<double>(from_bits<float>(bits))) | low[bits / 64 % 5]));
}

void around(uint32_t bits) {
  for (uint32_t d = 0; d < 9; ++d)
    for (uint32_t sign : {0u, 0x80000000u}) {
      uint32_t const near = ((bits + d - 4) & 0x7fffffffu) | sign;
      check(near);
      double const x = static_cast<double>(from_bits<float>(near));
      check(x);
      if (is_finite(x) && !is_zero(x)) {
        check(from_bits<double>(to_bits(x) + 1));
        check(from_bits<double>(to_bits(x) - 1));
      }
    }
}

// The floats at and halfway between neighbouring numbers of a format.
template <class T> void around_every_midpoint() {
  for (uint32_t c = 0; c <= T::format.largest(); ++c) {
    float const a = decode(T{static_cast<decltype(T::bits)>(c)});
    if (T::format.special == specials::none && c == T::format.largest()) {
      around(to_bits(a));
      break;
    }
    float const b = decode(T{static_cast<decltype(T::bits)>(c + 1)});
    around(to_bits(a));
    if (is_finite(b)) around(to_bits(static_cast<float>((static_cast<double>(a) + b) / 2)));
  }
}

bool same(float a, float b) { return is_nan(a) ? is_nan(b) : to_bits(a) == to_bits(b); }

void check_decoders() {
  for (uint32_t c = 0; c < 0x10000; ++c) {
    __half_raw h{};
    h.x = static_cast<unsigned short>(c);
    __nv_bfloat16_raw b{};
    b.x = static_cast<unsigned short>(c);
    expect("decoded f16", c, same(decode_element(__half(h)), __half2float(__half(h))), 1);
    expect("decoded bf16", c, same(decode_element(__nv_bfloat16(b)), __bfloat162float(__nv_bfloat16(b))), 1);
    // From 16 bits: the codec takes the float, CUDA has functions of its own.
    float const x = decode(f16{h.x}), y = decode(bf16{b.x});
    expect("e4m3 of f16", c, encode<e4m3, overflow::saturate>(x).bits, __nv_cvt_halfraw_to_fp8(h, __NV_SATFINITE, __NV_E4M3));
    expect("e5m2 of bf16", c, encode<e5m2>(y).bits, __nv_cvt_bfloat16raw_to_fp8(b, __NV_NOSAT, __NV_E5M2));
    expect("e3m2 of f16", c, encode<e3m2>(x).bits, __nv_cvt_halfraw_to_fp6(h, __NV_E3M2, cudaRoundNearest));
    expect("e2m3 of bf16", c, encode<e2m3>(y).bits, __nv_cvt_bfloat16raw_to_fp6(b, __NV_E2M3, cudaRoundNearest));
    expect("e2m1 of bf16", c, encode<e2m1>(y).bits, __nv_cvt_bfloat16raw_to_fp4(b, __NV_E2M1, cudaRoundNearest));
    expect("e8m0 of bf16", c, encode_e8m0<e8m0_rounding::up>(y).bits,
           __nv_cvt_bfloat16raw_to_e8m0(b, __NV_NOSAT, cudaRoundPosInf));
  }
  for (uint32_t c = 0; c < 0x100; ++c) {
    e8m0 const scale{static_cast<uint8_t>(c)};
    __nv_bfloat16 const cuda = __nv_cvt_e8m0_to_bf16raw(scale.bits);
    expect("decoded e8m0", c, same(decode(scale), __bfloat162float(cuda)), 1);
    __nv_fp8_e4m3 a{};
    a.__x = static_cast<unsigned char>(c);
    __nv_fp8_e5m2 b{};
    b.__x = static_cast<unsigned char>(c);
    expect("decoded e4m3", c, same(decode_element(a), static_cast<float>(a)), 1);
    expect("decoded e5m2", c, same(decode_element(b), static_cast<float>(b)), 1);
  }
  for (uint32_t c = 0; c < 0x40; ++c) {
    uint8_t const code = static_cast<uint8_t>(c);
    __nv_fp6_e3m2 a{};
    a.__x = code;
    __nv_fp6_e2m3 b{};
    b.__x = code;
    expect("decoded e3m2", c, same(decode(e3m2{code}), static_cast<float>(a)), 1);
    expect("decoded e2m3", c, same(decode(e2m3{code}), static_cast<float>(b)), 1);
    if (c >= 0x10) continue;
    __nv_fp4_e2m1 d{};
    d.__x = code;
    expect("decoded e2m1", c, same(decode(e2m1{code}), static_cast<float>(d)), 1);
  }
  // Pairs: CUDA's x is the low half, the even element.
  for (uint32_t c = 0; c < 0x100; ++c) {
    e2m1x2 const mine{static_cast<uint8_t>(c)};
    float2 const pair{decode(mine.even()), decode(mine.odd())};
    expect("packed e2m1x2", c, mine.bits, __nv_cvt_float2_to_fp4x2(pair, __NV_E2M1, cudaRoundNearest));
  }
}
} // namespace

int main(int count, char** arguments) {
  bool const all = count > 1 && std::strcmp(arguments[1], "all") == 0;
  control = count > 1 && std::strcmp(arguments[1], "wrong") == 0;
  uint64_t const part = count > 3 ? std::strtoull(arguments[2], nullptr, 10) : 0;
  uint64_t const parts = count > 3 ? std::strtoull(arguments[3], nullptr, 10) : 1;
  if (parts == 0 || part >= parts) return 2;
  uint64_t const begin = (part << 32) / parts, end = ((part + 1) << 32) / parts;
  check_decoders();
  for (uint64_t bits = begin; bits < end; bits += all ? 1 : 251) check(static_cast<uint32_t>(bits));
  for (uint64_t bits = begin; bits < end; bits += all ? 64 : 4099) check_double(static_cast<uint32_t>(bits));
  around_every_midpoint<e4m3>();
  around_every_midpoint<e5m2>();
  around_every_midpoint<e3m2>();
  around_every_midpoint<e2m3>();
  around_every_midpoint<e2m1>();
  around_every_midpoint<f16>();
  around_every_midpoint<bf16>();
  for (uint32_t exponent = 0; exponent < 256; ++exponent) around(exponent << 23); // where e8m0 steps
  std::printf("%llu conversions checked, %llu differ\n", static_cast<unsigned long long>(checked),
              static_cast<unsigned long long>(wrong));
  return (wrong == 0) != (control != 0) ? 0 : 1;
}
