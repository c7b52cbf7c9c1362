// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Many events in little memory: about 150 bytes each, every distinct text once.
#pragma once

#include <isobit/trace/event.hpp>

#include <algorithm>
#include <deque>
#include <tuple>
#include <unordered_map>

namespace isobit::inline bits1::trace {

//! Where the events of a log come from.
enum class layout { isobit, per_op, event_tensor };

inline char const* name_of(layout l) {
  return l == layout::isobit ? "isobit" : l == layout::per_op ? "per-op" : "event/tensor";
}

namespace detail {

// Texts by number; equal texts have equal numbers.
class text_pool {
public:
  uint32_t add(std::string_view text) {
    auto const found = numbers_.find(text);
    if (found != numbers_.end()) return found->second;
    auto const n = static_cast<uint32_t>(texts_.size());
    numbers_.emplace(texts_.emplace_back(text), n);
    return n;
  }
  std::string const& operator[](uint32_t n) const { return texts_[n]; }
  uint32_t find(std::string_view text) const {
    auto const found = numbers_.find(text);
    return found == numbers_.end() ? ~uint32_t(0) : found->second;
  }
  uint32_t size() const { return static_cast<uint32_t>(texts_.size()); }

private:
  std::deque<std::string> texts_; // elements do not move
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

struct kept_signature {
  uint64_t digest; // or the number of its text
  uint32_t name, dtype, shape;
  uint32_t more; // number in `extras`, or none
  evidence seen;
  bool is_text;
};
inline constexpr uint32_t none = ~uint32_t(0);

struct kept_extra {
  uint64_t chunk_bytes;
  std::vector<uint64_t> chunks;
  std::string data;
};

struct kept_event {
  uint64_t sequence;
  uint32_t rank, iteration, microbatch, occurrence;
  uint32_t kind, scope, name, order, recipe;
  uint32_t file, line;
  uint32_t first, inputs, outputs; // signatures: inputs, then outputs
  bool inputs_recorded;

  auto place() const { return std::tuple(rank, iteration, sequence); }
  auto key() const { return std::tuple(rank, iteration, microbatch, kind, scope, name, occurrence); }
  uint64_t hash() const {
    uint64_t h = 0;
    for (uint32_t const part : {rank, iteration, microbatch, kind, scope, name, occurrence})
      h = (h ^ (h >> 29) ^ part) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 32);
  }
};

} // namespace detail

//! A trace in memory: the events of all ranks, those of a rank by iteration and sequence.
class log {
public:
  //! The events of a rank: numbers `first` to `last` - 1.
  struct rank_range {
    uint32_t rank, first, last;
  };

  explicit log(std::string name = "events", trace::layout l = trace::layout::isobit) : layout_(l) {
    files_.push_back(std::move(name));
  }

  std::string const& name() const { return files_.front(); }
  trace::layout layout() const { return layout_; }
  size_t size() const { return events_.size(); }
  std::vector<rank_range> const& ranks() const { return ranks_; }
  //! Event number `i`, in full.
  event operator[](size_t i) const { return expand(events_.at(i)); }
  //! The file and line that event `i` was read from; "events", 0 for one that was added by hand.
  std::pair<std::string const&, uint64_t> origin(size_t i) const {
    return {files_[events_.at(i).file], events_[i].line};
  }

  //! Adds an event, in any order. Call `finish` after the last.
  void add(event const& e) { add(e, 0, 0); }

  //! Sorts, and refuses two events of one place or of one name with `error`.
  void finish();

  // For readers.
  void set_layout(trace::layout l) { layout_ = l; }
  uint32_t add_file(std::string name) {
    files_.push_back(std::move(name));
    return static_cast<uint32_t>(files_.size() - 1);
  }
  void add(event const& e, uint32_t file, uint32_t line);

  // For comparisons.
  std::vector<detail::kept_event> const& kept() const { return events_; }
  std::vector<detail::kept_signature> const& signatures() const { return signatures_; }
  std::vector<detail::kept_extra> const& extras() const { return extras_; }
  detail::text_pool const& texts() const { return texts_; }

private:
  void keep(signature const& s);
  void number_occurrences();
  event expand(detail::kept_event const& k) const;
  signature expand(detail::kept_signature const& k) const;
  [[noreturn]] void refuse_twice(detail::kept_event const& a, detail::kept_event const& b, char const* what) const {
    auto const& later = std::tie(a.file, a.line) < std::tie(b.file, b.line) ? b : a;
    auto const& earlier = &later == &a ? b : a;
    throw error(files_[later.file], later.line,
                std::string("the same ") + what + " as in " + files_[earlier.file] + ":" +
                    std::to_string(earlier.line) + " (" + describe(expand(later)) + ", rank " +
                    std::to_string(later.rank) + ")");
  }

