// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Trials of what fingerprints miss: a tensor is changed a little, and the fingerprint before is compared with that
//! after. Sums are updated, not computed anew, so that ten million trials take seconds. Used by the tests and by
//! bench/fingerprint_quality.cpp.
#pragma once

#include <isobit/fingerprint.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace trials {

//! The same trials for everyone; far faster than std::mt19937_64.
struct generator {
  std::uint64_t state;
  std::uint64_t operator()() {
    state += 0x9e3779b97f4a7c15u;
    return isobit::detail::mix64(state);
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>((*this)() % n); }
};

//! How often a change was not seen.
struct misses {
  std::uint64_t trials = 0, isobit64 = 0, isobit128 = 0, exclusive_or = 0, torch = 0;
};

template <std::size_t Bytes> using bits_of =
    std::conditional_t<Bytes == 1, std::uint8_t,
                       std::conditional_t<Bytes == 2, std::uint16_t,
                                          std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;
//! What torch.hash_tensor is given: the type itself, or signed integers where torch does not know it.
template <class T> using torch_type = std::conditional_t<isobit::torch_hashable<T>, T, std::int8_t>;

//! A tensor whose fingerprints follow its changes. `T` is float, isobit::bf16, isobit::e4m3, double, ...
template <class T> class followed {
public:
  using bits = bits_of<sizeof(T)>;
  static constexpr std::size_t per_unit = 16 / sizeof(T);

  template <class Fill> followed(std::size_t n, generator& random, Fill const& fill) : x_(n) {
    for (auto& v : x_) v = static_cast<bits>(fill(random));
    for (std::size_t u = 0; u < n / per_unit; ++u) sum_ += part(u);
    for (bits v : x_) words_ ^= v, torch_ ^= lane(v);
  }
  std::size_t size() const { return x_.size(); }
  bits operator[](std::size_t i) const { return x_[i]; }
  void set(std::size_t i, bits value) {
    std::size_t const unit = i / per_unit;
    sum_ -= part(unit);
    words_ ^= static_cast<bits>(x_[i] ^ value);
    torch_ ^= lane(x_[i]) ^ lane(value);
    x_[i] = value;
    sum_ += part(unit);
  }
  isobit::digest128_sum const& sum() const { return sum_; }
  std::uint64_t torch() const { return torch_; }
  std::uint64_t words() const { return words_; }
  isobit::bits128 digest() const {
    std::uint64_t const extent = x_.size();
    return finish_digest(sum_, {isobit::dtype_of<T>, &extent, 1});
  }
  std::vector<bits> const& elements() const { return x_; }

private:
  isobit::digest128_sum part(std::size_t unit) const {
    isobit::detail::words2 w;
    std::memcpy(&w, x_.data() + unit * per_unit, 16);
    isobit::digest128_accumulator a;
    a.add(w.low, w.high, unit);
    return a.sum();
  }
  static std::uint64_t lane(bits v) { return isobit::torch_lane(isobit::bit_cast<torch_type<T>>(v)); }

  std::vector<bits> x_;
  isobit::digest128_sum sum_;
  std::uint64_t words_ = 0, torch_ = 0;
};

//! Finite numbers of a few binades, of both signs.
template <class T> auto any_number(generator& r) {
  using bits = bits_of<sizeof(T)>;
  std::uint64_t const z = r();
  if constexpr (sizeof(T) == 1)
    return static_cast<bits>((0x20 + (z >> 8) % 0x40) | (z & 0x80));
  else if constexpr (sizeof(T) == 2)
    return static_cast<bits>((0x3c00 + (z >> 16) % 0x600) | (z & 0x8000));
  else
    return static_cast<bits>((0x3c000000 + (z >> 32) % 0x6000000) | (z & 0x80000000));
}

//! `change(tensor, random)` returns whether it changed anything.
template <class T, class Change>
misses run(std::uint64_t count, std::uint64_t seed, std::size_t n, Change const& change) {
  generator random{seed};
  followed<T> x(n, random, any_number<T>);
  misses m;
  auto before = x.digest();
  for (std::uint64_t t = 0; t < count; ++t) {
    auto const words = x.words(), torch = x.torch();
    if (!change(x, random)) continue;
    auto const now = x.digest();
    ++m.trials;
    m.isobit64 += now.low == before.low;
    m.isobit128 += now == before;
    m.exclusive_or += x.words() == words;
    m.torch += x.torch() == torch;
    before = now;
  }
  return m;
}

//! Moves `moved` elements, in different parts of the tensor, by one unit in the last place.
template <class T> auto by_one_ulp(std::size_t moved) {
  return [moved](followed<T>& x, generator& r) {
    std::size_t const part = x.size() / moved;
    for (std::size_t i = 0; i < moved; ++i) {
      std::uint64_t const z = r();
      std::size_t const at = i * part + static_cast<std::size_t>(z >> 1) % part;
      x.set(at, static_cast<typename followed<T>::bits>(x[at] + (z % 2 == 0 ? 1u : ~0u)));
    }
    return true;
  };
}

