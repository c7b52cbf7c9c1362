// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Gather-combine (unpermute of a mixture of experts): every token owns its output and reads its rows, at most K of them,
//! through an inverse map. The tree is over the global number of the expert; absent experts are skipped. Where rows lie,
//! in which order they came, and which experts other tokens use changes no bit.
#pragma once

#include <isobit/algo/reduce.hpp>
#include <isobit/algo/segments.hpp>

namespace isobit::inline bits1 {

//! Which rows belong to which token. Arrays of tokens * k entries, token by token.
template <stl::integral Index, stl::integral Expert> struct combine_map {
  Index const* rows;     //!< the row of x that holds this expert's output; -1 where there is none
  Expert const* experts; //!< the expert's global number, 0 or more; read only where there is a row
  float const* weights;  //!< null: the rows are summed as they are
  uint64_t tokens;
  uint32_t k;
  uint64_t x_rows; //!< rows of x; an entry that is no row of x counts as absent
  //! Only experts in [first_expert, last_expert) take part: for a partial result over an aligned block of experts.
  uint64_t first_expert = 0, last_expert = ~uint64_t{0};
};

//! How one token's rows meet: the present ones in rising order of their experts, and after each the waiting nodes that
//! it completes. Made once a token, used for every column. An expert named twice: its rows meet first, in order of k.
template <int MaxK> struct combine_plan {
  static_assert(MaxK >= 1 && MaxK <= 32, "isobit: a combine plan holds 1 to 32 rows a token");
  uint64_t row[MaxK];
  float weight[MaxK];
  uint32_t absorbed[MaxK]; //!< bit a: the node that begins with present row a becomes the left operand after this row
  int count;
  bool weighted; //!< false: rows are summed as they are
};

namespace detail {

// Bits of the experts at which two neighbours meet, plus one; 0 for the same expert.
ISOBIT_HD constexpr int meeting_level(uint64_t a, uint64_t b) { return a == b ? 0 : highest_level(a ^ b) + 1; }

} // namespace detail

//! The plan of token `t`. Preconditions: map.k <= MaxK. Cost: k^2 / 2 comparisons at most.
template <int MaxK, class Index, class Expert>
ISOBIT_HD void make_plan(combine_map<Index, Expert> const& map, uint64_t t, combine_plan<MaxK>& plan) {
  uint64_t expert[MaxK];
  int count = 0;
  for (uint32_t k = 0; k < map.k && k < MaxK; ++k) {
    uint64_t const at = t * map.k + k;
    Index const row = map.rows[at];
    bool present = static_cast<uint64_t>(row) < map.x_rows;
    if constexpr (stl::is_signed_v<Index>) present = present && row >= 0;
    if (!present) continue;
    auto const e = static_cast<uint64_t>(map.experts[at]);
    if (e < map.first_expert || e >= map.last_expert) continue;
    int i = count++;
    for (; i > 0 && expert[i - 1] > e; --i) {
      expert[i] = expert[i - 1];
      plan.row[i] = plan.row[i - 1];
      plan.weight[i] = plan.weight[i - 1];
    }
    expert[i] = e;
    plan.row[i] = static_cast<uint64_t>(row);
    plan.weight[i] = map.weights == nullptr ? 1.0f : map.weights[at];
  }
  plan.count = count;
  plan.weighted = map.weights != nullptr;
  // A node waits until its right neighbour is complete: until the next boundary is at a higher level than its own.
  uint32_t waiting = 0; // first rows of the waiting nodes, as bits
  for (int i = 0; i < count; ++i) {
    int const next = i + 1 < count ? detail::meeting_level(expert[i], expert[i + 1]) : 65;
    uint32_t absorbed = 0;
    int first = i;
    while (waiting != 0) {
      int const left = detail::highest_level(waiting);
      if (detail::meeting_level(expert[first - 1], expert[first]) > next) break;
      absorbed |= 1u << left;
      waiting ^= 1u << left;
      first = left;
    }
    waiting |= 1u << first;
    plan.absorbed[i] = absorbed;
  }
}

namespace detail {

// g++ cannot see that only nodes that wait are read.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC_RTC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

// The tree of a plan for V columns: `value(i, s)` gives the states of present row i. The nodes are indexed by constants,
// so that they stay in registers. Precondition: plan.count > 0.
ISOBIT_CALLS_USER_CODE
template <int V, int MaxK, class State, class Acc, class Value>
ISOBIT_HD void combine_rows(combine_plan<MaxK> const& plan, Acc const& acc, Value const& value, State* result) {
  State node[MaxK][V];
  value(0, node[0]);
  ISOBIT_UNROLL
  for (int i = 1; i < MaxK; ++i) {
    if (i >= plan.count) break;
    value(i, node[i]);
    uint32_t const absorbed = plan.absorbed[i];
    if (absorbed == 0) continue;
    State s[V];
    ISOBIT_UNROLL
    for (int j = 0; j < V; ++j) s[j] = node[i][j];
    ISOBIT_UNROLL
    for (int a = MaxK - 1; a >= 0; --a)
      if (a < i && (absorbed >> a & 1) != 0) {
        ISOBIT_UNROLL
        for (int j = 0; j < V; ++j) node[a][j] = s[j] = acc.combine(node[a][j], s[j]);
      }
  }
  ISOBIT_UNROLL
  for (int j = 0; j < V; ++j) result[j] = node[0][j];
}

#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC_RTC__)
#pragma GCC diagnostic pop
#endif

// Elements of a row that one thread takes at a time, so that the nodes fit into some 64 registers.
template <class T, class State, int MaxK> ISOBIT_HD constexpr int combine_width() {
  constexpr int words = (sizeof(State) + 3) / 4 * MaxK, fit = 64 / words, most = 16 / static_cast<int>(sizeof(T));
  int v = 1;
  while (2 * v <= most && 2 * v <= fit) v *= 2;
  return v;
}

} // namespace detail

//! The rows of a matrix, `columns` elements each.
template <class T> struct matrix_rows {
  using element = T;
  T const* x;
  uint64_t columns;
  ISOBIT_HD element_value<T> operator()(uint64_t row, uint64_t c) const { return decode_element(x[row * columns + c]); }
  //! Every group of `bytes` in a row is aligned to that.
  ISOBIT_HD bool is_aligned(uint64_t bytes) const {
    return (reinterpret_cast<stl::uintptr_t>(x) | columns * sizeof(T)) % bytes == 0;
  }
  template <int V> ISOBIT_HD void get(uint64_t row, uint64_t c, element_value<T>* out) const {
    struct alignas(V * sizeof(T)) pack {
      T element[V];
    };
    auto const p = *reinterpret_cast<pack const*>(x + row * columns + c);
    ISOBIT_UNROLL
    for (int j = 0; j < V; ++j) out[j] = decode_element(p.element[j]);
  }
};

namespace detail {

// V columns from c on of one token's output.
ISOBIT_CALLS_USER_CODE
template <int V, int MaxK, class Load, class Acc>
ISOBIT_HD void combine_columns(combine_plan<MaxK> const& plan, bool weighted, Load const& load, uint64_t c,
                               Acc const& acc, typename Acc::result* out) {
  using state = typename Acc::state;
  if (plan.count == 0) {
    ISOBIT_UNROLL
    for (int j = 0; j < V; ++j) out[j] = acc.empty();
    return;
  }
  auto const value = [&](int i, state* s) {
    float x[V];
    if constexpr (V == 1)
      x[0] = load(plan.row[i], c);
    else
      load.template get<V>(plan.row[i], c, x);
    ISOBIT_UNROLL
    for (int j = 0; j < V; ++j) s[j] = acc.lift(weighted ? mul(plan.weight[i], x[j]) : x[j]);
  };
  state result[V];
  combine_rows<V>(plan, acc, value, result);
  ISOBIT_UNROLL
  for (int j = 0; j < V; ++j) out[j] = acc.finish(result[j]);
}

template <class Out, class Result> ISOBIT_HD Out as_output(Result r) {
  if constexpr (stl::same_as<Out, Result>)
    return r;
  else
    return encode<Out>(r);
}

#if defined(ISOBIT_ON_DEVICE)
// Codes of 1, 2 or 4 bytes side by side in words: left to itself, nvcc takes 16 bytes apart into smaller stores.
template <class Out> __device__ uint32_t code_bits(Out x) {
  if constexpr (sizeof(Out) == 1)
    return __builtin_bit_cast(uint8_t, x);
  else if constexpr (sizeof(Out) == 2)
    return __builtin_bit_cast(uint16_t, x);
  else
    return __builtin_bit_cast(uint32_t, x);
}
#endif

template <int V, class Out, class Result> ISOBIT_HD void store_columns(Out* out, Result const* r) {
#if defined(ISOBIT_ON_DEVICE)
  if constexpr (V * sizeof(Out) % 16 == 0 && sizeof(Out) <= 4) {
    constexpr int per_word = 4 / static_cast<int>(sizeof(Out)), words = V / per_word;
    uint32_t w[words] = {};
    ISOBIT_UNROLL
    for (int j = 0; j < V; ++j)
      w[j / per_word] |= code_bits(as_output<Out>(r[j])) << (j % per_word * 8 * static_cast<int>(sizeof(Out)));
    ISOBIT_UNROLL
    for (int k = 0; k < words; k += 4)
      asm volatile("st.v4.u32 [%0], {%1, %2, %3, %4};"
                   :
                   : "l"(reinterpret_cast<unsigned char*>(out) + 4 * k), "r"(w[k]), "r"(w[k + 1]), "r"(w[k + 2]),
                     "r"(w[k + 3])
                   : "memory");
  } else
#endif
  {
    ISOBIT_UNROLL
    for (int j = 0; j < V; ++j) out[j] = as_output<Out>(r[j]);
  }
}

template <class Out, class Acc> ISOBIT_HD constexpr bool can_combine() {
  static_assert(stl::same_as<typename Acc::input, float>, "isobit: gather_combine needs an accumulator of floats");
  static_assert(stl::same_as<Out, typename Acc::result> ||
                    (small_float<Out> && stl::same_as<typename Acc::result, float>),
                "isobit: gather_combine writes the accumulator's result type, or a narrower float from float");
  return true;
}

} // namespace detail

//! Column `c` of a plan's token: what `gather_combine` would store, as the accumulator's result. For kernels that go on with
//! it. All threads that take columns of one token use its one plan; a plan without rows gives `acc.empty()`.
template <int MaxK, class Load, class Acc = plain<float>>
ISOBIT_HD typename Acc::result combine_column(combine_plan<MaxK> const& plan, Load const& load, uint64_t c,
                                              Acc const& acc = {}) {
  typename Acc::result r;
  detail::combine_columns<1>(plan, plan.weighted, load, c, acc, &r);
  return r;
}

//! Shared memory of a block for `gather_combine`: the plans of a few tokens.
template <int MaxK> struct combine_storage {
  static constexpr uint32_t tokens = 8;
  combine_plan<MaxK> plan[tokens];
};

//! out[t][c] = the tree, over the present experts of token t in order of their global number, of weight * x[row][c]:
//! the product rounded to float, nodes of `acc` (float by default), one rounding into `Out` at the end. A token without
//! rows gets `acc.empty()`. By all blocks of a launch, any grid, any block width; every token and column is written.
//!
//! `load`: `matrix_rows<T>{x, columns}`, or anything that can be called with (row, column). Each present row is read once.
//! Precondition: map.k <= MaxK. Guarantee: run-to-run, geometry, target, partition, neighbourhood; the order of rows in x
//! does not count. Cost: k - 1 operations a column; 16-byte loads and stores where rows are aligned and MaxK * V floats
//! fit into 64 registers (MaxK = 8: 8 columns of bf16).
ISOBIT_CALLS_USER_CODE
template <int MaxK, class Index, class Expert, class Load, class Out, class Acc = plain<float>>
ISOBIT_HD void gather_combine(combine_storage<MaxK>& memory, combine_map<Index, Expert> const& map, Load const& load,
                              uint64_t columns, Out* out, Acc const& acc = {}) {
  static_assert(detail::can_combine<Out, Acc>());
  machine::shared_memory(&memory, sizeof memory);
  constexpr uint64_t together = combine_storage<MaxK>::tokens;
  uint32_t const rank = machine::thread_rank(), threads = machine::block_threads();
  bool const weighted = map.weights != nullptr;
  auto const run = [&]<int V>(uint64_t first, uint64_t count) {
    uint64_t const vectors = columns / V;
    for (uint64_t i = rank; i < count * vectors; i += threads) {
      uint64_t const t = i / vectors, c = i % vectors * V;
      typename Acc::result r[V];
      detail::combine_columns<V>(memory.plan[t], weighted, load, c, acc, r);
      detail::store_columns<V>(out + (first + t) * columns + c, r);
    }
  };
  for (uint64_t first = machine::block_rank() * together; first < map.tokens;
       first += machine::grid_blocks() * together) {
    uint64_t const count = map.tokens - first < together ? map.tokens - first : together;
    for (uint64_t t = rank; t < count; t += threads) make_plan(map, first + t, memory.plan[t]);
    machine::sync_block();
    if constexpr (requires { load.is_aligned(uint64_t{16}); }) {
      constexpr int V = detail::combine_width<typename Load::element, typename Acc::state, MaxK>();
      bool const aligned = load.is_aligned(V * sizeof(typename Load::element)) &&
                           (reinterpret_cast<stl::uintptr_t>(out) | columns * sizeof(Out)) % (V * sizeof(Out)) == 0;
      if (aligned)
        run.template operator()<V>(first, count);
      else
        run.template operator()<1>(first, count);
    } else {
      run.template operator()<1>(first, count);
    }
    machine::sync_block();
  }
}

#if !defined(__CUDACC_RTC__)

namespace detail {
template <class Index, class Expert>
void check_combine(char const* function, combine_map<Index, Expert> const& map, uint64_t most_k) {
  if (map.k > most_k) throw invalid_argument(function, "k", "at most", most_k, "(the compiled limit)");
  uint64_t const entries = map.tokens * map.k;
  if (entries > 0 && map.rows == nullptr) throw invalid_argument(function, "rows", "non-null");
  if (entries > 0 && map.experts == nullptr) throw invalid_argument(function, "experts", "non-null");
}
} // namespace detail

//! The same on a host, k up to 32. Besides null arrays and k, it checks the map: a row that is neither -1 nor below x_rows,
//! and a negative expert, throw `invalid_argument` before anything is written. An executor gets jobs of 16 tokens.
template <is_host Host, class Index, class Expert, class Load, class Out, class Acc = plain<float>>
void gather_combine(Host const& h, combine_map<Index, Expert> const& map, Load const& load, uint64_t columns, Out* out,
                    Acc const& acc = {}) {
  constexpr char const* name = "gather_combine";
  static_assert(detail::can_combine<Out, Acc>());
  detail::check_combine(name, map, 32);
  if (out == nullptr && map.tokens > 0 && columns > 0) throw invalid_argument(name, "out", "non-null");
  for (uint64_t i = 0; i < map.tokens * map.k; ++i) {
    if (map.rows[i] == static_cast<Index>(-1)) continue;
    bool wrong = static_cast<uint64_t>(map.rows[i]) >= map.x_rows;
    if constexpr (stl::is_signed_v<Index>) wrong = wrong || map.rows[i] < 0;
    if (wrong) throw invalid_argument(name, "rows", "-1 or a row of x, below x_rows; it is not in entry", i, "");
    if constexpr (stl::is_signed_v<Expert>)
      if (map.experts[i] < 0) throw invalid_argument(name, "experts", "0 or more; it is not in entry", i, "");
  }
  constexpr uint64_t together = 16;
  h.run((map.tokens + together - 1) / together, [&](uint64_t job) {
    with_default_environment([&] {
      combine_plan<32> plan;
      uint64_t const end = (job + 1) * together < map.tokens ? (job + 1) * together : map.tokens;
      for (uint64_t t = job * together; t < end; ++t) {
        make_plan(map, t, plan);
        for (uint64_t c = 0; c < columns; ++c) {
          typename Acc::result r;
          detail::combine_columns<1>(plan, map.weights != nullptr, load, c, acc, &r);
          detail::store_columns<1>(out + t * columns + c, &r);
        }
      }
      return 0;
    });
  });
}

#endif

} // namespace isobit::inline bits1