  std::vector<std::string> files_;
  trace::layout layout_;
  std::vector<detail::kept_event> events_;
  std::vector<detail::kept_signature> signatures_;
  std::vector<detail::kept_extra> extras_;
  std::vector<rank_range> ranks_;
  detail::text_pool texts_;
  std::string room_;
};

inline void log::add(event const& e, uint32_t file, uint32_t line) {
  if (e.inputs.size() + e.outputs.size() > 0xffff || signatures_.size() > 0xfff00000u)
    throw error(files_[file], line, "more tensors than a trace can hold");
  events_.push_back({e.sequence, e.rank, e.iteration, e.microbatch, e.occurrence, texts_.add(e.kind),
                     texts_.add(e.scope), texts_.add(e.name), texts_.add(e.order), texts_.add(e.recipe), file, line,
                     static_cast<uint32_t>(signatures_.size()), static_cast<uint32_t>(e.inputs.size()),
                     static_cast<uint32_t>(e.outputs.size()), e.inputs_recorded});
  for (auto const& s : e.inputs) keep(s);
  for (auto const& s : e.outputs) keep(s);
}

inline void log::keep(signature const& s) {
  uint32_t more = detail::none;
  if (s.chunk_bytes > 0 || !s.data.empty()) {
    more = static_cast<uint32_t>(extras_.size());
    extras_.push_back({s.chunk_bytes, s.chunks, s.data});
  }
  room_.clear();
  for (uint64_t const extent : s.shape) room_ += std::to_string(extent) + ",";
  bool const is_text = !s.text.empty();
  uint64_t const digest = is_text ? texts_.add(s.text) : s.digest;
  uint32_t const shape = texts_.add(room_);
  signatures_.push_back({digest, texts_.add(s.name), texts_.add(s.dtype), shape, more, s.seen, is_text});
}

inline signature log::expand(detail::kept_signature const& k) const {
  signature s;
  s.name = texts_[k.name];
  s.dtype = texts_[k.dtype];
  s.count = 1;
  for (char const* p = texts_[k.shape].c_str(); *p != 0; ++p) {
    uint64_t n = 0;
    for (; *p != ','; ++p) n = n * 10 + static_cast<uint64_t>(*p - '0');
    s.shape.push_back(n);
    s.count *= n;
  }
  s.seen = k.seen;
  if (k.is_text)
    s.text = texts_[static_cast<uint32_t>(k.digest)];
  else
    s.digest = k.digest;
  if (k.more != detail::none) {
    auto const& extra = extras_[k.more];
    s.chunk_bytes = extra.chunk_bytes;
    s.chunks = extra.chunks;
    s.data = extra.data;
  }
  return s;
}

inline event log::expand(detail::kept_event const& k) const {
  event e;
  e.rank = k.rank, e.iteration = k.iteration, e.microbatch = k.microbatch, e.occurrence = k.occurrence;
  e.sequence = k.sequence;
  e.kind = texts_[k.kind], e.name = texts_[k.name], e.scope = texts_[k.scope];
  e.order = texts_[k.order], e.recipe = texts_[k.recipe];
  e.inputs_recorded = k.inputs_recorded;
  for (uint32_t i = 0; i < k.inputs + k.outputs; ++i)
    (i < k.inputs ? e.inputs : e.outputs).push_back(expand(signatures_[k.first + i]));
  return e;
}

// No name may come twice. A per-op trace counts occurrences over all scopes, so that one missing event would rename
// later ones: here they are counted anew within each scope.
inline void log::number_occurrences() {
  bool const count = layout_ == trace::layout::per_op;
  std::vector<std::pair<uint64_t, uint32_t>> hashes(events_.size());
  for (uint32_t i = 0; i < events_.size(); ++i) {
    if (count) events_[i].occurrence = 0;
    hashes[i] = {events_[i].hash(), i};
  }
  std::sort(hashes.begin(), hashes.end());
  std::vector<std::pair<uint32_t, uint32_t>> names; // of one hash: an event, and how many have its name
  for (size_t k = 0; k < hashes.size(); ++k) {
    if (k == 0 || hashes[k].first != hashes[k - 1].first) names.clear();
    auto& e = events_[hashes[k].second];
    auto const same =
        std::find_if(names.begin(), names.end(), [&](auto const& n) { return events_[n.first].key() == e.key(); });
    if (same == names.end())
      names.emplace_back(hashes[k].second, 0u);
    else if (count)
      e.occurrence = ++same->second;
    else
      refuse_twice(events_[same->first], e, "name");
  }
}

inline void log::finish() {
  auto const before = [](auto const& a, auto const& b) { return a.place() < b.place(); };
  if (!std::is_sorted(events_.begin(), events_.end(), before)) std::sort(events_.begin(), events_.end(), before);
  for (size_t i = 1; i < events_.size(); ++i)
    if (events_[i - 1].place() == events_[i].place()) refuse_twice(events_[i - 1], events_[i], "sequence number");

  number_occurrences();

  ranks_.clear();
  for (uint32_t i = 0; i < events_.size(); ++i) {
    if (ranks_.empty() || ranks_.back().rank != events_[i].rank) ranks_.push_back({events_[i].rank, i, i});
    ranks_.back().last = i + 1;
  }
}

} // namespace isobit::inline bits1::trace
