// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The recorder: what it writes is what was recorded, in whole lines; digests made by kernels; buffers that are not
//! ready.
#include "folder.hpp"

#include <isobit/fingerprint.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/trace.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include <sys/resource.h>

namespace trace = isobit::trace;
using trace::tensor_of;

namespace {

std::vector<float> some(std::size_t n, float first = 1) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = first + static_cast<float>(i) * 0.5f;
  return x;
}

// Slots "on the device", and how often they were fetched.
struct device {
  std::vector<isobit::digest_sum> slots = std::vector<isobit::digest_sum>(8);
  int transfers = 0;
  auto transfer() {
    return [this](isobit::digest_sum* to, isobit::uint64_t count) {
      ++transfers;
      for (std::size_t i = 0; i < count; ++i) to[i] = slots[i], slots[i] = {};
    };
  }
  // What a kernel of the caller's does: each block adds its part of x.
  void add(isobit::uint64_t slot, float const* x, std::size_t n) {
    isobit::digest_sum* const to = &slots.at(slot);
    isobit::simt::launch(3, 64, [=] {
      constexpr auto at = [] {
        return isobit::machine::block_index().x * isobit::machine::block_extent().x + isobit::machine::thread_index().x;
      };
      isobit::digest_accumulator mine;
      for (std::size_t u = at(); u < n / 4; u += 3 * 64) {
        float v[4];
        for (std::size_t k = 0; k < 4; ++k) v[k] = x[4 * u + k];
        mine.add(v, u);
      }
      isobit::detail::add_atomically(to, mine.sum());
    });
  }
};

std::size_t lines_in(std::string const& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

} // namespace

TEST_CASE("recorder: what was recorded is read back, with isobit's digests") {
  folder const f;
  auto const x = some(100), y = some(64, -3);
  {
    trace::recorder rec({.folder = f.name() + "/deep/er", .rank = 3});
    rec.begin(7, 1);
    rec.add("op", "a \"quoted\" \xc3\xa9", "layers.0")
        .order("isobit.tree.1")
        .recipe("mxfp8<e4m3, floor>")
        .input(tensor_of("x", x.data(), {4, 25}))
        .output(tensor_of("y", y.data(), {64}), {.chunk_bytes = 64, .keep = true});
    rec.add("op", "a \"quoted\" \xc3\xa9", "layers.0");
    rec.add("op", "b");
    rec.begin(7, 2);
    rec.add("op", "b");
    rec.begin(8);
    rec.add("op", "b").output(tensor_of("nothing", x.data(), {0, 5}));
    rec.close();
  }
  trace::log const l = trace::read(f.path() / "deep/er");
  REQUIRE(l.size() == 5);
  auto const e = l[0];
  CHECK(e.rank == 3);
  CHECK(e.iteration == 7);
  CHECK(e.microbatch == 1);
  CHECK(e.name == "a \"quoted\" \xc3\xa9");
  CHECK(e.order == "isobit.tree.1");
  CHECK(e.recipe == "mxfp8<e4m3, floor>");
  REQUIRE(e.inputs.size() == 1);
  CHECK(e.inputs[0].digest == isobit::digest(isobit::host(), x.data(), {4, 25}));
  CHECK(e.inputs[0].shape == std::vector<isobit::uint64_t>{4, 25});
  REQUIRE(e.outputs.size() == 1);
  std::vector<isobit::uint64_t> chunks(4);
  isobit::chunk_digests(isobit::host(), y.data(), 256, 64, chunks.data());
  CHECK(e.outputs[0].chunks == chunks);
  auto const kept = trace::files_in(f.path() / "deep/er")(e, true, 0);
  REQUIRE(kept);
  CHECK(std::memcmp(kept->data(), y.data(), 256) == 0);
  CHECK(l[1].occurrence == 1);
  CHECK(l[2].occurrence == 0);
  CHECK(l[3].microbatch == 2);
  CHECK(l[3].occurrence == 0); // counted in each microbatch
  CHECK(l[3].sequence == 3);
  CHECK(l[4].iteration == 8);
  CHECK(l[4].sequence == 0);
  CHECK(l[4].outputs.at(0).count == 0);
}

