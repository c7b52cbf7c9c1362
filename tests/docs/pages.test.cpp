// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C++ of the pages of docs/, line for line (check_snippets.py compares). What needs no made-up surroundings is run.
#include <isobit/accum/double_float.hpp>
#include <isobit/accum/exact.hpp>
#include <isobit/accum/extrema.hpp>
#include <isobit/accum/moments.hpp>
#include <isobit/algo/products.hpp>
#include <isobit/algo/scan_grid.hpp>
#include <isobit/combine.hpp>
#include <isobit/device/digest_kernel.hpp>
#include <isobit/fingerprint.hpp>
#include <isobit/interop/exact_functors.hpp>
#include <isobit/interop/views.hpp>
#include <isobit/quantize.hpp>
#include <isobit/ranks.hpp>
#include <isobit/scan.hpp>
#include <isobit/scatter.hpp>
#include <isobit/segments.hpp>
#include <isobit/simt/cuda.hpp>
#include <isobit/slots.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <span>
#include <vector>

using std::uint32_t, std::uint64_t;

// docs/accumulators.md
struct product {
  using input = float;   // what the load gives
  using state = float;   // trivially copyable, default-constructible
  using result = float;
  ISOBIT_HD state lift(input x) const { return x; }
  ISOBIT_HD state combine(state left, state right) const { return isobit::mul(left, right); }
  ISOBIT_HD result finish(state s) const { return isobit::canonical(s); }
  ISOBIT_HD result empty() const { return 1; }
};

__global__ void four_sums(float const* x, float const* y, int n, float* out) {
  __shared__ isobit::block<256>::storage<isobit::double_float<float>> smem;
  auto block = isobit::block(smem);
  auto load = isobit::contiguous{x};
  float s = isobit::reduce(block, n, load, isobit::double_float<float>{});      // storage<double_float<float>>
  auto  m = isobit::reduce(isobit::host(), x, n, isobit::moments<float>{});     // m.mean, m.variance, ...
  auto  e = isobit::reduce(isobit::host(), n, isobit::with_index(x), isobit::extrema<float>{});
  float d = isobit::dot<isobit::fused_product>(isobit::host(), n, x, y);
  if (threadIdx.x == 0) out[0] = s, out[1] = m.mean, out[2] = e.max, out[3] = d;
}

// docs/order_in_pictures.md
__global__ void two_sums(float const* x, int n, float* out) {
  __shared__ isobit::block<256>::storage<float> smem;
  auto block = isobit::block(smem);
  float on_cpu = isobit::reduce(isobit::host(), x, n);
  float in_block = isobit::reduce(block, x, n);
  if (threadIdx.x == 0) out[0] = on_cpu, out[1] = in_block;
}

// docs/scan.md
__global__ void row_prefixes(float const* x, float* out, int cols) {
  __shared__ isobit::block<256>::storage<float> smem;
  auto block = isobit::block(smem);
  std::size_t const row = std::size_t(blockIdx.x) * cols;
  isobit::inclusive_scan(block, x + row, cols, out + row);
}

template <class Load, class Store> __global__ void whole_scan(Load load, Store store, uint64_t n, void* memory) {
  __shared__ isobit::block<256>::storage<float> smem;
  auto block = isobit::block(smem);
  // In a kernel; the first `zero_bytes` of the memory are zero before every launch.
  auto all = isobit::scan_grid(block, isobit::scan_workspace<float>::at(memory, n, blockDim.x));
  isobit::exclusive_scan(all, n, load, store);
}

// docs/segments.md
__global__ void sums(isobit::csr<unsigned> layout, float const* x, float* out, isobit::segment_workspace<float> w) {
  __shared__ isobit::segment_storage<256, float> smem;
  isobit::segmented_reduce(smem, w, layout, isobit::contiguous{x}, [=](std::uint64_t s, float sum) { out[s] = sum; });
}

