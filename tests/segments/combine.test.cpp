// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gather-combine: against the definition and the sparse counter, kernels against the host, B06, and expert-parallel runs.
#include "../thrown.hpp"
#include "common.hpp"

#include <isobit/combine.hpp>
#include <isobit/device/combine_kernel.hpp>
#include <isobit/error.hpp>
#include <isobit/order/sparse.hpp>

#include <algorithm>
#include <numeric>

namespace {

using namespace segment_test;
using isobit::bf16;
using isobit::host;
using isobit::plain;
namespace device = isobit::device;

// A routing of tokens to experts, and the rows in expert order (the inverse map of a stable grouping).
struct routing {
  uint64_t tokens, experts;
  uint32_t k;
  std::vector<int> expert, row;
  std::vector<float> weight;
  uint64_t rows = 0;

  routing(uint64_t tokens_, uint64_t experts_, uint32_t k_, uint64_t seed, bool drops = false)
      : tokens(tokens_), experts(experts_), k(k_), expert(tokens * k), row(tokens * k), weight(tokens * k) {
    std::mt19937 engine(static_cast<uint32_t>(seed));
    std::vector<int> all(experts);
    std::iota(all.begin(), all.end(), 0);
    for (uint64_t t = 0; t < tokens; ++t) {
      std::shuffle(all.begin(), all.end(), engine);
      for (uint32_t j = 0; j < k; ++j) {
        expert[t * k + j] = drops && engine() % 5 == 0 ? -1 : all[j];
        weight[t * k + j] = static_cast<float>(engine() % 100000 + 1) / 100000;
      }
    }
    std::vector<uint64_t> offsets(experts + 1);
    isobit::group_ids(host(), expert.data(), expert.size(), experts,
                      isobit::grouping<int>{offsets.data(), nullptr, row.data()});
    rows = offsets.back();
  }
  isobit::combine_map<int, int> map() const { return {row.data(), expert.data(), weight.data(), tokens, k, rows}; }
};

// The definition, entry by entry: the tree over the expert's number with absent ones skipped.
float by_sparse_counter(routing const& r, uint64_t t, auto const& x) {
  std::vector<uint32_t> ks;
  for (uint32_t k = 0; k < r.k; ++k)
    if (r.row[t * r.k + k] >= 0) ks.push_back(k);
  std::sort(ks.begin(), ks.end(),
            [&](uint32_t a, uint32_t b) { return r.expert[t * r.k + a] < r.expert[t * r.k + b]; });
  if (ks.empty()) return 0;
  isobit::sparse_counter<float> c;
  plain<float> const acc;
  for (uint32_t k : ks)
    c.push(acc, static_cast<uint64_t>(r.expert[t * r.k + k]),
           isobit::mul(r.weight[t * r.k + k], x(static_cast<uint64_t>(r.row[t * r.k + k]))));
  return acc.finish(c.fold(acc));
}

std::vector<bf16> bf16_rows(size_t n, uint64_t seed) {
  auto const w = wild(n, seed);
  std::vector<bf16> x(n);
  for (size_t i = 0; i < n; ++i) x[i].bits = static_cast<uint16_t>(isobit::to_bits(w[i]) >> 16 & 0xbfffu);
  return x;
}

} // namespace