TEST_CASE("recorder: kernels' digests, fetched by one transfer a flush, equal the host's") {
  folder const f;
  device d;
  auto const x = some(1000), y = some(512, 9);
  trace::recorder rec({.folder = f.name(), .slots = 8, .transfer = d.transfer()});
  rec.begin(0);
  for (int i = 0; i < 3; ++i) {
    auto e = rec.add("op", "scale");
    d.add(e.device_input(tensor_of("x", x.data(), {1000})), x.data(), x.size());
    d.add(e.device_output(tensor_of("y", y.data(), {512})), y.data(), y.size());
  }
  CHECK(d.transfers == 0);
  CHECK(f.read("rank00000_iter000000.jsonl").empty()); // nothing is written before the flush
  rec.flush();
  CHECK(d.transfers == 1);
  auto const text = f.read("rank00000_iter000000.jsonl");
  CHECK(lines_in(text) == 3);
  CHECK(text.back() == '\n');
  rec.flush();
  CHECK(d.transfers == 1); // nothing to fetch
  rec.close();
  trace::log const l = trace::read(f.path());
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(l[i].inputs.at(0).digest == isobit::digest(isobit::host(), x.data(), {1000}));
    CHECK(l[i].outputs.at(0).digest == isobit::digest(isobit::host(), y.data(), {512}));
  }
}

TEST_CASE("recorder: when the slots run out in the middle of an event, the event stays whole") {
  folder const f;
  device d;
  auto const x = some(64);
  trace::recorder rec({.folder = f.name(), .slots = 8, .transfer = d.transfer()});
  rec.begin(0);
  for (int i = 0; i < 3; ++i) { // 9 chunk slots
    auto e = rec.add("op", "a");
    for (int k = 0; k < 3; ++k) d.add(e.device_output(tensor_of("x", x.data(), {64})), x.data(), x.size());
  }
  CHECK(d.transfers == 1);
  auto e = rec.add("op", "chunked");
  auto const first = e.device_output(tensor_of("x", x.data(), {64}), 64);
  std::vector<isobit::digest_sum> sums(4);
  isobit::chunk_sums(isobit::host(), x.data(), 256, 64, sums.data());
  for (std::size_t c = 0; c < 4; ++c) d.slots.at(first + c) = sums[c];
  rec.close();
  trace::log const l = trace::read(f.path());
  REQUIRE(l.size() == 4);
  for (std::size_t i = 0; i < 3; ++i) {
    REQUIRE(l[i].outputs.size() == 3);
    for (auto const& s : l[i].outputs) CHECK(s.digest == isobit::digest(isobit::host(), x.data(), {64}));
  }
  CHECK(l[3].outputs.at(0).digest == l[0].outputs[0].digest);
  std::vector<isobit::uint64_t> chunks(4);
  isobit::chunk_digests(isobit::host(), x.data(), 256, 64, chunks.data());
  CHECK(l[3].outputs[0].chunks == chunks);
  CHECK_THROWS_AS(rec.add("op", "closed"), isobit::invalid_argument);
}

TEST_CASE("recorder: a slot that no kernel added to is refused, not recorded as a digest") {
  folder const f;
  device d;
  auto const x = some(64);
  trace::recorder rec({.folder = f.name(), .slots = 8, .transfer = d.transfer()});
  rec.begin(0);
  rec.add("op", "a").device_output(tensor_of("x", x.data(), {64}));
  CHECK_THROWS_WITH_AS(rec.flush(), doctest::Contains("nothing was added to the slot of x"), trace::error);
}