__global__ void split_k(isobit::private_slots<float> slots, uint32_t* arrivals, float* out) {
  __shared__ uint32_t flag;
  uint32_t const tile = 0, split = blockIdx.x, splits = gridDim.x, i = threadIdx.x;
  float const partial = float(split + i);
  // split-K epilogue: block (tile, split)
  slots.store(split, i, partial);                                    // any thread, any time
  if (isobit::last_to_arrive(&flag, arrivals + tile, splits))        // all threads of the block
    out[i] = isobit::merge(slots, i);
}

__global__ void in_turn(uint32_t* tickets, uint32_t* turn, float* sums, uint64_t n) {
  __shared__ uint32_t word;
  auto const value = [](uint64_t i) { return float(i); };
  uint32_t slot = isobit::take_ticket(&word, tickets, gridDim.x);
  isobit::add_in_turn(isobit::turnstile{turn, gridDim.x}, slot, sums, n, isobit::plain<float>{}, value);
}

// docs/quantize.md
template <class Recipe>
__global__ void relu_mxfp8(float const* x, isobit::e4m3* codes, isobit::e8m0* scales) {
  isobit::tile<8> lanes; // eight lanes share a block, four elements each
  std::size_t const b = blockIdx.x * (blockDim.x / 8) + lanes.tile_rank();
  auto const load  = [=](unsigned i) { return isobit::max(x[32 * b + i], 0.0f); };
  auto const store = [=](unsigned i, isobit::e4m3 code) { codes[32 * b + i] = code; };
  auto const scale = isobit::quantize_block(lanes, Recipe{}, 32u, load, store);
  if (lanes.thread_rank() == 0) scales[b] = scale;
}

// docs/fingerprint.md
__global__ void digest_of_writes(float const* x, isobit::digest_sum* total) {
  __shared__ isobit::block<256>::storage<isobit::digest_sum> smem;
  auto block = isobit::block(smem);
  uint64_t const unit = threadIdx.x;
  float const v[4] = {x[4 * unit], x[4 * unit + 1], x[4 * unit + 2], x[4 * unit + 3]};
  isobit::digest_accumulator acc;                      // per thread; digest128_accumulator for 128 bits
  acc.add(v, unit);                                    // float v[4], the unit they are stored to; any thread, any order
  auto sum = sum_over(block, acc.sum());
  if (block.thread_rank() == 0) isobit::device::atomic_add(total, sum);   // two 64-bit integer atomics a block
}

namespace {

std::vector<float> some(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = float(int(i * 2654435761u % 2001) - 1000) / 64;
  return x;
}

bool same(float a, float b) { return isobit::to_bits(a) == isobit::to_bits(b); }

float my_loop(float const* x, int n) { return isobit::reduce<isobit::sequential>(isobit::thread{}, x, n); }

} // namespace

TEST_CASE("docs: accumulators, arithmetic, the order") {
  auto const memory = some(600);
  float const *x = memory.data(), *y = memory.data() + 300;
  int const n = 300;
  float out[4];
  isobit::simt::launch(1, 96, four_sums, x, y, n, out);
  CHECK(same(out[0], isobit::reduce(isobit::host(), x, n, isobit::double_float<float>{})));
  CHECK(out[2] == *std::max_element(x, x + n));
  isobit::simt::launch(1, 96, two_sums, x, n, out);
  CHECK(same(out[0], out[1]));
  CHECK(isobit::reduce(isobit::host(), 3, [](int i) { return float(i + 2); }, product{}) == 24);
  float norm = isobit::sqrt(isobit::reduce(isobit::host(), n, [=](int i) { return isobit::mul(x[i], x[i]); }));
  CHECK(norm > 0);
  float r = isobit::with_default_environment([&] { return my_loop(x, n); });
  CHECK(same(r, std::accumulate(x + 1, x + n, x[0])));
  auto const values = memory;
  isobit::exact<float>::state other{};
  isobit::exact<float> acc;
  isobit::exact<float>::state s{};              // the sum of nothing
  for (float v : values) acc.deposit(s, v);     // any order
  s += other;                                   // any grouping
  float sum = acc.finish(s);
  CHECK(same(sum, isobit::reduce(isobit::host(), x, 600, acc)));
}

