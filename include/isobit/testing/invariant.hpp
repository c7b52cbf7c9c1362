// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The guarantee levels as calls: `geometry_invariant`, `partition_invariant`, `neighbour_invariant`,
//! `order_invariant`.
#pragma once

#include <isobit/testing/adversarial.hpp>
#include <isobit/testing/buffer.hpp>
#include <isobit/testing/cases.hpp>
#include <isobit/testing/philox.hpp>

#include <algorithm>

namespace isobit::inline bits1::testing {

// --- geometry ---

//! How one run is laid out on a machine.
class geometry : public detail::remembers_config {
public:
  uint32_t grid = 1;    //!< blocks
  uint32_t block = 1;   //!< threads a block
  uint64_t batch = 1;   //!< how many rows are in the launch; the results under test are those of the first
  size_t alignment = 0; //!< bytes by which inputs and outputs are off a 256-byte boundary

  geometry() = default;
  geometry(uint32_t grid_, uint32_t block_, uint64_t batch_ = 1, size_t alignment_ = 0)
      : grid(grid_), block(block_), batch(batch_), alignment(alignment_) {}

  //! For the simulator; with the schedule of `c`.
  simt::config config(simt::config c = {}) const {
    c.grid = {grid};
    c.block = {block};
    return remember(c);
  }
  //! `values`, copied to where this geometry's alignment says.
  template <class T> placed<T> place(std::vector<T> const& values) const { return {values, alignment}; }

  uint64_t weight() const { return (uint64_t(grid) * block + (batch - 1)) * 256 + alignment; }
  std::string text() const {
    return detail::formatted("isobit::testing::geometry(%u, %u, %llu, %llu)", grid, block,
                             static_cast<unsigned long long>(batch), static_cast<unsigned long long>(alignment));
  }
};

//! Every combination of the lists. The results of `f(geometry)` must not depend on it; the report names the smallest
//! geometry (blocks times threads, then rows, then bytes) that differs from the first.
//!
//!     CHECK(isobit::testing::geometry_invariant(f, {1, 32, 96, 256}, {1, 3, 64}));
template <class F>
[[nodiscard]] verdict geometry_invariant(F const& f, std::vector<uint32_t> const& blocks,
                                         std::vector<uint32_t> const& grids = {1},
                                         std::vector<uint64_t> const& batches = {1},
                                         std::vector<size_t> const& alignments = {0}, uint64_t chunk = 1024) {
  std::vector<geometry> cases;
  for (size_t const alignment : alignments)
    for (uint64_t const batch : batches)
      for (uint32_t const grid : grids)
        for (uint32_t const block : blocks) cases.emplace_back(grid, block, batch, alignment);
  return detail::same_for_all("geometry_invariant", "geometry", cases, f, chunk);
}

// --- partition ---

//! A range [0, n) in contiguous parts, some of them perhaps empty.
class split {
public:
  struct part {
    uint64_t first, last;
    uint64_t size() const { return last - first; }
  };
  //! 0 = cuts[0] <= cuts[1] <= ... = n
  explicit split(std::vector<uint64_t> cuts) : cuts_(std::move(cuts)) {}

  uint64_t n() const { return cuts_.back(); }
  uint64_t size() const { return cuts_.size() - 1; } //!< parts
  part operator[](uint64_t i) const { return {cuts_[i], cuts_[i + 1]}; }
  std::vector<part> parts() const {
    std::vector<part> out;
    for (uint64_t i = 0; i < size(); ++i) out.push_back((*this)[i]);
    return out;
  }