//! Two unequal elements change places.
template <class T> bool swap(followed<T>& x, generator& r) {
  std::size_t const a = r.below(x.size()), b = r.below(x.size());
  auto const va = x[a], vb = x[b];
  if (va == vb) return false;
  x.set(a, vb), x.set(b, va);
  return true;
}
//! Eight neighbours move by one place, the last to the front.
template <class T> bool rotate(followed<T>& x, generator& r) {
  std::size_t const first = r.below(x.size() - 8);
  typename followed<T>::bits v[8];
  bool same = true;
  for (std::size_t i = 0; i < 8; ++i) v[i] = x[first + i], same = same && v[i] == v[0];
  if (same) return false;
  for (std::size_t i = 0; i < 8; ++i) x.set(first + (i + 1) % 8, v[i]);
  return true;
}
//! A pair of equal elements becomes another pair of equal elements. (All pairs of neighbours are made equal first.)
template <class T> bool pair(followed<T>& x, generator& r) {
  std::size_t const first = 2 * r.below(x.size() / 2);
  bool const ready = x[first] == x[first + 1];
  auto const value = any_number<T>(r);
  if (ready && value == x[first]) return false;
  x.set(first, value), x.set(first + 1, value);
  return true;
}
//! The same bit flips in two elements.
template <class T> bool same_flip(followed<T>& x, generator& r) {
  std::size_t const half = x.size() / 2, a = r.below(half), b = half + r.below(half);
  auto const bit = static_cast<typename followed<T>::bits>(1u << r.below(8 * sizeof(T)));
  x.set(a, static_cast<typename followed<T>::bits>(x[a] ^ bit));
  x.set(b, static_cast<typename followed<T>::bits>(x[b] ^ bit));
  return true;
}
//! One number moves within a run of 256 zeros, which the first trial makes.
template <class T> bool in_zeros(followed<T>& x, generator& r) {
  std::size_t const zeros = 256;
  std::size_t at = zeros;
  bool ready = true;
  for (std::size_t i = 0; i < zeros; ++i) {
    if (x[i] == 0) continue;
    if (at < zeros) x.set(i, 0), ready = false;
    else at = i;
  }
  std::size_t const to = r.below(zeros);
  if (!ready || at == zeros || to == at) return false;
  auto const v = x[at];
  x.set(at, 0), x.set(to, v);
  return true;
}
//! +1 and -1 of the code on the corners of a rectangle whose sides are whole blocks of the digest.
template <class T> bool rectangle(followed<T>& x, generator& r) {
  std::size_t const block = 2048 / sizeof(T), a = r.below(block), b = r.below(block);
  if (a == b) return false;
  std::size_t const d = block * (1 + r.below(x.size() / block - 1));
  using bits = typename followed<T>::bits;
  x.set(a, static_cast<bits>(x[a] + 1)), x.set(b, static_cast<bits>(x[b] - 1));
  x.set(a + d, static_cast<bits>(x[a + d] - 1)), x.set(b + d, static_cast<bits>(x[b + d] + 1));
  return true;
}

// ---- What one flipped bit does to the digest. ----

//! Statistics of the output bits that flip when one random input bit flips.
struct avalanche {
  std::uint64_t trials = 0;
  double mean = 0;             //!< flipped output bits of 64
  double worst_output = 0;     //!< largest |P(flip) - 1/2| of an output bit
  double worst_correlation = 0; //!< largest |correlation| of the flips of two output bits
};

class flips {
public:
  void add(std::uint64_t change) {
    ++trials_;
    for (std::uint64_t c = change; c != 0; c &= c - 1) {
      auto const i = static_cast<std::size_t>(__builtin_ctzll(c));
      ++single_[i];
      for (std::uint64_t d = c & (c - 1); d != 0; d &= d - 1)
        ++both_[i][static_cast<std::size_t>(__builtin_ctzll(d))];
    }
  }
  avalanche result() const {
    avalanche a;
    a.trials = trials_;
    double const n = static_cast<double>(trials_);
    auto const p = [&](std::size_t i) { return static_cast<double>(single_[i]) / n; };
    for (std::size_t i = 0; i < 64; ++i) {
      a.mean += p(i);
      a.worst_output = std::max(a.worst_output, std::abs(p(i) - 0.5));
      for (std::size_t j = i + 1; j < 64; ++j) {
        double const covariance = static_cast<double>(both_[i][j]) / n - p(i) * p(j);
        double const scale = std::sqrt(p(i) * (1 - p(i)) * p(j) * (1 - p(j)));
        // Bits that never flip, or always, are no better than bits that flip together.
        a.worst_correlation = std::max(a.worst_correlation, scale == 0 ? 1.0 : std::abs(covariance) / scale);
      }
    }
    return a;
  }

private:
  std::uint64_t trials_ = 0;
  std::array<std::uint64_t, 64> single_{};
  std::array<std::array<std::uint64_t, 64>, 64> both_{};
};

struct avalanches {
  avalanche low, high, words, torch;
};
//! Flips one random bit of a tensor of 64 floats, `count` times; the trials of all columns are the same.
inline avalanches flip_bits(std::uint64_t count, std::uint64_t seed) {
  generator random{seed};
  followed<float> x(64, random, any_number<float>);
  flips low, high, words, torch;
  for (std::uint64_t t = 0; t < count; ++t) {
    auto const before = x.digest();
    auto const w = x.words(), h = x.torch();
    std::size_t const at = random.below(64);
    x.set(at, x[at] ^ 1u << random.below(32));
    auto const now = x.digest();
    low.add(before.low ^ now.low), high.add(before.high ^ now.high);
    words.add(w ^ x.words()), torch.add(h ^ x.torch());
  }
  return {low.result(), high.result(), words.result(), torch.result()};
}

} // namespace trials
