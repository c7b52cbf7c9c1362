// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The loop behind the gates: run the code under test once for each of many cases; all must give the same bits.
#pragma once

#include <isobit/simt/replay.hpp>
#include <isobit/testing/outputs.hpp>
#include <isobit/testing/verdict.hpp>

#include <exception>
#include <optional>

namespace isobit::inline bits1::testing::detail {

//! What one run gave: results, or the text of what it threw.
struct ran {
  outputs results;
  std::optional<std::string> error;
};

template <class F, class... Args> ran run_once(F const& f, Args const&... args) {
  try {
    return {outputs_of(f(args...)), std::nullopt};
  } catch (std::exception const& e) {
    return {{}, std::string(e.what())};
  }
}

//! How to see a case again: the case itself, and the simulator's configuration if the run asked the case for one.
template <class Case> std::string again(Case const& c) {
  std::string out = "\n  again: call the function with " + c.text();
  if constexpr (requires { c.last_config(); })
    if (c.last_config()) out += "\n  on the simulator: " + simt::replay(*c.last_config());
  return out;
}

//! Runs `f(case)` for each case and compares with what the first gave. Of the cases that differ or throw, the one of
//! least weight is told.
template <class Case, class F>
verdict same_for_all(char const* gate, char const* noun, std::vector<Case> const& cases, F const& f, uint64_t chunk) {
  verdict v(gate);
  if (cases.size() < 2) return v.remark("fewer than two " + std::string(noun) + "s");
  ran const first = run_once(f, cases[0]);
  v.add_runs(1);
  if (first.error) return v.fail("the first run threw: " + *first.error + again(cases[0]));

  uint64_t failing = 0, alike = 0; // of the failing ones, how many give the same
  std::optional<outputs> odd;
  Case const* smallest = nullptr;
  comparison worst;
  for (size_t i = 1; i < cases.size(); ++i) {
    Case const& c = cases[i];
    ran const other = run_once(f, c);
    v.add_runs(1);
    comparison const d =
        other.error ? of_other_shape("the run threw: " + *other.error) : compare(first.results, other.results, chunk);
    v.add_compared(d.compared);
    if (d.equal()) continue;
    ++failing;
    if (!odd) odd = other.results;
    alike += !other.error && compare(*odd, other.results, chunk).equal();
    if (smallest != nullptr && smallest->weight() <= c.weight()) continue;
    smallest = &c;
    worst = d;
  }
  if (smallest == nullptr) return v;
  v.first_difference(worst.different, worst.output, worst.index);
  std::string const agree = failing > 1 && failing == cases.size() - 1 && alike == failing
                                ? "\n  all but the first agree with each other"
                                : "";
  return v.fail(std::to_string(failing) + " of " + std::to_string(cases.size() - 1) + " " + noun +
                "s give something else than the first, " + cases[0].text() + "\n  the smallest: " + smallest->text() +
                "\n  " + worst.text + agree + again(*smallest));
}

//! Remembers, for the report, which simulator configuration a run asked for.
class remembers_config {
public:
  std::optional<simt::config> const& last_config() const { return last_; }

protected:
  simt::config remember(simt::config const& c) const {
    last_ = c;
    return c;
  }

private:
  mutable std::optional<simt::config> last_;
};

} // namespace isobit::inline bits1::testing::detail
