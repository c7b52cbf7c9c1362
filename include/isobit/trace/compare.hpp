// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Compares two traces: for each rank the first event that differs, and what all ranks together say.
#pragma once

#include <isobit/error.hpp>
#include <isobit/trace/conclude.hpp>
#include <isobit/trace/locate.hpp>
#include <isobit/trace/match.hpp>

namespace isobit::inline bits1::trace {

struct compare_options {
  //! Where the bytes of the tensors of A and of B are; nothing: no bytes. `files_in(folder)` for a recorder's files.
  byte_source bytes_a = {}, bytes_b = {};
  //! Compare the bytes of tensors with equal digests too, where both traces name files that hold them.
  bool confirm = true;
  //! Events that come in another order are a divergence, not a remark.
  bool order_matters = false;
  //! Called now and then with the events compared so far and those there are.
  std::function<void(uint64_t done, uint64_t all)> progress = {};
};

namespace detail {

class comparer {
public:
  comparer(log const& a, log const& b, compare_options const& o) : logs_(a, b), options_(o) {}

  comparison run() {
    auto const &ra = logs_.a.ranks(), &rb = logs_.b.ranks();
    for (size_t i = 0, j = 0; i < ra.size() || j < rb.size();) {
      bool const in_a = i < ra.size() && (j == rb.size() || ra[i].rank <= rb[j].rank);
      bool const in_b = j < rb.size() && (i == ra.size() || rb[j].rank <= ra[i].rank);
      uint32_t const rank = in_a ? ra[i].rank : rb[j].rank;
      compare_rank(in_a ? ra[i] : log::rank_range{rank, 0, 0}, in_b ? rb[j] : log::rank_range{rank, 0, 0});
      i += in_a;
      j += in_b;
    }
    explain_collectives();
    bool const checked = logs_.a.layout() == layout::isobit;
    for (auto& r : out_.ranks)
      if (r.first) locate(*r.first, options_.bytes_a, options_.bytes_b, checked);
    conclude(out_);
    return std::move(out_);
  }

private:
  kept_event const& a(uint32_t i) const { return logs_.a.kept()[i]; }
  kept_event const& b(uint32_t j) const { return logs_.b.kept()[j]; }

  void compare_rank(log::rank_range x, log::rank_range y) {
    rank_result r;
    r.rank = x.rank;
    r.events_a = x.last - x.first;
    r.events_b = y.last - y.first;
    r.steps.reserve(r.events_a);
    matching const m(logs_, x, y);
    uint32_t next_extra = y.first, furthest = 0;
    auto const take_extras = [&](uint32_t until) {
      for (; next_extra < until; ++next_extra)
        if (m.of_b[next_extra - y.first] == none) extra(r, next_extra);
    };
    for (uint32_t i = x.first; i < x.last; ++i) {
      uint32_t const j = m.of_a[i - x.first];
      if (j == none) {
        missing(r, i);
        continue;
      }
      if (j >= next_extra) take_extras(j);
      both(r, i, j);
      if (j < furthest) reordered(r, i, j);
      furthest = furthest < j ? j : furthest;
      if (options_.progress && (++done_ & 0xffff) == 0) options_.progress(done_, logs_.a.size());
    }
    take_extras(y.last);
    out_.ranks.push_back(std::move(r));
  }

  void count(rank_result& r, step s) {
    ++r.count[static_cast<int>(s)];
    r.steps.push_back(s);
  }
  void missing(rank_result& r, uint32_t i) {
    count(r, step::missing);
    if (!r.first) found(r, finding_kind::missing, i, none, true, 0, "no such event in B");
  }
  void extra(rank_result& r, uint32_t j) {
    count(r, step::extra);
    if (!r.first) found(r, finding_kind::extra, none, j, true, 0, "no such event in A");
  }
  void reordered(rank_result& r, uint32_t i, uint32_t j) {
    ++r.reordered;
    if (options_.order_matters && !r.first) found(r, finding_kind::reordered, i, j, true, 0, "comes in another order");
  }
  void both(rank_result& r, uint32_t i, uint32_t j) {
    event_difference const d = compare(logs_, a(i), b(j));
    out_.compared += d.in.equal + d.out.equal + (d.in.first >= 0) + (d.out.first >= 0);
    out_.partial += d.in.partial + d.out.partial;
    out_.unobserved += d.in.unobserved + d.out.unobserved;
    r.renamed += a(i).order != logs_.text(b(j).order) || a(i).recipe != logs_.text(b(j).recipe);
    if (d.equal()) {
      bool const seen = d.in.equal + d.out.equal + d.in.partial + d.out.partial > 0;
      count(r, seen ? step::equal : step::unobserved);
      if (options_.confirm && options_.bytes_a && options_.bytes_b) confirm(r, i, j);
      return;
    }
    bool const input = d.in.first >= 0;
    count(r, input ? step::input_differs : step::output_differs);
    if (input && logs_.a.texts()[a(i).kind] == "collective") collectives_.emplace_back(i, a(i).rank);
    if (r.first) return;
    bool const proven = a(i).inputs_recorded && b(j).inputs_recorded && d.in.partial + d.in.unobserved == 0;
    auto const kind = input ? finding_kind::receiver : proven ? finding_kind::origin : finding_kind::unproven;
    auto const& side = input ? d.in : d.out;
    found(r, kind, i, j, !input, static_cast<size_t>(side.first), side.reason);
  }
  void found(rank_result& r, finding_kind kind, uint32_t i, uint32_t j, bool output, size_t index, char const* reason) {
    finding& f = r.first.emplace();
    f.kind = kind;
    f.rank = r.rank;
    f.output = output;
    f.index = index;
    f.reason = reason;
    auto const at = [](log const& l, uint32_t k) {
      auto const [file, line] = l.origin(k);
      return line > 0 ? file + ":" + std::to_string(line) : file;
    };
    if (i != none) f.a = logs_.a[i], f.at_a = at(logs_.a, i);
    if (j != none) f.b = logs_.b[j], f.at_b = at(logs_.b, j);
  }