TEST_CASE("docs: ranks") {
  auto const memory = some(1000);
  uint64_t const n = 1000, ranks = 3;
  isobit::plain<float> const acc;
  std::vector<isobit::fragment<float>> received;
  for (uint64_t r = 0; r < ranks; ++r) {
    auto const at = isobit::rank_range(n, r, ranks);
    received.push_back(isobit::reduce_fragment(isobit::host(), at.first, at.last, memory.data() + at.first));
  }
  auto const &part0 = received[0], &part1 = received[1], &part2 = received[2];
  uint64_t const rank = 1;
  float const* x = memory.data() + part1.first();
  auto part  = isobit::rank_range(n, rank, ranks);                       // any other split gives the same bits
  auto mine  = isobit::reduce_fragment(isobit::host(), part.first, part.last, x);   // x[0] is element part.first
  // ... send mine, receive all, in the order of ranks ...
  auto whole = merge(acc, merge(acc, part0, part1), part2);              // in any grouping
  float sum  = isobit::finish_fragment(whole, acc);
  CHECK(mine.first() == part1.first());
  CHECK(same(sum, isobit::reduce(isobit::host(), memory.data(), n)));
}

TEST_CASE("docs: scans") {
  auto const memory = some(300);
  float const* x = memory.data();
  uint64_t const n = 300, segments = 2;
  std::vector<float> result(n);
  float* out = result.data();
  std::vector<unsigned> const offset{0, 100, 300};
  unsigned const* offsets = offset.data();
  std::vector<unsigned char> const flag(n, 0);
  unsigned char const* flags = flag.data();
  std::vector<int> const key(n, 7);
  int const* keys = key.data();
  auto const load = isobit::contiguous{x};
  auto const store = [=](uint64_t i, float v) { out[i] = v; };
  isobit::inclusive_scan(isobit::host(), x, n, out);                                     // arrays; out may be x
  isobit::exclusive_scan(isobit::host(), x, n, out, isobit::compensated<float>{}, 1.5f); // after an initial value
  isobit::segmented_inclusive_scan(isobit::host(), x, n, offsets, segments, out);        // CSR
  isobit::segmented_inclusive_scan(isobit::host(), x, n, isobit::head_flags(flags), out); // a flag for each element
  isobit::inclusive_scan_by_key(isobit::host(), keys, x, n, out);                        // runs of equal keys
  isobit::inclusive_scan(isobit::host(), n, load, store, isobit::compensated<float>{});  // anything
  isobit::simt::launch(3, 96, row_prefixes, x, out, 100);
  CHECK(same(out[99], isobit::reduce(isobit::host(), x, 100)));
  using space = isobit::scan_workspace<float>;
  std::vector<uint64_t> workspace(space::bytes(n, 64) / 8 + 2);
  isobit::simt::launch(2, 64, whole_scan<decltype(load), decltype(store)>, load, store, n, static_cast<void*>(workspace.data()));
  CHECK(same(out[299], isobit::reduce(isobit::host(), x, 299)));
}