TEST_SUITE("gather-combine") {
  TEST_CASE("the host against the sparse counter; kernels against the host") {
    uint64_t seed = 0;
    for (auto [experts, k] : {std::pair<uint64_t, uint32_t>{128, 6}, {8, 8}, {5, 3}, {384, 8}, {1, 1}})
      for (uint64_t columns : {1u, 24u, 70u}) {
        ++seed;
        routing const r(37, experts, k, seed, seed % 2 == 0);
        auto const x = bf16_rows((r.rows + 1) * columns, seed);
        isobit::matrix_rows<bf16> const load{x.data(), columns};
        std::vector<float> wide(37 * columns, -3);
        std::vector<bf16> narrow(37 * columns);
        isobit::gather_combine(host(), r.map(), load, columns, wide.data());
        isobit::gather_combine(host(), r.map(), load, columns, narrow.data());
        for (uint64_t t = 0; t < 37; ++t)
          for (uint64_t c = 0; c < columns; ++c) {
            float const expected = by_sparse_counter(r, t, [&](uint64_t row) { return load(row, c); });
            REQUIRE(bits_equal(wide[t * columns + c], expected));
            REQUIRE(narrow[t * columns + c].bits == isobit::encode<bf16>(expected).bits);
          }
        for (uint32_t width : {7u, 32u, 100u, 256u}) {
          auto out = poisoned<float>(37 * columns);
          auto small = poisoned<bf16>(37 * columns);
          auto const c = simt::vary({.grid = {1 + width % 4}, .block = {width}, .seed = seed}, seed % 5);
          simt::launch(c,
                       device::gather_combine_kernel<8, isobit::combine_map<int, int>, isobit::matrix_rows<bf16>, float,
                                                     plain<float>>,
                       r.map(), load, columns, out.data(), plain<float>{});
          simt::launch(c,
                       device::gather_combine_kernel<8, isobit::combine_map<int, int>, isobit::matrix_rows<bf16>, bf16,
                                                     plain<float>>,
                       r.map(), load, columns, small.data(), plain<float>{});
          CAPTURE(width);
          CAPTURE(columns);
          CHECK(bits_equal(out, wide));
          CHECK(bits_equal(small, narrow));
        }
      }
  }

  TEST_CASE("every present row is read once, absent ones never") {
    routing const r(50, 128, 6, 3, true);
    uint64_t const columns = 16;
    std::vector<int> reads(r.rows * columns, 0);
    auto const load = [&](uint64_t row, uint64_t c) {
      ++reads[row * columns + c];
      return 1.0f;
    };
    std::vector<float> out(50 * columns);
    isobit::gather_combine(host(), r.map(), load, columns, out.data());
    CHECK(std::all_of(reads.begin(), reads.end(), [](int n) { return n == 1; }));
    std::fill(reads.begin(), reads.end(), 0);
    simt::launch(3, 64,
                 device::gather_combine_kernel<6, isobit::combine_map<int, int>, decltype(load), float, plain<float>>,
                 r.map(), load, columns, out.data(), plain<float>{});
    CHECK(std::all_of(reads.begin(), reads.end(), [](int n) { return n == 1; }));
  }

  TEST_CASE("32 rows a token; an expert that is named twice") {
    routing const r(5, 40, 32, 8);
    auto const x = wild(r.rows * 3, 9);
    isobit::matrix_rows<float> const load{x.data(), 3};
    std::vector<float> out(15), expected(15);
    isobit::gather_combine(host(), r.map(), load, 3, expected.data());
    for (uint64_t t = 0; t < 5; ++t)
      CHECK(bits_equal(expected[t * 3 + 1], by_sparse_counter(r, t, [&](uint64_t row) { return load(row, 1); })));
    simt::launch(2, 32,
                 device::gather_combine_kernel<32, isobit::combine_map<int, int>, isobit::matrix_rows<float>, float,
                                               plain<float>>,
                 r.map(), load, uint64_t{3}, out.data(), plain<float>{});
    CHECK(bits_equal(out, expected));

    int const rows[] = {0, 1, 2, 3}, experts[] = {5, 2, 5, 5};
    float const y[] = {1e8f, 3, 1, -1e8f};
    float one = 0;
    isobit::gather_combine(host(), isobit::combine_map<int, int>{rows, experts, nullptr, 1, 4, 4},
                           isobit::matrix_rows<float>{y, 1}, 1, &one);
    CHECK(one == 3.0f); // 3 + ((1e8 + 1) - 1e8)
  }

  TEST_CASE("B06: 1e8, 1, -1e8, 1 in all 24 orders of the rows") {
    float const value[] = {1e8f, 1, -1e8f, 1};
    int order[] = {0, 1, 2, 3}, experts[] = {0, 1, 2, 3};
    do {
      float x[4];
      int rows[4];
      for (int k = 0; k < 4; ++k) x[order[k]] = value[k], rows[k] = order[k];
      isobit::combine_map<int, int> const map{rows, experts, nullptr, 1, 4, 4};
      float plain_sum = 7, compensated = 7;
      isobit::gather_combine(host(), map, isobit::matrix_rows<float>{x, 1}, 1, &plain_sum);
      isobit::gather_combine(host(), map, isobit::matrix_rows<float>{x, 1}, 1, &compensated,
                             isobit::compensated<float>{});
      CHECK(bits_equal(plain_sum, isobit::add(isobit::add(1e8f, 1.0f), isobit::add(-1e8f, 1.0f)))); // the tree: 0
      CHECK(compensated == 2.0f);
      simt::launch(1, 32,
                   device::gather_combine_kernel<4, isobit::combine_map<int, int>, isobit::matrix_rows<float>, float,
                                                 isobit::compensated<float>>,
                   map, isobit::matrix_rows<float>{x, 1}, uint64_t{1}, &compensated, isobit::compensated<float>{});
      CHECK(compensated == 2.0f);
    } while (std::next_permutation(order, order + 4));
  }

  // A rank adds up what its own experts give: one partial for each maximal aligned block of its experts. The partials
  // are combined by the same function, as outputs of the blocks' first experts.
  std::vector<float> expert_parallel(routing const& r, std::vector<bf16> const& x, uint64_t columns, uint64_t ranks) {
    std::vector<std::pair<uint64_t, uint64_t>> blocks;
    for (uint64_t rank = 0; rank < ranks; ++rank) {
      uint64_t first = rank * r.experts / ranks;
      uint64_t const last = (rank + 1) * r.experts / ranks;
      while (first < last) {
        uint64_t size = uint64_t{1} << isobit::detail::highest_level(last - first);
        while (first % size != 0) size /= 2;
        blocks.push_back({first, first + size});
        first += size;
      }
    }
    uint64_t const n = blocks.size();
    REQUIRE(n <= 32);
    std::vector<float> partial(n * r.tokens * columns);
    std::vector<int> rows(r.tokens * n, -1), experts(r.tokens * n);
    for (uint64_t b = 0; b < n; ++b) {
      auto map = r.map();
      map.first_expert = blocks[b].first, map.last_expert = blocks[b].second;
      isobit::gather_combine(host(), map, isobit::matrix_rows<bf16>{x.data(), columns}, columns,
                             partial.data() + b * r.tokens * columns);
      for (uint64_t t = 0; t < r.tokens; ++t) {
        experts[t * n + b] = static_cast<int>(blocks[b].first);
        for (uint32_t k = 0; k < r.k; ++k) {
          auto const e = static_cast<uint64_t>(r.expert[t * r.k + k]);
          if (e >= blocks[b].first && e < blocks[b].second) rows[t * n + b] = static_cast<int>(b * r.tokens + t);
        }
      }
    }
    std::vector<float> out(r.tokens * columns);
    isobit::gather_combine(host(),
                           isobit::combine_map<int, int>{rows.data(), experts.data(), nullptr, r.tokens,
                                                         static_cast<uint32_t>(n), n * r.tokens},
                           isobit::matrix_rows<float>{partial.data(), columns}, columns, out.data());
    return out;
  }

  // The scheme that depends on the number of ranks: chains within a rank, then a chain over the ranks.
  std::vector<float> rank_chain(routing const& r, std::vector<bf16> const& x, uint64_t columns, uint64_t ranks) {
    std::vector<float> out(r.tokens * columns);
    for (uint64_t t = 0; t < r.tokens; ++t)
      for (uint64_t c = 0; c < columns; ++c) {
        float total = 0;
        for (uint64_t rank = 0; rank < ranks; ++rank) {
          float sum = 0;
          for (uint32_t k = 0; k < r.k; ++k) {
            auto const e = static_cast<uint64_t>(r.expert[t * r.k + k]);
            if (e < rank * r.experts / ranks || e >= (rank + 1) * r.experts / ranks) continue;
            auto const row = static_cast<uint64_t>(r.row[t * r.k + k]);
            sum = isobit::add(sum, isobit::mul(r.weight[t * r.k + k], isobit::decode_element(x[row * columns + c])));
          }
          total = isobit::add(total, sum);
        }
        out[t * columns + c] = total;
      }
    return out;
  }

  uint64_t count_different(std::vector<float> const& a, std::vector<float> const& b) {
    uint64_t n = 0;
    for (size_t i = 0; i < a.size(); ++i) n += !bits_equal(a[i], b[i]);
    return n;
  }

  TEST_CASE(
      "expert parallelism, E = 128, top 6: no element differs at any number of ranks; the chain over ranks does") {
    routing const r(400, 128, 6, 21);
    uint64_t const columns = 32;
    std::vector<bf16> x(r.rows * columns);
    std::mt19937 engine(2);
    std::normal_distribution<float> normal;
    for (auto& v : x) v = isobit::encode<bf16>(normal(engine));
    std::vector<float> alone(r.tokens * columns);
    isobit::gather_combine(host(), r.map(), isobit::matrix_rows<bf16>{x.data(), columns}, columns, alone.data());
    auto const chain = rank_chain(r, x, columns, 1);
    for (uint64_t ranks : {1u, 2u, 3u, 4u, 8u, 16u}) {
      CAPTURE(ranks);
      CHECK(count_different(expert_parallel(r, x, columns, ranks), alone) == 0);
      uint64_t const different = count_different(rank_chain(r, x, columns, ranks), chain);
      if (ranks == 1) CHECK(different == 0);
      if (ranks > 1) CHECK(different > r.tokens * columns / 10); // control: more than a tenth of the elements
    }
  }

  TEST_CASE("bad input is named before anything is written") {
    int rows[] = {0, 1, -1, 0}, experts[] = {0, 1, -9, 2};
    float const x[] = {1, 2};
    float out[] = {7, 7};
    auto const call = [&](isobit::combine_map<int, int> const& map) {
      return thrown([&] { isobit::gather_combine(host(), map, isobit::matrix_rows<float>{x, 1}, 1, out); });
    };
    CHECK(call({rows, experts, nullptr, 1, 33, 2}) ==
          "isobit::gather_combine: k must be at most 32 (the compiled limit)");
    CHECK(call({nullptr, experts, nullptr, 2, 2, 2}) == "isobit::gather_combine: rows must be non-null");
    CHECK(call({rows, nullptr, nullptr, 2, 2, 2}) == "isobit::gather_combine: experts must be non-null");
    rows[1] = 2;
    CHECK(call({rows, experts, nullptr, 2, 2, 2}) ==
          "isobit::gather_combine: rows must be -1 or a row of x, below x_rows; it is not in entry 1 ");
    rows[1] = 1, experts[3] = -2;
    CHECK(call({rows, experts, nullptr, 2, 2, 2}) ==
          "isobit::gather_combine: experts must be 0 or more; it is not in entry 3 ");
    CHECK(out[0] == 7);
    experts[3] = 2;
    CHECK(call({rows, experts, nullptr, 2, 2, 2}) == "nothing");
    CHECK(out[0] == 3);
  }
}