  bool keeps_bytes(log const& l, kept_signature const& s) const {
    return s.more != none && !l.extras()[s.more].data.empty();
  }
  void confirm(rank_result& r, uint32_t i, uint32_t j) {
    uint32_t const n = a(i).inputs + a(i).outputs;
    for (uint32_t k = 0; k < n; ++k) {
      if (!keeps_bytes(logs_.a, logs_.a.signatures()[a(i).first + k]) ||
          !keeps_bytes(logs_.b, logs_.b.signatures()[b(j).first + k]))
        continue;
      bool const output = k >= a(i).inputs;
      size_t const index = output ? k - a(i).inputs : k;
      auto const x = options_.bytes_a(logs_.a[i], output, index), y = options_.bytes_b(logs_.b[j], output, index);
      if (!x || !y) continue;
      ++out_.confirmed;
      if (*x == *y) continue;
      r.steps.back() = step::output_differs;
      --r.count[static_cast<int>(step::equal)], ++r.count[static_cast<int>(step::output_differs)];
      if (!r.first) found(r, finding_kind::contradiction, i, j, output, index, "bytes, under equal digests");
      return;
    }
  }

  // What a collective gives depends on every rank's input: it is an origin only where no rank's input differs.
  void explain_collectives() {
    for (auto& r : out_.ranks) {
      if (!r.first || r.first->kind != finding_kind::origin || r.first->a->kind != "collective") continue;
      auto const& e = *r.first->a;
      for (auto const& [i, rank] : collectives_) {
        auto const& other = a(i);
        auto const& t = logs_.a.texts();
        if (other.iteration != e.iteration || other.microbatch != e.microbatch || other.occurrence != e.occurrence ||
            t[other.name] != e.name || t[other.scope] != e.scope)
          continue;
        r.first->kind = finding_kind::receiver;
        r.first->through = rank;
        break;
      }
    }
  }

  log_pair logs_;
  compare_options const& options_;
  comparison out_;
  std::vector<std::pair<uint32_t, uint32_t>> collectives_; // events whose inputs differ, and their ranks
  uint64_t done_ = 0;
};

} // namespace detail

//! Compares trace A with trace B, both `finish`ed.
//!
//! Events belong together by rank, iteration, microbatch, kind, scope, name and occurrence. On each rank the first
//! event that differs, in A's order, is the rank's finding; those behind it are only counted. An event of kind
//! "collective" has the inputs of all ranks. Digests decide; where files hold the bytes, equality is confirmed by them.
//!
//! Throws `invalid_argument` for traces of different layouts or schema versions, and where not one pair of tensors
//! could be compared by a full or partial digest: comparing nothing is not equality. Cost: one pass, and a sort of the
//! events of a rank whose two traces are not in step.
inline comparison compare(log const& a, log const& b, compare_options const& options = {}) {
  if (a.layout() != b.layout()) throw invalid_argument("trace::compare", "b", "of the same layout as a");
  if (a.layout() == layout::per_op && a.size() > 0 && b.size() > 0 && a[0].recipe != b[0].recipe)
    throw invalid_argument("trace::compare", "b", "of the same schema version as a");
  comparison out = detail::comparer(a, b, options).run();
  if (out.same() && out.compared + out.partial == 0)
    throw invalid_argument("trace::compare", "a and b", "traces with digests: nothing was compared");
  return out;
}

} // namespace isobit::inline bits1::trace