TEST_CASE("docs: segments, scatter, combine, slots") {
  auto const memory = some(60);
  float const* x = memory.data();
  uint64_t const n = 60, segments = 2, rows = 12, columns = 5, tokens = 6, E = 4, k = 2;
  std::vector<unsigned> offset(61);
  offset[1] = 20, offset[2] = 60;
  std::vector<int> const ids(60, 3);
  {
    unsigned* offsets = offset.data();
    int const* keys = ids.data();
    std::vector<float> result(2);
    float* out = result.data();
    isobit::segmented_reduce(isobit::host(), x, n, offsets, segments, out);          // out[s]: sum of x[offsets[s] .. offsets[s+1])
    CHECK(same(out[0], isobit::reduce(isobit::host(), x, 20)));
    std::vector<uint64_t> space(isobit::segment_workspace<float>::bytes(n, segments) / 8 + 2);
    isobit::simt::launch(2, 64, sums, isobit::csr<unsigned>{offsets, segments}, x, out,
                         isobit::segment_workspace<float>::at(space.data(), n, segments));
    CHECK(same(out[1], isobit::reduce(isobit::host(), x + 20, 40)));
    std::vector<decltype(isobit::moments<float>{}.empty())> moments(rows);
    [&, out = moments.data()] {
      isobit::reduce_rows(isobit::host(), x, rows, columns, out, isobit::moments<float>{}); // a result for each row
    }();
    uint64_t runs = isobit::find_runs(isobit::host(), keys, n, offsets);             // runs of equal neighbouring keys as segments
    CHECK(runs == 1);
  }
  {
    std::vector<float> result(rows * columns);
    float* out = result.data();
    std::vector<uint64_t> space(isobit::scatter_host_workspace_bytes(12, rows) / 8);
    void* workspace = space.data();
    uint64_t const bytes = space.size() * 8;
    auto const scatter = [&, n = uint64_t{12}, ids = ids.data()] {
      auto wrong = isobit::scatter_reduce(isobit::host(), workspace, bytes, ids, n, x, columns, out, rows);
      return wrong;
    };
    scatter();
    CHECK(same(out[3 * columns], isobit::reduce(isobit::host(), 12, [=](int i) { return x[5 * i]; })));
  }
  std::vector<int> const expert{0, 1, 1, 3, 2, 3, 0, 2, 1, 2, 3, 0};
  std::vector<int> where(12), place(12), slots_of(12);
  std::vector<uint64_t> starts(E + 1);
  {
    int const* experts = expert.data();
    uint64_t* offsets = starts.data();
    int *order = where.data(), *position = place.data(), *slot = slots_of.data();
    isobit::group_ids(isobit::host(), experts, tokens * k, E, isobit::grouping<int>{offsets, order, position, slot});
    CHECK(offsets[E] == 12);
  }
  {
    std::vector<isobit::bf16> const values(12 * columns, isobit::encode<isobit::bf16>(1.5f));
    isobit::bf16 const* x = values.data();
    int const *rows = place.data(), *experts = expert.data();
    std::vector<float> const weight(12, 0.5f);
    float const* weights = weight.data();
    uint64_t const x_rows = 12;
    constexpr uint32_t k = 2;
    std::vector<float> result(tokens * columns);
    float* out = result.data();
    isobit::combine_map<int, int> map{rows, experts, weights, tokens, k, x_rows};   // rows: -1 where there is none
    isobit::gather_combine(isobit::host(), map, isobit::matrix_rows<isobit::bf16>{x, columns}, columns, out);
    CHECK(out[0] == 1.5f);
  }
  std::vector<float> parts(4 * 8), merged(8);
  uint32_t words[3] = {};
  isobit::simt::launch(4, 8, split_k, isobit::private_slots<float>::at(parts.data(), 4, 8), words, merged.data());
  CHECK(merged[1] == 10);
  std::vector<float> added(5);
  isobit::simt::launch(3, 8, in_turn, words + 1, words + 2, added.data(), uint64_t{5});
  CHECK(added[4] == 12);
}