  uint64_t weight() const { return size(); }
  std::string text() const {
    std::string out = "isobit::testing::split({";
    for (size_t i = 0; i < cuts_.size() && i < 40; ++i) out += (i == 0 ? "" : ", ") + std::to_string(cuts_[i]);
    return out + (cuts_.size() > 40 ? ", ...})" : "})");
  }

private:
  std::vector<uint64_t> cuts_;
};

//! Splits of [0, n) that find mistakes: the whole, the first or last element apart, halves, empty parts at both ends
//! and in the middle, single elements (for n <= 512), powers of two, and `random` uneven ones.
inline std::vector<split> splits(uint64_t n, uint64_t random = 16, uint64_t seed = 0) {
  std::vector<split> out;
  auto const add = [&](std::vector<uint64_t> inner) {
    inner.insert(inner.begin(), 0);
    inner.push_back(n);
    std::sort(inner.begin(), inner.end());
    out.emplace_back(std::move(inner));
  };
  add({});
  add({0});
  add({n});
  add({0, 0, n, n});
  add({n / 2});
  add({n / 2, n / 2, n / 2});
  if (n > 1) add({1}), add({n - 1}), add({1, n - 1});
  if (n <= 512) {
    std::vector<uint64_t> all;
    for (uint64_t i = 1; i < n; ++i) all.push_back(i);
    add(all);
  }
  std::vector<uint64_t> powers;
  for (uint64_t p = 1; p != 0 && p < n; p *= 2) powers.push_back(p);
  add(powers);
  for (uint64_t k = 0; k < random; ++k) {
    philox_stream r(seed, k);
    std::vector<uint64_t> cuts;
    for (uint64_t parts = 2 + r.below(14); parts > 1; --parts) cuts.push_back(r.below(n + 1));
    add(cuts);
  }
  return out;
}

//! The results of `f(split)` must not depend on the split.
//!
//!     CHECK(isobit::testing::partition_invariant(f, isobit::testing::splits(n)));
template <class F>
[[nodiscard]] verdict partition_invariant(F const& f, std::vector<split> const& cases, uint64_t chunk = 1024) {
  return detail::same_for_all("partition_invariant", "split", cases, f, chunk);
}

// --- neighbourhood ---

//! What lies beside the rows of interest: how many rows before and behind them, and what is in these.
class neighbours : public detail::remembers_config {
public:
  enum class content { zeros, numbers, huge, infinities, nans, poison };

  uint64_t before = 0, behind = 0;
  content what = content::zeros;
  uint64_t seed = 0;

  neighbours() = default;
  neighbours(uint64_t before_, uint64_t behind_, content what_, uint64_t seed_ = 0)
      : before(before_), behind(behind_), what(what_), seed(seed_) {}

  //! The batch: `before` other rows, the elements of `mine`, `behind` other rows, each of `columns` elements.
  template <class T> std::vector<T> surround(std::vector<T> const& mine, uint64_t columns) const {
    std::vector<T> out = others<T>(0, before * columns);
    out.insert(out.end(), mine.begin(), mine.end());
    std::vector<T> const after = others<T>(before * columns, behind * columns);
    out.insert(out.end(), after.begin(), after.end());
    return out;
  }
  //! Of an array with `columns` elements a row, those of `rows` rows of interest.
  template <class T> std::vector<T> mine(std::vector<T> const& all, uint64_t columns, uint64_t rows = 1) const {
    auto const first = all.begin() + static_cast<std::ptrdiff_t>(before * columns);
    return std::vector<T>(first, first + static_cast<std::ptrdiff_t>(rows * columns));
  }

  //! For the simulator: `c`, remembered for the report.
  simt::config config(simt::config const& c) const { return remember(c); }

