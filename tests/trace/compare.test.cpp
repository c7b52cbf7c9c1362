// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Comparison of traces in memory: origins, receivers, missing events, what all ranks together say. Case B20.
#include <isobit/trace.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

namespace trace = isobit::trace;
using trace::conclusion;
using trace::finding_kind;

namespace {

trace::signature tensor(std::uint64_t digest, std::string name = "x") {
  trace::signature s;
  s.name = std::move(name), s.dtype = "f32", s.shape = {4}, s.count = 4, s.digest = digest;
  return s;
}

trace::event op(std::uint32_t rank, std::uint64_t sequence, std::string name, std::uint64_t in, std::uint64_t out) {
  trace::event e;
  e.rank = rank, e.sequence = sequence, e.kind = "op", e.scope = "s", e.name = std::move(name);
  e.inputs = {tensor(in)}, e.outputs = {tensor(out, "y")};
  return e;
}

using events = std::vector<trace::event>;

trace::log log_of(events const& list, trace::layout l = trace::layout::isobit) {
  trace::log out("events", l);
  std::map<std::string, std::uint32_t> counts;
  for (auto e : list) {
    e.occurrence = counts[std::to_string(e.rank) + "/" + std::to_string(e.iteration) + "/" + e.kind + e.name]++;
    out.add(e);
  }
  out.finish();
  return out;
}

trace::comparison compare(events const& a, events const& b, trace::compare_options const& o = {}) {
  return trace::compare(log_of(a), log_of(b), o);
}

// Four ranks of ten operations, each fed by the one before; `change(event)` may alter an event.
events four_ranks(std::function<void(trace::event&)> const& change = [](trace::event&) {}) {
  events out;
  for (std::uint32_t r = 0; r < 4; ++r)
    for (std::uint64_t i = 0; i < 10; ++i) {
      out.push_back(op(r, i, "op" + std::to_string(i), 100 * r + i, 100 * r + i + 1));
      change(out.back());
    }
  return out;
}
void spoil_from(trace::event& e, std::uint32_t rank, std::uint64_t from) {
  if (e.rank != rank || e.sequence < from) return;
  e.outputs[0].digest += 1000;
  if (e.sequence > from) e.inputs[0].digest += 1000;
}

// ---- B20: 6 operations, 4 chunks of 64 floats ----

constexpr std::uint64_t b20_floats = 256, b20_chunk = 64 * sizeof(float);

struct b20 {
  std::vector<std::vector<float>> outputs;
  explicit b20(bool fault) {
    for (int op = 0; op < 6; ++op) {
      std::vector<float> y(b20_floats);
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(op + 1) + static_cast<float>(i) / 256;
      if (fault && op == 3) y[2 * 64 + 17] = std::nextafter(y[2 * 64 + 17], 100.0f);
      if (fault && op > 3)
        for (float& v : y) v += 0.5f;
      outputs.push_back(y);
    }
  }
  std::vector<float> input(std::size_t op) const {
    return op == 0 ? std::vector<float>(b20_floats, 1.0f) : outputs[op - 1];
  }
  static trace::signature sign(std::vector<float> const& x) {
    trace::signature s;
    s.dtype = "f32", s.shape = {4, 64}, s.count = x.size(), s.chunk_bytes = b20_chunk;
    s.chunks.resize(4);
    std::vector<isobit::digest_sum> sums(4);
    auto const total = isobit::chunk_sums(isobit::host(), x.data(), x.size() * 4, b20_chunk, sums.data());
    for (std::size_t c = 0; c < 4; ++c) s.chunks[c] = isobit::finish_digest(sums[c], b20_chunk);
    s.digest = isobit::finish_digest(total, {isobit::dtype::f32, s.shape.data(), 2});
    return s;
  }
  events trace_without(std::size_t record = 99) const {
    events out;
    for (std::size_t i = 0; i < 6; ++i) {
      if (i == record) continue;
      out.push_back(op(0, i, "op" + std::to_string(i), 0, 0));
      out.back().inputs = {sign(input(i))}, out.back().outputs = {sign(outputs[i])};
    }
    return out;
  }
  trace::byte_source bytes() const {
    return [this](trace::event const& e, bool output, std::size_t) -> std::optional<trace::bytes> {
      auto const x = output ? outputs[e.sequence] : input(e.sequence);
      auto const* p = reinterpret_cast<unsigned char const*>(x.data());
      return trace::bytes(p, p + x.size() * 4);
    };
  }
};

} // namespace

