// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! End to end: a toy training loop on four simulated ranks, a fault of one unit in the last place in one operation of
//! one rank, and the comparison that must name it; a checkpoint that must resume the run, and one that must not.
#include "../../examples/trace_compare/training.hpp"

#include "folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace trace = isobit::trace;

namespace {

constexpr uint32_t iterations = 3;

trace::comparison compare_folders(folder const& a, folder const& b) {
  return trace::compare(trace::read(a.path()), trace::read(b.path()),
                        {.bytes_a = trace::files_in(a.path()), .bytes_b = trace::files_in(b.path())});
}

// The run without a fault, made once.
folder const& reference() {
  static folder const f;
  static bool const made = (toy::training(f.name()).run(0, iterations), true);
  CHECK(made);
  return f;
}

// What the comparison must say about a planted fault; "" where it does.
std::string complaint(trace::comparison const& c, toy::fault const& f, bool many_units = false) {
  if (c.same()) return "no difference found";
  if (c.conclusion != trace::conclusion::few_ranks) return std::string("concluded ") + name_of(c.conclusion);
  for (auto const& r : c.ranks) {
    if (!r.first || r.rank != f.rank) {
      if (r.first && r.first->kind != trace::finding_kind::receiver)
        return "rank " + std::to_string(r.rank) + " is blamed too";
      continue;
    }
    trace::finding const& found = *r.first;
    trace::event const& e = found.what();
    if (found.kind != trace::finding_kind::origin || !found.output) return "not an origin";
    if (e.iteration != f.iteration || e.microbatch != f.microbatch || e.name != f.name || e.scope != f.scope)
      return "named " + describe(e);
    std::size_t const bytes = found.tensor(found.a)->dtype == "e4m3" ? 1 : 4;
    if (found.where.first_chunk != f.element * bytes / toy::chunk_bytes || found.where.chunks_different != 1)
      return "chunk " + std::to_string(found.where.first_chunk);
    if (found.where.first_element != f.element || found.where.elements_different != 1)
      return "element " + std::to_string(found.where.first_element);
    if (!many_units && found.where.ulps != 1u) return "not one unit";
    return "";
  }
  return "the rank is not named";
}

} // namespace

TEST_CASE("training: without a fault two runs have equal traces, confirmed byte by byte") {
  folder const again;
  toy::training(again.name()).run(0, iterations);
  auto const c = compare_folders(reference(), again);
  CHECK(c.same());
  CHECK(c.ranks.size() == toy::ranks);
  // Per rank and iteration: 2 microbatches of 8 operations (24 tensors), and 2 all_reduces and 2 steps (14 tensors).
  CHECK(c.compared == toy::ranks * iterations * (2 * 24 + 14));
  CHECK(c.confirmed == toy::ranks * iterations * (2 * 10 + 6)); // outputs
  CHECK(c.unobserved == 0);
  CHECK(c.remarks.empty());
}

TEST_CASE("training: a planted fault of one unit is named: rank, event, chunk, element") {
  for (toy::fault const& f :
       {toy::fault{2, 1, 1, "linear", "layers.1", 77}, toy::fault{0, 0, 0, "wgrad", "layers.0", 4095},
        toy::fault{3, 2, 1, "quantize", "layers.0", 300}, toy::fault{1, 1, 0, "dgrad", "layers.1", 64}}) {
    CAPTURE(f.name);
    folder const other;
    toy::training(other.name(), f).run(0, iterations);
    auto const c = compare_folders(reference(), other);
    CHECK(complaint(c, f) == "");
    CHECK(c.next.find("rank " + std::to_string(f.rank)) != std::string::npos);
  }
}

TEST_CASE("training: other ranks receive a gradient's fault through the collective, and are not blamed") {
  folder const other;
  toy::fault const f{1, 0, 1, "wgrad", "layers.1", 11}; // rounding swallows many others in the sums
  toy::training(other.name(), f).run(0, iterations);
  auto const c = compare_folders(reference(), other);
  CHECK(complaint(c, f) == "");
  for (auto const& r : c.ranks) {
    if (r.rank == f.rank) continue;
    REQUIRE(r.first);
    CHECK(r.first->kind == trace::finding_kind::receiver);
    CHECK(r.first->what().name == "all_reduce");
    CHECK(r.first->through == f.rank);
  }
}

TEST_CASE("training: a comparison that is blind to outputs, or to inputs, is caught") {
  folder const other;
  toy::fault const f{1, 0, 1, "wgrad", "layers.1", 5};
  toy::training(other.name(), f).run(0, 1);
  trace::log const a = trace::read(reference().path()), b = trace::read(other.path());
  // Logs whose events of iteration 0 lack some tensors: what a comparison sees that ignores these.
  auto const without = [&](trace::log const& from, bool outputs) {
    trace::log out("blind");
    for (std::size_t i = 0; i < from.size(); ++i) {
      auto e = from[i];
      if (e.iteration > 0) continue;
      (outputs ? e.outputs : e.inputs).clear();
      out.add(e);
    }
    out.finish();
    return out;
  };
  CHECK(complaint(trace::compare(without(a, true), without(b, true)), f) != "");
  CHECK(complaint(trace::compare(without(a, false), without(b, false)), f) != "");
}

TEST_CASE(
    "training: resumed from a checkpoint it equals the uninterrupted run, and not when the checkpoint lacks a part") {
  auto const resumed = [](bool drop_momenta) {
    folder const f;
    toy::training first(f.name());
    first.run(0, 1);
    toy::state saved = first.checkpoint();
    if (drop_momenta) saved.momenta[1].assign(saved.momenta[1].size(), 0.0f);
    toy::training second(f.name());
    second.restore(saved);
    second.run(1, iterations);
    return compare_folders(reference(), f);
  };
  CHECK(resumed(false).same());

  auto const c = resumed(true);
  CHECK(c.conclusion == trace::conclusion::receivers_only);
  for (auto const& r : c.ranks) {
    REQUIRE(r.first);
    CHECK(describe(r.first->what()) == "iteration 1, microbatch 1: op layers.1 / momentum_step #0");
    CHECK(r.first->tensor(r.first->a)->name == "m");
  }
}