  uint64_t weight() const { return (before + behind) * 8 + static_cast<uint64_t>(what); }
  std::string text() const {
    constexpr char const* names[] = {"zeros", "numbers", "huge", "infinities", "nans", "poison"};
    return detail::formatted("isobit::testing::neighbours(%llu, %llu, isobit::testing::neighbours::content::%s, %llu)",
                             static_cast<unsigned long long>(before), static_cast<unsigned long long>(behind),
                             names[static_cast<int>(what)], static_cast<unsigned long long>(seed));
  }

private:
  template <class T> std::vector<T> others(uint64_t from, uint64_t count) const {
    std::vector<T> out;
    out.reserve(count);
    for (uint64_t i = 0; i < count; ++i) out.push_back(other<T>(from + i));
    return out;
  }
  template <class T> T other(uint64_t i) const {
    uint64_t const r = philox_word(seed, 0x6e656967u, i);
    if constexpr (ieee_float<T>) {
      using f = float_fields<T>;
      using bits = float_bits<T>;
      bits const b = static_cast<bits>(r);
      switch (what) {
      case content::zeros:
        return T(0);
      case content::numbers:
        return from_bits<T>((b & (f::sign | f::mantissa)) | to_bits(T(1)));
      case content::huge:
        return from_bits<T>((b & (f::sign | f::mantissa)) | (f::exponent - (bits(1) << f::mantissa_bits)));
      case content::infinities:
        return from_bits<T>((b & f::sign) | f::exponent);
      case content::nans:
        return from_bits<T>(b | f::exponent | 1);
      case content::poison:
        return from_bits<T>(static_cast<bits>(~bits(0)));
      }
    }
    T out{};
    if (what == content::zeros) return out;
    unsigned char bytes[sizeof(T)];
    for (size_t k = 0; k < sizeof(T); ++k)
      bytes[k] =
          what == content::poison ? static_cast<unsigned char>(0xff) : static_cast<unsigned char>(r >> (k % 8 * 8));
    std::memcpy(static_cast<void*>(&out), bytes, sizeof out);
    return out;
  }
};

//! Neighbourhoods that find mistakes: none; rows before, behind, on both sides; each kind of content.
inline std::vector<neighbours> neighbourhoods(uint64_t seed = 0) {
  std::vector<neighbours> out;
  for (auto const what : {neighbours::content::zeros, neighbours::content::numbers, neighbours::content::huge,
                          neighbours::content::infinities, neighbours::content::nans, neighbours::content::poison}) {
    if (out.empty()) out.emplace_back(0, 0, what, seed);
    out.emplace_back(0, 1, what, seed + 1);
    out.emplace_back(1, 0, what, seed + 2);
    out.emplace_back(2, 3, what, seed + 3);
    out.emplace_back(31, 33, what, seed + 4);
  }
  return out;
}

//! The results of the rows of interest must not depend on other rows ("batch invariance"): `f(neighbours)` surrounds
//! its rows with `n.surround(rows, columns)`, runs, and returns the results of its own rows only.
//!
//!     CHECK(isobit::testing::neighbour_invariant(f));
template <class F>
[[nodiscard]] verdict neighbour_invariant(F const& f, std::vector<neighbours> const& cases = neighbourhoods(),
                                          uint64_t chunk = 1024) {
  return detail::same_for_all("neighbour_invariant", "neighbourhood", cases, f, chunk);
}

// --- order ---

//! An order of n elements: 0 is their own, 1 the reverse, others are pseudorandom.
class ordering : public detail::remembers_config {
public:
  uint64_t index;
  explicit ordering(uint64_t index_ = 0) : index(index_) {}

  //! The place of element i.
  uint64_t operator()(uint64_t i, uint64_t n) const {
    return index == 0 ? i : index == 1 ? n - 1 - i : permutation{index, n}(i);
  }
  //! The elements of `values` in this order.
  template <class T> std::vector<T> apply(std::vector<T> const& values) const {
    std::vector<T> out;
    out.reserve(values.size());
    for (uint64_t i = 0; i < values.size(); ++i) out.push_back(values[(*this)(i, values.size())]);
    return out;
  }
  //! For the simulator: `c`, remembered for the report.
  simt::config config(simt::config const& c) const { return remember(c); }

  uint64_t weight() const { return index; }
  std::string text() const { return "isobit::testing::ordering(" + std::to_string(index) + ")"; }
};

//! The results of `f(ordering)` must not depend on the order of the inputs, for which `f` asks `ordering.apply(x)`.
//! Only exact accumulations pass.
template <class F> [[nodiscard]] verdict order_invariant(F const& f, uint64_t orders = 20, uint64_t chunk = 1024) {
  std::vector<ordering> cases;
  for (uint64_t k = 0; k < orders; ++k) cases.emplace_back(k);
  return detail::same_for_all("order_invariant", "order", cases, f, chunk);
}

} // namespace isobit::inline bits1::testing