TEST_CASE("compare, B20: operation 3, chunk 2, element 17 of it, 1 ulp, inputs equal") {
  b20 const good(false), bad(true);
  auto const c = compare(good.trace_without(), bad.trace_without(), {.bytes_a = good.bytes(), .bytes_b = bad.bytes()});
  REQUIRE(c.ranks.at(0).first);
  auto const& f = *c.ranks[0].first;
  CHECK(f.kind == finding_kind::origin);
  CHECK(f.what().name == "op3");
  CHECK(f.output);
  CHECK(f.where.first_chunk == 2);
  CHECK(f.where.chunks_different == 1);
  CHECK(f.where.first_element == 2 * 64 + 17);
  CHECK(f.where.elements_different == 1);
  CHECK(f.where.ulps == 1u);
  CHECK(f.where.a != f.where.b);
  CHECK(c.ranks[0].count[static_cast<int>(trace::step::equal)] == 3);
  CHECK(c.ranks[0].count[static_cast<int>(trace::step::input_differs)] == 2);
}

TEST_CASE("compare, B20: a missing record is missing, and shifts nothing") {
  b20 const good(false);
  auto const c = compare(good.trace_without(), good.trace_without(2));
  CHECK(c.conclusion == conclusion::control_flow);
  REQUIRE(c.ranks.at(0).first);
  CHECK(c.ranks[0].first->kind == finding_kind::missing);
  CHECK(c.ranks[0].first->what().name == "op2");
  CHECK(c.ranks[0].count[static_cast<int>(trace::step::equal)] == 5);
  CHECK(c.ranks[0].count[static_cast<int>(trace::step::missing)] == 1);
  auto const other_way = compare(good.trace_without(2), good.trace_without());
  CHECK(other_way.ranks.at(0).first->kind == finding_kind::extra);
  CHECK(other_way.ranks[0].steps[2] == trace::step::extra); // after the event that it follows
}

TEST_CASE("compare, B20: equal NaNs are equal, and NaNs of other bits are not") {
  auto const traced = [](std::uint32_t bits) {
    std::vector<float> x(b20_floats, isobit::from_bits<float>(bits));
    auto e = op(0, 0, "op", 1, 1);
    e.outputs = {b20::sign(x)};
    return events{e};
  };
  CHECK(compare(traced(0x7fc00000), traced(0x7fc00000)).same());
  CHECK_FALSE(compare(traced(0x7fc00000), traced(0x7fc00001)).same());
}

TEST_CASE("compare: a repeated operation of which one is missing") {
  auto const repeated = [](int skip, bool change) {
    events out;
    for (int i = 0; i < 8; ++i) {
      if (i == skip) continue;
      auto const n = static_cast<std::uint64_t>(i);
      out.push_back(op(0, n, "same", n, n + 1 + (change && i > 5 ? 100 : 0)));
    }
    return out;
  };
  for (int skip = 0; skip < 8; ++skip) {
    auto const c = compare(repeated(-1, false), repeated(skip, false));
    REQUIRE(c.ranks.at(0).first);
    CHECK(c.ranks[0].first->kind == finding_kind::missing);
    CHECK(c.ranks[0].first->what().sequence == static_cast<std::uint64_t>(skip));
    CHECK(c.ranks[0].count[static_cast<int>(trace::step::equal)] == 7);
  }
  // And one where later ones differ as well.
  auto const c = compare(repeated(-1, false), repeated(3, true));
  CHECK(c.ranks.at(0).first->what().sequence == 3);
  CHECK(c.ranks[0].count[static_cast<int>(trace::step::output_differs)] == 2);
}

