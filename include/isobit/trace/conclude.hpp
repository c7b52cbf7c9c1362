// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! From the findings of the ranks to one verdict, and to what to look at next.
#pragma once

#include <isobit/trace/finding.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace isobit::inline bits1::trace::detail {

// "rank 2", "ranks 0, 1, 5 and 61 others".
inline std::string name_ranks(std::vector<uint32_t> const& ranks) {
  constexpr size_t most = 8;
  std::string out = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size() && i < most; ++i) out += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
  return ranks.size() > most ? out + " and " + std::to_string(ranks.size() - most) + " others" : out;
}

inline bool is_origin(finding_kind k) {
  return k == finding_kind::origin || k == finding_kind::unproven || k == finding_kind::contradiction;
}
inline bool is_control_flow(finding_kind k) {
  return k == finding_kind::missing || k == finding_kind::extra || k == finding_kind::reordered;
}

// Findings of the earliest iteration and microbatch, by event; no more is known about the order of events of two ranks.
struct earliest_findings {
  std::map<std::string, std::vector<uint32_t>> origins, control_flow;
  std::vector<uint32_t> receivers;
  size_t differing = 0;
  finding const* one = nullptr; // an example, of what decides

  explicit earliest_findings(std::vector<rank_result> const& ranks) {
    auto const when = [](finding const& f) { return std::tuple(f.what().iteration, f.what().microbatch); };
    std::tuple<uint32_t, uint32_t> first{~0u, ~0u};
    for (auto const& r : ranks)
      if (r.first) first = std::min(first, when(*r.first)), ++differing;
    int rank_of_one = -1;
    for (auto const& r : ranks) {
      if (!r.first || when(*r.first) != first) continue;
      finding const& f = *r.first;
      std::string const name = describe(f.what());
      int const weight = is_origin(f.kind) ? 2 : is_control_flow(f.kind) ? 1 : 0;
      if (weight == 2)
        origins[name].push_back(r.rank);
      else if (weight == 1)
        control_flow[name].push_back(r.rank);
      else
        receivers.push_back(r.rank);
      if (weight > rank_of_one) one = &f, rank_of_one = weight;
    }
  }
};

inline char const* what_began(finding const& f) {
  return f.kind == finding_kind::unproven ? "the first outputs that differ (their inputs were not recorded) are of "
         : f.kind == finding_kind::contradiction ? "equal digests hide different bytes in "
                                                 : "the difference begins in ";
}

inline void blame_origin(comparison& out, earliest_findings const& e) {
  auto const most = std::max_element(e.origins.begin(), e.origins.end(),
                                     [](auto const& x, auto const& y) { return x.second.size() < y.second.size(); });
  auto const& [name, ranks] = *most;
  std::string const begins = what_began(*e.one) + name;
  if (e.origins.size() > 1) {
    out.conclusion = conclusion::several_events;
    out.verdict = begins + " on " + name_ranks(ranks) + ", and in " + std::to_string(e.origins.size() - 1) +
                  " other event(s) on other ranks";
    out.next =
        "Look at what these events share: a library, a workspace, a random number state, a device. Trace them again "
        "with their inputs and with chunk digests.";
  } else if (out.ranks.size() == 1) {
    out.conclusion = conclusion::one_rank;
    out.verdict = begins + " (one rank, so nothing says whether others would differ too)";
    out.next =
        "Run that operation alone, many times, on the kept inputs: if it differs there it is the kernel (atomics, "
        "split sizes, autotuning); if not, it is the place or what ran beside it.";
  } else if (ranks.size() == out.ranks.size()) {
    out.conclusion = conclusion::every_rank;
    out.verdict = begins + ", on all " + std::to_string(ranks.size()) + " ranks";
    out.next =
        "All ranks name one event: look at the operation itself: atomics, split or tile sizes chosen at run time, "
        "autotuning, uninitialised workspaces, the order and recipe that it was built with.";
  } else {
    out.conclusion = conclusion::few_ranks;
    out.verdict = begins + ", on " + name_ranks(ranks) + " (" + std::to_string(ranks.size()) + " of " +
                  std::to_string(out.ranks.size()) + ")";
    out.next =
        "Other ranks ran the same operation with equal results: look at what is special about " + name_ranks(ranks) +
        ": the device, its driver and clocks, the place in the topology, the shapes that it alone "
        "has, what ran beside it. Then swap devices and see whether the rank or the device keeps the difference.";
  }
  if (e.one->a && e.one->b && (e.one->a->order != e.one->b->order || e.one->a->recipe != e.one->b->recipe))
    out.next = "The two runs name different orders or recipes for this event (" + e.one->a->order + " " +
               e.one->a->recipe + " / " + e.one->b->order + " " + e.one->b->recipe +
               "): different bits are to be expected. " + out.next;
}

inline void remark(comparison& out) {
  uint64_t reordered = 0, renamed = 0;
  for (auto const& r : out.ranks) reordered += r.reordered, renamed += r.renamed;
  auto const say = [&](uint64_t n, char const* what) {
    if (n > 0) out.remarks.push_back(std::to_string(n) + what);
  };
  say(reordered, " event(s) come in another order in B");
  say(renamed, " event(s) have another order_id or recipe in B");
  say(out.partial, " pair(s) of tensors were compared by samples or summaries only");
  say(out.unobserved, " pair(s) of tensors have no digests and were not compared");
}

inline void conclude(comparison& out) {
  remark(out);
  earliest_findings const e(out.ranks);
  if (e.differing == 0) {
    uint64_t events = 0;
    for (auto const& r : out.ranks) events += r.events_a;
    out.verdict = std::to_string(events) + " events of " + std::to_string(out.ranks.size()) +
                  " rank(s): " + std::to_string(out.compared) + " pairs of tensors compared, no difference";
    return;
  }
  if (!e.origins.empty()) {
    blame_origin(out, e);
  } else if (!e.control_flow.empty()) {
    auto const& [name, ranks] = *e.control_flow.begin();
    out.conclusion = conclusion::control_flow;
    out.verdict = "the runs did different things: " + name + " is " +
                  (e.one->kind == finding_kind::reordered ? "in another place in B"
                   : e.one->kind == finding_kind::missing ? "missing in B"
                                                          : "in B only") +
                  ", on " + name_ranks(ranks);
    out.next =
        "Nothing that was recorded differed before. Look at what decides whether this event happens: data that is not "
        "recorded, flags, the number of iterations or microbatches, caches, recomputation, a crashed rank.";
  } else {
    out.conclusion = conclusion::receivers_only;
    out.verdict = "no rank has an origin: the first difference is an input of " + describe(e.one->what()) + ", on " +
                  name_ranks(e.receivers);
    out.next =
        "What made this input is not in the trace, or was changed behind it. Record more: what produces it, copies and "
        "collectives, the data loader, the random number state, optimiser state after loading.";
  }
  if (!e.origins.empty() && !e.control_flow.empty())
    out.remarks.push_back("in the same iteration the runs did different things on other ranks: " +
                          e.control_flow.begin()->first);
}

} // namespace isobit::inline bits1::trace::detail
