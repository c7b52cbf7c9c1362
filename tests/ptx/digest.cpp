// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc's PTX of the fingerprint kernels, executed and compared with the host.
#include <doctest/doctest.h>

#include "compiled.hpp"

#include <isobit/fingerprint.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace {

using compiled::kernels;
using isobit::host;
using isobit::testing::bits_equal;

std::vector<unsigned char> some_bytes(std::size_t n) {
  std::vector<unsigned char> x(n);
  std::uint64_t z = 5;
  for (auto& v : x) v = static_cast<unsigned char>((z = z * 6364136223846793005u + 1442695040888963407u) >> 56);
  return x;
}

template <class Form> void whole_and_chunks(char const* sum_name) {
  using sum = typename Form::sum;
  auto const x = some_bytes(80000);
  auto const whole = kernels().find({"digest_range_kernel", sum_name});
  auto const chunked = kernels().find({"chunk_sums_kernel", sum_name});
  for (std::uint64_t n : {0u, 1u, 16u, 17u, 4096u, 79999u})
    for (std::uint64_t offset : {0u, 1u, 4u})
      for (unsigned width : {256u, 100u}) {
        if (n + offset > x.size()) continue;
        auto const* const bytes = x.data() + offset;
        sum total{};
        ptx::run(whole, {3, width, n}, ptx::arguments().add(bytes).add(n).add(std::uint64_t{0}).add(&total));
        CAPTURE(n);
        CHECK(bits_equal(total, isobit::digest_range<Form>(host(), bytes, n)));
        if (n == 0) continue;
        std::uint64_t const chunk = 4096;
        std::vector<sum> parts(isobit::digest_chunks(n, chunk)), wanted(parts.size());
        std::memset(static_cast<void*>(parts.data()), 0xcd, parts.size() * sizeof(sum));
        ptx::run(chunked, {2, width, 1}, ptx::arguments().add(bytes).add(n).add(chunk).add(parts.data()));
        chunk_sums(host(), bytes, n, chunk, wanted.data());
        CHECK(parts == wanted);
      }
}

template <class Sum> void written(char const* sum_name, char const* keep) {
  auto const x = some_bytes(16 * 700);
  std::vector<float> in(x.size() / 4), out(in.size()), expected(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) expected[i] = 2 * (in[i] = float(x[i]) - 100);
  Sum total{};
  ptx::run(kernels().find({"write_and_digest", sum_name, keep}), {2, 256, 3},
           ptx::arguments().add(in.data()).add(out.data()).add(std::uint64_t(in.size() / 4)).add(&total));
  CHECK(bits_equal(out, expected));
  using form = std::conditional_t<sizeof(Sum) == 16, isobit::digest64, isobit::digest128>;
  CHECK(bits_equal(total, isobit::digest_range<form>(host(), expected.data(), 4 * expected.size())));
}

} // namespace

TEST_SUITE("compiled device code, fingerprints") {
  TEST_CASE("64 and 128 bits, whole and in chunks") {
    whole_and_chunks<isobit::digest64>("digest_sum");
    whole_and_chunks<isobit::digest128>("digest128_sum");
  }
  TEST_CASE("values as they are written") {
    written<isobit::digest_sum>("digest_sum", "Lb0");
    written<isobit::digest_sum>("digest_sum", "Lb1");
    written<isobit::digest128_sum>("digest128_sum", "Lb0");
    written<isobit::digest128_sum>("digest128_sum", "Lb1");
  }
  TEST_CASE("views: a transposed matrix by value, packed codes") {
    auto const x = some_bytes(4000);
    isobit::tensor_view<isobit::bf16, 2> const turned{
        reinterpret_cast<isobit::bf16 const*>(x.data()), {31, 50}, {1, 33}, 7};
    isobit::digest128_sum wide{};
    ptx::run(kernels().find({"digest_elements_kernel", "by_value"}), {2, 64, 1},
             ptx::arguments().add(turned).add(turned.count()).add(std::uint64_t{0}).add(&wide));
    using form = isobit::by_value<isobit::digest128>;
    CHECK(bits_equal(wide, isobit::digest_elements_sum<form>(host(), turned, turned.count())));
    isobit::tensor_view<isobit::e2m1x2, 2> const codes{
        reinterpret_cast<isobit::e2m1x2 const*>(x.data()), {21, 35}, {36, 1}, 1};
    isobit::digest_sum sum{};
    ptx::run(kernels().find({"digest_elements_kernel", "e2m1x2"}), {2, 96, 1},
             ptx::arguments().add(codes).add(codes.count()).add(std::uint64_t{0}).add(&sum));
    CHECK(bits_equal(sum, isobit::digest_elements_sum(host(), codes, codes.count())));
  }
  TEST_CASE("torch_hash: a whole tensor in parts, rows, columns") {
    auto const x = some_bytes(4 * 1500);
    auto const check = [&](auto const* elements, char const* name) {
      for (auto const& [outer, reduced, inner, parts] :
           {std::array<std::uint64_t, 4>{1, 1500, 1, 3}, {30, 50, 1, 1}, {3, 20, 25, 1}, {1, 10, 150, 1}}) {
        std::vector<std::uint64_t> out(outer * inner), want(out.size());
        std::uint64_t const extents[] = {outer, reduced, inner};
        torch_hash(host(), elements, extents, 3, 2, want.data());
        ptx::run(kernels().find({"torch_hash_kernel", name}), {2, 96, 1},
                 ptx::arguments().add(elements).add(outer).add(reduced).add(inner).add(parts).add(out.data()));
        CHECK(out == want);
      }
    };
    check(reinterpret_cast<float const*>(x.data()), "stored_elementsIf");
    check(reinterpret_cast<isobit::bf16 const*>(x.data()), "bf16");
  }
  TEST_CASE("the parts of an NVFP4 tensor") {
    auto const x = some_bytes(2000);
    auto const* const codes = reinterpret_cast<isobit::e2m1x2 const*>(x.data());
    auto const* const scales = reinterpret_cast<isobit::e4m3 const*>(x.data() + 100);
    float const scale = 0.25f;
    isobit::quantized_digest<std::uint64_t> out{};
    ptx::run(kernels().find({"nvfp4_digest"}), {1, 64, 1},
             ptx::arguments().add(codes).add(scales).add(&scale).add(&out));
    CHECK(out == isobit::digest_quantized(host(), isobit::matrix(codes, 5, 35),
                                          isobit::matrix(scales, 5, 3, isobit::scale_layout::tiles_128x4{}), &scale,
                                          1));
  }
}