TEST_CASE("compare: who is to blame") {
  SUBCASE("one rank of four") {
    auto const c = compare(four_ranks(), four_ranks([](auto& e) { spoil_from(e, 2, 4); }));
    CHECK(c.conclusion == conclusion::few_ranks);
    CHECK(c.verdict.find("op4") != std::string::npos);
    CHECK(c.verdict.find("rank 2 (1 of 4)") != std::string::npos);
    for (auto const& r : c.ranks) CHECK(r.first.has_value() == (r.rank == 2));
  }
  SUBCASE("all ranks, one event") {
    auto const c = compare(four_ranks(), four_ranks([](auto& e) { spoil_from(e, e.rank, 4); }));
    CHECK(c.conclusion == conclusion::every_rank);
    CHECK(c.next.find("operation itself") != std::string::npos);
  }
  SUBCASE("all ranks, several events") {
    auto const c = compare(four_ranks(), four_ranks([](auto& e) { spoil_from(e, e.rank, e.rank); }));
    CHECK(c.conclusion == conclusion::several_events);
  }
  SUBCASE("receivers only") {
    auto const c = compare(four_ranks(), four_ranks([](auto& e) {
                             if (e.sequence == 5) e.inputs[0].digest += 7;
                           }));
    CHECK(c.conclusion == conclusion::receivers_only);
    CHECK(c.ranks[0].first->kind == finding_kind::receiver);
    CHECK_FALSE(c.ranks[0].first->output);
  }
  SUBCASE("one rank only") {
    CHECK(compare({op(0, 0, "a", 1, 2)}, {op(0, 0, "a", 1, 3)}).conclusion == conclusion::one_rank);
  }
  SUBCASE("an origin in an earlier iteration counts, a later one is a consequence") {
    auto const iterations = [](int fault) {
      events out;
      for (std::uint32_t r = 0; r < 2; ++r)
        for (std::uint32_t i = 0; i < 3; ++i) {
          auto e = op(r, 0, "a", i, i);
          e.iteration = i;
          if (fault >= 0 && i >= static_cast<std::uint32_t>(fault) + r) e.outputs[0].digest += 50;
          out.push_back(e);
        }
      return out;
    };
    auto const c = compare(iterations(-1), iterations(1));
    CHECK(c.conclusion == conclusion::few_ranks);
    CHECK(c.verdict.find("iteration 1, microbatch 0: op s / a #0, on rank 0") != std::string::npos);
  }
}

TEST_CASE("compare: a collective is an origin only where no rank's input differs") {
  auto const reduced = [](std::uint64_t of_rank_1, std::uint64_t sum) {
    events out;
    for (std::uint32_t r = 0; r < 3; ++r) {
      auto e = op(r, 0, "all_reduce", r == 1 ? of_rank_1 : r, sum);
      e.kind = "collective";
      out.push_back(e);
    }
    return out;
  };
  auto c = compare(reduced(1, 10), reduced(5, 11));
  CHECK(c.conclusion == conclusion::receivers_only);
  CHECK(c.ranks[0].first->kind == finding_kind::receiver);
  CHECK(c.ranks[0].first->through == 1u);
  c = compare(reduced(1, 10), reduced(1, 11));
  CHECK(c.conclusion == conclusion::every_rank);
}

TEST_CASE("compare: shapes, types, numbers of tensors, evidence") {
  auto const changed = [](std::function<void(trace::event&)> const& change) {
    auto other = op(0, 0, "a", 1, 2);
    change(other);
    auto const c = compare({op(0, 0, "a", 1, 2)}, {other});
    return c.same() ? std::string("same") : c.ranks[0].first->reason;
  };
  CHECK(changed([](auto&) {}) == "same");
  CHECK(changed([](auto& e) { e.outputs[0].shape = {2, 2}; }) == "shape");
  CHECK(changed([](auto& e) { e.outputs[0].dtype = "i32"; }) == "dtype");
  CHECK(changed([](auto& e) { e.outputs[0].name = "z"; }) == "name");
  CHECK(changed([](auto& e) { e.inputs[0].digest = 9; }) == "digest");
  CHECK(changed([](auto& e) { e.outputs.push_back(tensor(3)); }) == "number of tensors");
  CHECK(changed([](auto& e) { e.inputs.clear(); }) == "number of tensors");
  CHECK(changed([](auto& e) { e.outputs[0].seen = trace::evidence::none, e.outputs[0].text = "skipped_oversize"; }) ==
        "evidence (recorded in one trace only)");
  CHECK(changed([](auto& e) { e.outputs[0].text = "0000000000000002"; }) == "digest"); // a text is not a number
}

