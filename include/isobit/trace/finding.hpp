// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What a comparison of two traces says.
#pragma once

#include <isobit/trace/event.hpp>

#include <optional>

namespace isobit::inline bits1::trace {

//! Why an event is named.
enum class finding_kind : uint8_t {
  origin,        //!< equal inputs, different outputs: here it began
  receiver,      //!< different inputs: it began earlier, in something that is not in the trace
  unproven,      //!< different outputs; the inputs were not recorded, or not in full
  missing,       //!< in A only
  extra,         //!< in B only
  reordered,     //!< behind an event that it was before (only where `compare_options::order_matters`)
  contradiction, //!< equal digests, but different bytes
};

inline char const* name_of(finding_kind k) {
  constexpr char const* names[] = {"origin", "receiver", "unproven", "missing", "extra", "reordered", "contradiction"};
  return names[static_cast<int>(k)];
}

//! Where in a tensor two runs differ.
struct location {
  // By chunk digests; for chunks > 0.
  uint64_t chunk_bytes = 0, chunks = 0, chunks_different = 0, first_chunk = 0;
  // By bytes; for elements > 0.
  uint64_t elements = 0, elements_different = 0, first_element = 0;
  std::string a, b;             //!< that element: "0x3f800000  1"
  std::optional<uint64_t> ulps; //!< units in the last place between the two; none for NaNs against numbers, integers
  std::string note;             //!< why there is no more
};

struct finding {
  finding_kind kind = finding_kind::origin;
  uint32_t rank = 0;
  std::optional<event> a, b; //!< the event in both traces; `missing` has no b, `extra` no a
  std::string at_a, at_b;    //!< file and line, with a colon between them
  bool output = true;        //!< the differing tensor is an output; of number `index`
  size_t index = 0;
  std::string reason; //!< "digest", "shape", ...
  location where;
  std::optional<uint32_t> through; //!< of a collective: the rank whose input differs

  //! The event, of whichever trace has it.
  event const& what() const { return a ? *a : *b; }
  //! The differing tensor; null where there is none (missing, extra, another number of tensors).
  signature const* tensor(std::optional<event> const& e) const {
    if (!e) return nullptr;
    auto const& list = output ? e->outputs : e->inputs;
    return index < list.size() ? &list[index] : nullptr;
  }
};

//! How one event compares: one cell of a timeline.
enum class step : uint8_t { equal, unobserved, output_differs, input_differs, missing, extra };
inline constexpr int step_kinds = 6;

struct rank_result {
  uint32_t rank = 0;
  uint64_t events_a = 0, events_b = 0;
  uint64_t count[step_kinds] = {}; //!< of each `step`
  uint64_t reordered = 0;          //!< events that come in another order
  uint64_t renamed = 0;            //!< events whose order or recipe has another name
  std::optional<finding> first;
  std::vector<step> steps; //!< the events of A in their order, those of B only after the event that they follow
};

//! Who is to blame, from all ranks together.
enum class conclusion : uint8_t {
  same,           //!< nothing differs
  every_rank,     //!< all ranks name one event: the operation itself
  few_ranks,      //!< some ranks name it, others ran it with equal results: the place, not the operation
  one_rank,       //!< there is one rank: nothing to set it against
  several_events, //!< the ranks name different events
  receivers_only, //!< no rank has an origin: what made the difference is not in the trace
  control_flow,   //!< the runs did different things
};

inline char const* name_of(conclusion c) {
  constexpr char const* names[] = {"same",           "every_rank",     "few_ranks",   "one_rank",
                                   "several_events", "receivers_only", "control_flow"};
  return names[static_cast<int>(c)];
}

struct comparison {
  std::vector<rank_result> ranks;
  uint64_t compared = 0;   //!< pairs of tensors whose full digests were compared
  uint64_t partial = 0;    //!< pairs of which only samples or summaries were
  uint64_t unobserved = 0; //!< pairs without digests
  uint64_t confirmed = 0;  //!< pairs of equal digests whose bytes were compared too
  trace::conclusion conclusion = trace::conclusion::same;
  std::string verdict;              //!< one sentence
  std::string next;                 //!< what to look at next
  std::vector<std::string> remarks; //!< what is no difference, but worth knowing

  bool same() const { return conclusion == trace::conclusion::same; }
};

} // namespace isobit::inline bits1::trace
