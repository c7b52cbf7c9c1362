// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `repeatable`: the same call gives the same bits again and again, whatever the schedule and whatever lay in its
//! workspaces; `count_distinct` and `not_repeatable` are its controls.
#pragma once

#include <isobit/testing/buffer.hpp>
#include <isobit/testing/cases.hpp>

namespace isobit::inline bits1::testing {

//! One of several runs of the same work.
class trial : public detail::remembers_config {
public:
  constexpr explicit trial(uint64_t index_, uint64_t seed_ = 0, unsigned char poison_ = 0)
      : index(index_), seed(seed_), poison(poison_) {}

  uint64_t index;       //!< 0, 1, 2, ...
  uint64_t seed;        //!< for noise of the caller's own
  unsigned char poison; //!< what to fill outputs and workspaces with; differs from trial to trial

  //! The simulator's configuration for this trial: `c`, under another schedule each time (`simt::vary`).
  simt::config config(simt::config const& c) const {
    simt::config varied = simt::vary(c, index);
    if (index >= 2) varied.seed += seed;
    return remember(varied);
  }
  //! `n` elements filled with the trial's poison.
  template <class T> std::vector<T> buffer(size_t n) const { return filled<T>(n, poison); }

  uint64_t weight() const { return index; }
  std::string text() const {
    return detail::formatted("isobit::testing::trial(%llu, %llu, 0x%02x)", static_cast<unsigned long long>(index),
                             static_cast<unsigned long long>(seed), static_cast<unsigned>(poison));
  }
};

struct repeat_options {
  uint64_t runs = 20;
  uint64_t seed = 0;
  std::vector<unsigned char> poisons{0xff, 0x00, 0x5a}; //!< taken in turn
  uint64_t chunk = 1024;                                //!< elements of a chunk in the report
};

namespace detail {
inline std::vector<trial> trials(repeat_options const& o) {
  std::vector<trial> out;
  for (uint64_t k = 0; k < o.runs; ++k)
    out.emplace_back(k, o.seed, o.poisons.empty() ? static_cast<unsigned char>(0) : o.poisons[k % o.poisons.size()]);
  return out;
}
} // namespace detail

//! Runs `f(trial) -> results` `o.runs` times; all results must have the bits of the first.
//!
//!     CHECK(isobit::testing::repeatable([&](auto const& trial) {
//!       auto out = trial.template buffer<float>(rows);
//!       isobit::simt::launch(trial.config({.grid = {8}, .block = {128}}), kernel, x.data(), out.data());
//!       return out;
//!     }));
//!
//! On a GPU, launch into a stream beside an `isobit::testing::noise` (testing/noise.cuh) and copy the results back.
//! One contributor never drifts and two seldom do: give a kernel under test at least 32 blocks that contend.
template <class F> [[nodiscard]] verdict repeatable(F const& f, repeat_options const& o = {}) {
  return detail::same_for_all("repeatable", "run", detail::trials(o), f, o.chunk);
}

//! How many different results the same runs give. A run that throws counts as one more result.
template <class F> uint64_t count_distinct(F const& f, repeat_options const& o = {}) {
  std::vector<outputs> seen;
  bool threw = false;
  for (trial const& t : detail::trials(o)) {
    detail::ran r = detail::run_once(f, t);
    if (r.error) {
      threw = true;
      continue;
    }
    bool known = false;
    for (outputs const& s : seen) known = known || detail::compare(s, r.results, 0).equal();
    if (!known) seen.push_back(std::move(r.results));
  }
  return seen.size() + (threw ? 1 : 0);
}

//! A negative control: passes when the runs give at least two different results. It shows that the noise suffices to
//! see what it should see, for instance with an arrival-order sum in place of the kernel under test.
template <class F> [[nodiscard]] verdict not_repeatable(F const& f, repeat_options const& o = {}) {
  verdict v("not_repeatable", "distinct results");
  uint64_t const distinct = count_distinct(f, o);
  v.add_runs(o.runs).add_compared(distinct);
  if (distinct < 2)
    v.fail(
        std::to_string(o.runs) + " runs gave " + std::to_string(distinct) +
        " result: the control is repeatable here, so that a passing gate means nothing\n  try more runs, more blocks, "
        "other inputs");
  return v;
}

} // namespace isobit::inline bits1::testing