TEST_CASE("compare: what was not seen is not equal, and not an origin") {
  auto const skipped = [](std::uint64_t out) {
    auto e = op(0, 0, "a", 1, out);
    e.inputs[0].seen = trace::evidence::none, e.inputs[0].text = "skipped_oversize";
    return events{e};
  };
  auto c = compare(skipped(2), skipped(3));
  CHECK(c.ranks[0].first->kind == finding_kind::unproven);
  c = compare(skipped(2), skipped(2));
  CHECK(c.same());
  CHECK(c.unobserved == 1);
  CHECK(c.remarks.size() == 1);

  auto nothing = skipped(2);
  nothing[0].outputs.clear();
  CHECK_THROWS_AS(compare(nothing, nothing), isobit::invalid_argument);
  CHECK_THROWS_AS(compare({}, {}), isobit::invalid_argument);
}

TEST_CASE("compare: another order is a remark, or a difference where it matters") {
  auto b = four_ranks();
  std::swap(b[3].sequence, b[5].sequence);
  auto c = compare(four_ranks(), b);
  CHECK(c.same());
  CHECK(c.remarks.size() == 1);
  c = compare(four_ranks(), b, {.order_matters = true});
  CHECK(c.conclusion == conclusion::control_flow);
  CHECK(c.ranks[0].first->kind == finding_kind::reordered);
}

TEST_CASE("compare: other names of orders are told") {
  auto b = op(0, 0, "a", 1, 3);
  b.order = "isobit.lanes.16.1";
  auto a = op(0, 0, "a", 1, 2);
  a.order = "isobit.tree.1";
  auto const c = compare({a}, {b});
  CHECK(c.next.find("isobit.tree.1  / isobit.lanes.16.1") != std::string::npos);
  b.outputs[0].digest = 2;
  CHECK(compare({a}, {b}).remarks.size() == 1);
}

TEST_CASE("compare: whole ranks and later iterations that are missing") {
  auto b = four_ranks();
  b.erase(b.begin() + 30, b.end());
  auto c = compare(four_ranks(), b);
  CHECK(c.conclusion == conclusion::control_flow);
  CHECK(c.ranks.size() == 4);
  CHECK(c.ranks[3].first->kind == finding_kind::missing);
  c = compare(b, four_ranks());
  CHECK(c.ranks[3].first->kind == finding_kind::extra);
}

TEST_CASE("compare: elements with a sign, a NaN, integers, narrow formats") {
  auto const apart = [](char const* dtype, std::vector<unsigned char> a, std::vector<unsigned char> b) {
    auto const* t = trace::find_element_type(dtype);
    REQUIRE(t != nullptr);
    REQUIRE(a.size() == t->bytes);
    return t->apart(a.data(), b.data());
  };
  CHECK(apart("f32", {0, 0, 0, 0x80}, {0, 0, 0, 0}) == 0u);          // -0, +0
  CHECK(apart("f32", {1, 0, 0, 0x80}, {1, 0, 0, 0}) == 2u);          // across zero
  CHECK_FALSE(apart("f32", {0, 0, 0xc0, 0x7f}, {0, 0, 0x80, 0x3f})); // NaN, 1
  CHECK(apart("torch.bfloat16", {0x80, 0x3f}, {0x82, 0x3f}) == 2u);
  CHECK(apart("e4m3", {0x38}, {0x39}) == 1u);
  CHECK(apart("e8m0", {127}, {120}) == 7u);
  CHECK_FALSE(apart("i32", {1, 0, 0, 0}, {2, 0, 0, 0}));
  CHECK(apart("f64", {0, 0, 0, 0, 0, 0, 0xf0, 0xff}, {0, 0, 0, 0, 0, 0, 0xf0, 0x7f}) == 2 * 0x7ff0000000000000u);
  CHECK(trace::find_element_type("no_such") == nullptr);
}