TEST_CASE("recorder: a fence that says no") {
  auto const x = some(16), y = some(16);
  auto state = trace::buffer_state::ready;
  auto const fence = [&](void const* data, isobit::uint64_t bytes) {
    CHECK(bytes == 64);
    return data == y.data() ? state : trace::buffer_state::ready;
  };
  SUBCASE("refused: nothing of the event is recorded, and the next one takes its place") {
    folder const f;
    device d;
    trace::recorder rec({.folder = f.name(), .transfer = d.transfer(), .fence = fence});
    rec.begin(0);
    state = trace::buffer_state::in_flight;
    auto e = rec.add("op", "a");
    e.device_input(tensor_of("x", x.data(), {16}));
    CHECK_THROWS_WITH_AS(e.output(tensor_of("y", y.data(), {16})), doctest::Contains("still being written"),
                         trace::not_ready);
    CHECK_THROWS_AS(e.output(tensor_of("y", y.data(), {16})), isobit::invalid_argument);
    state = trace::buffer_state::uninitialised;
    CHECK_THROWS_WITH_AS(rec.add("op", "a").device_output(tensor_of("y", y.data(), {16})),
                         doctest::Contains("not initialised"), trace::not_ready);
    state = trace::buffer_state::ready;
    rec.add("op", "a").output(tensor_of("y", y.data(), {16}));
    d.slots.assign(8, {1, 1});
    rec.close();
    trace::log const l = trace::read(f.path());
    REQUIRE(l.size() == 1);
    CHECK(l[0].occurrence == 0);
    CHECK(l[0].inputs.empty());
    CHECK(l[0].outputs.size() == 1);
  }
  SUBCASE("marked") {
    folder const f;
    trace::recorder rec({.folder = f.name(), .fence = fence, .mark_not_ready = true});
    rec.begin(0);
    state = trace::buffer_state::in_flight;
    rec.add("op", "a").input(tensor_of("x", x.data(), {16})).output(tensor_of("y", y.data(), {16}));
    rec.close();
    auto const e = trace::read(f.path())[0];
    CHECK(e.inputs.at(0).seen == trace::evidence::full);
    CHECK(e.outputs.at(0).seen == trace::evidence::none);
    CHECK(e.outputs.at(0).text == "skipped_in_flight");
  }
}

TEST_CASE("recorder: a full disk leaves whole lines") {
  folder const f;
  auto const x = some(4);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  auto const ignored = std::signal(SIGXFSZ, SIG_IGN);
  {
    trace::recorder rec({.folder = f.name()});
    rec.begin(0);
    rec.add("op", "a").output(tensor_of("x", x.data(), {4}));
    rec.flush();
    std::size_t const one = f.read("rank00000_iter000000.jsonl").size();
    rlimit tight = old;
    tight.rlim_cur = one * 5 / 2;
    setrlimit(RLIMIT_FSIZE, &tight);
    for (int i = 0; i < 3; ++i) rec.add("op", "a").output(tensor_of("x", x.data(), {4}));
    CHECK_THROWS_AS(rec.flush(), trace::error);
    CHECK(f.read("rank00000_iter000000.jsonl").size() == one);
    CHECK(trace::read(f.path()).size() == 1);
    setrlimit(RLIMIT_FSIZE, &old);
    rec.close(); // the events were kept
    CHECK(trace::read(f.path()).size() == 4);
  }
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, ignored);
}

TEST_CASE("recorder: files that are there, misuse") {
  folder const f;
  auto const x = some(4);
  for (int run = 0; run < 2; ++run) {
    trace::recorder rec({.folder = f.name(), .replace = run == 1});
    rec.begin(0);
    rec.add("op", "a").output(tensor_of("x", x.data(), {4}));
  }
  CHECK(trace::read(f.path()).size() == 1);
  trace::recorder rec({.folder = f.name()});
  CHECK_THROWS_AS(rec.begin(0), trace::error);
  CHECK_THROWS_AS(rec.add("op", "a"), isobit::invalid_argument);
  rec.begin(1);
  CHECK_THROWS_AS(rec.add("", "a"), isobit::invalid_argument);
  CHECK_THROWS_AS(rec.add("op", "\xff"), isobit::invalid_argument);
  auto first = rec.add("op", "a");
  auto second = rec.add("op", "b");
  CHECK_THROWS_AS(first.output(tensor_of("x", x.data(), {4})), isobit::invalid_argument); // "b" has begun
  CHECK_THROWS_AS(second.output(tensor_of("x", static_cast<float const*>(nullptr), {4})), isobit::invalid_argument);
  auto third = rec.add("op", "c");
  CHECK_THROWS_AS(third.output(tensor_of("x", x.data(), {4}), {.chunk_bytes = 24}), isobit::invalid_argument);
  CHECK_THROWS_AS(rec.add("op", "d").device_output(tensor_of("x", x.data(), {4})), isobit::invalid_argument);
  rec.flush();
  CHECK_THROWS_AS(first.output(tensor_of("x", x.data(), {4})), isobit::invalid_argument); // its line is written
  CHECK_THROWS_AS(trace::recorder({.folder = ""}), isobit::invalid_argument);
  CHECK_THROWS_AS(trace::recorder({.folder = "/proc/none"}), trace::error);
  rec.close();
  CHECK(trace::read(f.path()).size() == 2); // iteration 0, and "a"
}