TEST_CASE("docs: quantisation") {
  auto const memory = some(3 * 64);
  float const* x = memory.data();
  std::size_t const rows = 3, cols = 64;
  std::vector<float> values(rows * cols);
  float* back = values.data();
  {
    using recipe = isobit::mxfp8<isobit::e4m3, isobit::mx::rceil>;

    std::vector<isobit::e4m3> codes(rows * cols);
    std::vector<isobit::e8m0> scales(rows * isobit::blocks_per_row<recipe>(cols));
    isobit::quantize(isobit::host(), recipe{}, x, rows, cols, codes.data(), scales.data());
    isobit::dequantize(isobit::host(), recipe{}, codes.data(), scales.data(), rows, cols, back);
    CHECK(back[0] * x[0] > 0);
    isobit::simt::launch(3, 16, relu_mxfp8<recipe>, x, codes.data(), scales.data());
  }
  {
    using recipe = isobit::nvfp4<isobit::nv::te>;
    std::uint32_t const bits = isobit::amax<recipe>(isobit::host(), x, rows * cols); // an unsigned maximum: no order
    recipe const r{isobit::from_bits<float>(bits)};

    std::vector<isobit::e2m1x2> codes(rows * isobit::packed_per_row(cols));
    std::vector<isobit::e4m3> scales(rows * isobit::blocks_per_row<recipe>(cols));
    isobit::quantize(isobit::host(), r, x, rows, cols, codes.data(), scales.data());
    CHECK(bits != 0);
  }
  {
    using recipe = isobit::nvfp4<isobit::nv::te>;
    recipe const r{10.0f};
    std::size_t const rows = 32, cols = 64;
    auto const memory = some(rows * cols);
    float const* x = memory.data();
    std::vector<float> values(rows * cols);
    float* back = values.data();
    std::vector<isobit::e2m1x2> all_codes(2048);
    std::vector<isobit::e4m3> all_scales(4096);
    isobit::e2m1x2 *codes = all_codes.data(), *codes_t = codes + 1024;
    isobit::e4m3 *scales = all_scales.data(), *scales_t = scales + 2048;
    using tiles = isobit::scale_layout::tiles_128x4;
    constexpr auto along_columns = isobit::orientation::column_wise_transposed;
    std::uint64_t const row_scales = isobit::scales_size<recipe, isobit::orientation::row_wise, tiles>(rows, cols);
    std::uint64_t const column_scales = isobit::scales_size<recipe, along_columns, tiles>(rows, cols);
    isobit::quantize(isobit::host(), r, x, rows, cols, isobit::row_wise<tiles>(codes, scales, row_scales),
                     isobit::column_wise_transposed<tiles>(codes_t, scales_t, column_scales));
    isobit::dequantize(isobit::host(), r, isobit::row_wise<tiles>(codes, scales, row_scales), rows, cols, back);
    CHECK(row_scales + column_scales <= 4096);
    CHECK(back[0] * x[0] > 0);
  }
}

TEST_CASE("docs: digests") {
  auto const memory = some(256);
  float const *weights = memory.data(), *buffer = memory.data();
  std::size_t const rows = 4, columns = 64, bytes = 1024;
  std::uint64_t a = isobit::digest(isobit::host(), weights, {rows, columns});   // a tensor: type and shape count
  std::uint64_t b = isobit::digest(isobit::host(), buffer, bytes);              // untyped memory
  isobit::bits128 w = isobit::digest<isobit::digest128>(isobit::host(), weights, {rows, columns});   // w.low == a
  CHECK(w.low == a);
  std::vector<std::uint64_t> chunk(isobit::digest_chunks(bytes, 1 << 20));      // where do two buffers differ?
  std::uint64_t c = isobit::chunk_digests(isobit::host(), buffer, bytes, 1 << 20, chunk.data());   // c == b
  CHECK(c == b);
  isobit::digest_sum total{}, whole{};
  isobit::simt::launch(1, 64, digest_of_writes, buffer, &total);
  isobit::simt::launch(1, 64, digest_of_writes, buffer, &whole);
  CHECK(total.low == whole.low);
}

TEST_CASE("docs: views, iterators and standard algorithms") {
  auto const memory = some(300);
  std::vector<float> const& values = memory;
  std::deque<float> const queue(values.begin(), values.end());
  float const *matrix = values.data(), *x = matrix;
  std::uint64_t const rows = 20, cols = 15, c = 4;
  float a = isobit::reduce(isobit::host(), values);                             // data() and size()
  float b = isobit::reduce(isobit::host(), std::span(values).first(100));
  float d = isobit::reduce(isobit::host(), queue.size(), isobit::load_of(queue.begin()));       // d == a
  float e = isobit::reduce(isobit::host(), rows, isobit::strided{matrix + c, int64_t(cols)});   // column c
  CHECK(same(a, isobit::reduce(isobit::host(), x, 300)));
  CHECK(same(b, isobit::reduce(isobit::host(), x, 100)));
  CHECK(same(d, a));
  CHECK(same(e, isobit::reduce(isobit::host(), rows, [=](uint64_t r) { return x[r * cols + c]; })));
  CHECK_FALSE(same(b, a)); // control
  using exact = isobit::exact<float>;
  auto const state = std::transform_reduce(values.begin(), values.end(), exact::state{}, isobit::merged<exact>{},
                                           isobit::lifted<exact>{});
  float const sum = isobit::finished<exact>{}(state);
  CHECK(same(sum, isobit::reduce(isobit::host(), x, 300, exact{})));
}
