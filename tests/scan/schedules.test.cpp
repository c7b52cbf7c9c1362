// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one-pass scan under thousands of schedules: blocks in any order, few or many at a time, one of them starved after it
// has taken its chunk. Control: an ordinary look-back, which combines whatever is there, is told apart.
#include "grid.hpp"

using namespace scan_test;
using isobit::detail::scan_form;
namespace machine = isobit::machine;

namespace {

// An array of which one chunk comes slowly: each of its loads lets others run first.
struct slow_load {
  float const* data;
  std::uint64_t first, last; // of the slow elements
  std::uint32_t* idle;
  float operator()(std::uint64_t i) const {
    if (i >= first && i < last)
      for (int k = 0; k < 20; ++k) isobit::machine::set_bits(idle, 0);
    return data[i];
  }
};

template <class Scan>
bool same_under(std::uint64_t schedules, isobit::uint32_t block, std::vector<float> const& wanted, Scan const& scan) {
  for (std::uint64_t k = 0; k < schedules; ++k) {
    auto out = testing::filled<float>(wanted.size(), 0xa5);
    scan(simt::vary({.grid = {9}, .block = {block}}, k), out.data());
    if (!bits_equal(out, wanted)) return false;
  }
  return true;
}

// Decoupled look-back as it is usually written (Merrill and Garland, 2016), one chunk of one element a thread: a block
// adds up the aggregates before it until it finds a whole prefix, whichever is there.
struct lookback {
  std::uint32_t* state; // 0 nothing, 1 aggregate, 2 prefix
  float *aggregate, *prefix;
};
template <int Width> void lookback_kernel(float const* x, std::uint64_t n, float* out, std::uint32_t* ticket, lookback w) {
  ISOBIT_SHARED isobit::block_storage<Width, float> memory;
  auto const b = isobit::block(memory);
  std::uint64_t const k = isobit::detail::take_ticket(b, ticket), i = k * b.size() + b.thread_rank();
  if (k * b.size() >= n) return;
  isobit::tile<Width> const t;
  float s[1] = {i < n ? x[i] : 0.f};
  int const count = isobit::detail::row_count(k * b.size(), n, Width);
  float const total = isobit::detail::scan_row<1>(t, plain<float>{}, s, count);
  if (b.thread_rank() == 0) {
    w.aggregate[k] = total;
    isobit::machine::set_bits(w.state + k, 1);
    bool some = false;
    float before = 0;
    for (std::uint64_t j = k; j > 0;) {
      std::uint32_t const ready = isobit::machine::load_acquire(w.state + j - 1);
      if (ready == 0) continue;
      float const v = (ready & 2) != 0 ? w.prefix[j - 1] : w.aggregate[j - 1];
      before = some ? isobit::add(v, before) : v;
      some = true;
      if ((ready & 2) != 0) break;
      --j;
    }
    w.prefix[k] = some ? isobit::add(before, total) : total;
    isobit::machine::set_bits(w.state + k, 2);
    *memory.slot(0) = before;
    *memory.slot(1) = some ? 1.f : 0.f;
  }
  b.sync();
  if (i < n) out[i] = *memory.slot(1) != 0.f ? isobit::add(*memory.slot(0), s[0]) : s[0];
}

} // namespace

TEST_CASE("4000 schedules of 9 blocks") {
  auto const x = floats(600); // 19 chunks of 32
  auto const wanted = host_scan(x);
  CHECK(same_under(4000, 2, wanted, [&](simt::config const& c, float* out) {
    one_pass(c, scan_form<false>{}, isobit::contiguous<float>{x.data()}, x.size(), isobit::detail::results<float>{out},
             plain<float>{});
  }));
}

TEST_CASE("blocks one at a time, in any order, and never more than two") {
  auto const x = floats(5000); // 10 chunks of 512
  auto const wanted = host_scan(x);
  for (isobit::uint32_t resident : {1u, 2u, 9u})
    CHECK(same_under(20, 32, wanted, [&](simt::config c, float* out) {
      c.resident = resident;
      one_pass(c, scan_form<false>{}, isobit::contiguous<float>{x.data()}, x.size(),
               isobit::detail::results<float>{out}, plain<float>{});
    }));
}

TEST_CASE("each chunk starved in turn") {
  auto const x = floats(320); // 5 chunks of 64
  auto const wanted = host_scan(x);
  for (std::uint64_t chunk = 0; chunk < 5; ++chunk) {
    CAPTURE(chunk);
    CHECK(same_under(30, 4, wanted, [&](simt::config c, float* out) {
      c.resident = 3;
      std::uint32_t idle = 0;
      one_pass(c, scan_form<false>{}, slow_load{x.data(), 64 * chunk, 64 * chunk + 64, &idle}, x.size(),
               isobit::detail::results<float>{out}, plain<float>{});
    }));
  }
}

TEST_CASE("control: an ordinary look-back depends on the schedule") {
  auto const x = floats(32 * 9);
  std::vector<float> first;
  int differ = 0;
  for (std::uint64_t k = 0; k < 100; ++k) {
    std::vector<float> out(x.size()), aggregate(9), prefix(9);
    std::vector<std::uint32_t> state(9);
    std::uint32_t ticket = 0;
    simt::launch(simt::vary({.grid = {9}, .block = {32}, .resident = 4}, k), lookback_kernel<32>, x.data(),
                 std::uint64_t(x.size()), out.data(), &ticket, lookback{state.data(), aggregate.data(), prefix.data()});
    if (k == 0) first = out;
    differ += !bits_equal(out, first);
  }
  CHECK(differ > 0);
  CHECK(differ < 100);
}

TEST_CASE("what a launch asks of memory: a ticket a chunk, less than two published bits, the nodes that an index names") {
  std::uint64_t const chunks = 64;
  auto const x = floats(512 * chunks);
  std::vector<float> out(x.size());
  auto const r = one_pass({.grid = {64}, .block = {32}, .order = simt::schedule::in_order}, scan_form<false>{},
                          isobit::contiguous<float>{x.data()}, x.size(), isobit::detail::results<float>{out.data()},
                          plain<float>{});
  // 64 tickets; 32 + 16 + ... arrivals from the left and as many from the right, but those at the end of the array; a read
  // for each set bit of each index.
  std::uint64_t bits = 0;
  for (std::uint64_t k = 0; k < chunks; ++k) bits += isobit::detail::count_bits(k);
  CHECK(r.atomics <= chunks + 2 * chunks + bits);
  CHECK(r.atomics >= chunks + bits + chunks);
}
