// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Which event of one trace is which of the other: by name, so that a missing event does not shift those behind it.
#pragma once

#include <isobit/trace/finding.hpp>
#include <isobit/trace/log.hpp>

#include <utility>

namespace isobit::inline bits1::trace::detail {

// Two logs, with the texts of the second one numbered like those of the first.
class log_pair {
public:
  log_pair(log const& a_log, log const& b_log) : a(a_log), b(b_log), numbers_(b_log.texts().size()) {
    for (uint32_t i = 0; i < numbers_.size(); ++i) {
      uint32_t const n = a.texts().find(b.texts()[i]);
      numbers_[i] = n == none ? a.texts().size() + i : n;
    }
  }
  // The group of an event: all that names it but the rank and the occurrence.
  static auto group_a(kept_event const& e) { return std::tuple(e.iteration, e.microbatch, e.kind, e.scope, e.name); }
  auto group_b(kept_event const& e) const {
    return std::tuple(e.iteration, e.microbatch, text(e.kind), text(e.scope), text(e.name));
  }
  // The number that a text of b has in a.
  uint32_t text(uint32_t of_b) const { return numbers_[of_b]; }

  log const &a, &b;

private:
  std::vector<uint32_t> numbers_;
};

enum class sameness { equal, partial, unobserved, different };

// Two tensors; `reason` says in what they differ.
inline sameness compare(log_pair const& logs, kept_signature const& x, kept_signature const& y, char const*& reason) {
  auto const differ = [&](char const* why) { return reason = why, sameness::different; };
  if (x.name != logs.text(y.name)) return differ("name");
  if (x.dtype != logs.text(y.dtype)) return differ("dtype");
  if (x.shape != logs.text(y.shape)) return differ("shape");
  if (x.seen != y.seen) return differ("evidence (recorded in one trace only)");
  if (x.seen == evidence::none) return sameness::unobserved;
  uint64_t const other = y.is_text ? logs.text(static_cast<uint32_t>(y.digest)) : y.digest;
  if (x.is_text != y.is_text || x.digest != other) return differ("digest");
  if (x.more != none && y.more != none) {
    auto const &p = logs.a.extras()[x.more], &q = logs.b.extras()[y.more];
    if (p.chunk_bytes == q.chunk_bytes && p.chunks != q.chunks) return differ("chunk digests, under equal digests");
  }
  return x.seen == evidence::partial ? sameness::partial : sameness::equal;
}

// How the tensors of two events compare.
struct event_difference {
  struct side {
    int first = -1; // number of the first that differs
    char const* reason = "";
    uint32_t equal = 0, partial = 0, unobserved = 0;
  };
  side in, out;
  bool equal() const { return in.first < 0 && out.first < 0; }
};

inline event_difference::side compare(log_pair const& logs, uint32_t first_a, uint32_t count_a, uint32_t first_b,
                                      uint32_t count_b) {
  event_difference::side out;
  uint32_t const both = count_a < count_b ? count_a : count_b;
  for (uint32_t i = 0; i < both; ++i) {
    char const* reason = "";
    sameness const s = compare(logs, logs.a.signatures()[first_a + i], logs.b.signatures()[first_b + i], reason);
    out.equal += s == sameness::equal;
    out.partial += s == sameness::partial;
    out.unobserved += s == sameness::unobserved;
    if (s == sameness::different && out.first < 0) out.first = static_cast<int>(i), out.reason = reason;
  }
  if (count_a != count_b && out.first < 0) out.first = static_cast<int>(both), out.reason = "number of tensors";
  return out;
}

inline event_difference compare(log_pair const& logs, kept_event const& x, kept_event const& y) {
  return {compare(logs, x.first, x.inputs, y.first, y.inputs),
          compare(logs, x.first + x.inputs, x.outputs, y.first + y.inputs, y.outputs)};
}

// The events of a rank in both logs: partner of event first_a + i, or `none`.
class matching {
public:
  matching(log_pair const& logs, log::rank_range range_a, log::rank_range range_b)
      : logs_(logs), a_(range_a), b_(range_b), of_a(a_.last - a_.first, none), of_b(b_.last - b_.first, none) {
    if (!in_step()) by_name();
  }

private:
  kept_event const& a(uint32_t i) const { return logs_.a.kept()[i]; }
  kept_event const& b(uint32_t i) const { return logs_.b.kept()[i]; }
  void pair(uint32_t i, uint32_t j) {
    of_a[i - a_.first] = j;
    of_b[j - b_.first] = i;
  }
  // The usual case: both did the same in the same order.
  bool in_step() {
    if (of_a.size() != of_b.size()) return false;
    for (uint32_t k = 0; k < of_a.size(); ++k) {
      auto const &x = a(a_.first + k), &y = b(b_.first + k);
      if (x.occurrence != y.occurrence || logs_.group_a(x) != logs_.group_b(y)) return false;
    }
    for (uint32_t k = 0; k < of_a.size(); ++k) pair(a_.first + k, b_.first + k);
    return true;
  }
  void by_name() {
    auto const sorted = [](log::rank_range r, auto const& key) {
      std::vector<uint32_t> out(r.last - r.first);
      for (uint32_t k = 0; k < out.size(); ++k) out[k] = r.first + k;
      std::sort(out.begin(), out.end(), [&](uint32_t i, uint32_t j) { return key(i) < key(j); });
      return out;
    };
    auto const xs = sorted(a_, [&](uint32_t i) { return std::tuple(logs_.group_a(a(i)), a(i).occurrence); });
    auto const ys = sorted(b_, [&](uint32_t i) { return std::tuple(logs_.group_b(b(i)), b(i).occurrence); });
    for (size_t i = 0, j = 0; i < xs.size() && j < ys.size();) {
      auto const x = logs_.group_a(a(xs[i])), y = logs_.group_b(b(ys[j]));
      size_t const i0 = i, j0 = j;
      if (x <= y)
        while (i < xs.size() && logs_.group_a(a(xs[i])) == x) ++i;
      if (y <= x)
        while (j < ys.size() && logs_.group_b(b(ys[j])) == y) ++j;
      if (x == y) match_group({&xs[i0], i - i0}, {&ys[j0], j - j0});
    }
  }

  struct list {
    uint32_t const* at;
    size_t size;
  };
  // Events of one name. Where one trace has fewer, its recorder counted on without the missing one: then those before
  // the first difference in content belong together, and so do the last ones.
  void match_group(list x, list y) {
    bool const counted = a(x.at[x.size - 1]).occurrence + 1 == x.size && b(y.at[y.size - 1]).occurrence + 1 == y.size;
    if (!counted) return match_by_occurrence(x, y);
    size_t const both = x.size < y.size ? x.size : y.size;
    size_t before = 0;
    while (before < both && (x.size == y.size || detail::compare(logs_, a(x.at[before]), b(y.at[before])).equal()))
      ++before;
    for (size_t k = 0; k < before; ++k) pair(x.at[k], y.at[k]);
    for (size_t k = 1; k <= both - before; ++k) pair(x.at[x.size - k], y.at[y.size - k]);
  }
  void match_by_occurrence(list x, list y) {
    for (size_t i = 0, j = 0; i < x.size && j < y.size;) {
      uint32_t const p = a(x.at[i]).occurrence, q = b(y.at[j]).occurrence;
      if (p == q) pair(x.at[i], y.at[j]);
      i += p <= q;
      j += q <= p;
    }
  }

  log_pair const& logs_;
  log::rank_range a_, b_;

public:
  std::vector<uint32_t> of_a, of_b;
};

} // namespace isobit::inline bits1::trace::detail
