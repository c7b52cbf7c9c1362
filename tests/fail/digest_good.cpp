// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: compiles
#include <isobit/fingerprint.hpp>

using namespace isobit;
auto a(void const* p) { return digest<digest128>(host(), p, 10); }
auto b(float const* p) { return digest<by_value<digest64>>(host(), p, {10}); }
auto c(e2m1x2 const* p) { return digest_elements(host(), stored(p), {10}); }
auto d(float const* p) { return digest(host(), tensor_view<float, 1>{p, {10}, {2}}); }
auto e(e4m3 const* p, e8m0 const* s) { return digest_quantized(host(), matrix(p, 2, 32), matrix(s, 2, 1)); }
auto f(std::int16_t const* p) { return torch_hash(host(), p, 10); }
