// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Reading: isobit's own lines, the two layouts of other recorders, and everything that must be refused.
#include "folder.hpp"

#include <isobit/trace.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace trace = isobit::trace;

namespace {

std::string aten(int seq, std::string const& name, int occurrence, std::string const& scope, std::string const& digest,
                 std::string const& more = "") {
  return R"({"schema_version":1,"seq":)" + std::to_string(seq) + R"(,"rank":0,"iteration":2,"kind":"op","name":")" +
         name + R"(","payload":{"id":"aten:)" + name + ":" + std::to_string(occurrence) + R"(","scope":")" + scope +
         R"(",)" + more + R"("out":[{"shape":[2,3],"dtype":"torch.float32","numel":6,"digest":")" + digest + "\"}]}}\n";
}
constexpr char const* d1 = "00000000000000aa";
constexpr char const* d2 = "00000000000000bb";

std::string tensor_line(int sequence, std::string const& name, std::string const& evidence,
                        std::string const& iteration = "1") {
  return R"({"event":"tensor","iteration":)" + iteration + R"(,"microbatch":null,"name":")" + name +
         R"(","occurrence":0,"phase":"forward","rank":0,"schema_version":1,"sequence":)" + std::to_string(sequence) +
         R"(,"metadata":{"layer": 3},"tensor":{"shape":[2],"stride":[1],"dtype":"torch.bfloat16","layout":"torch.strided",)"
         R"("device_type":"cuda","numel":2,"requires_grad":false,)" +
         evidence + "}}\n";
}
std::string full(char c) {
  return R"("mode":"full","value_observed":true,"exact_value_certificate":true,"captured_numel":2,"all_finite":true,"sha256":")" +
         std::string(64, c) + "\"";
}
std::string sampled(char c) {
  return R"("mode":"sampled","value_observed":true,"exact_value_certificate":false,"captured_numel":1,"sample_indices":[0],"all_finite":true,"sha256":")" +
         std::string(64, c) + "\"";
}
constexpr char const* metadata = R"("mode":"metadata","value_observed":false,"exact_value_certificate":false)";

trace::log read(std::string const& text) {
  folder const f;
  return trace::read(f.write("trace.jsonl", text));
}
std::string refusal(std::string const& text, std::string const& file = "trace.jsonl") {
  folder const f;
  std::string const path = f.write(file, text);
  try {
    (void)trace::read(path);
  } catch (trace::error const& e) {
    CHECK(e.file() == path);
    CHECK(std::string(e.what()).find(path) == 0);
    return std::string(e.what()).substr(path.size());
  }
  return "accepted";
}
bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

std::string own(int sequence, std::string const& name, std::string const& rest = "") {
  return R"({"isobit_trace":1,"rank":0,"iteration":0,"microbatch":0,"sequence":)" + std::to_string(sequence) +
         R"(,"kind":"op","name":")" + name + R"(","scope":"","occurrence":0,"in":[],"out":[)" + rest + "]}\n";
}

} // namespace

TEST_CASE("layouts: per-op") {
  auto const l = read(aten(0, "mm", 0, "layers.0", d1,
                           R"("in":[{"shape":[],"dtype":"torch.int64","numel":1,"digest":"skipped_oversize"}],)") +
                      aten(1, "slice", 0, "layers.0", d1) + aten(2, "slice", 1, "layers.1", d2));
  CHECK(l.layout() == trace::layout::per_op);
  REQUIRE(l.size() == 3);
  CHECK(l[0].inputs_recorded);
  CHECK(l[0].inputs.at(0).seen == trace::evidence::none);
  CHECK(l[0].inputs[0].text == "skipped_oversize");
  CHECK(l[0].outputs.at(0).digest == 0xaa);
  CHECK(l[0].outputs[0].count == 6);
  CHECK(l[0].scope == "layers.0");
  CHECK(l[0].iteration == 2);
  CHECK(l[0].microbatch == trace::no_number);
  CHECK_FALSE(l[1].inputs_recorded);
  CHECK(l[2].occurrence == 0); // counted within its scope
}

TEST_CASE("layouts: per-op: a missing slice does not rename those of later scopes") {
  auto const a = read(aten(0, "slice", 0, "layers.0", d1) + aten(1, "slice", 1, "layers.1", d1) +
                      aten(2, "slice", 2, "layers.2", d2));
  auto const b = read(aten(0, "slice", 0, "layers.0", d1) + aten(1, "slice", 1, "layers.2", d2));
  auto const c = trace::compare(a, b);
  CHECK(c.conclusion == trace::conclusion::control_flow);
  CHECK(c.ranks.at(0).first->what().scope == "layers.1");
  CHECK(c.ranks[0].count[static_cast<int>(trace::step::equal)] == 2);
}

TEST_CASE("layouts: per-op: without inputs nothing is an origin, and what is unknown is compared") {
  auto const changed = [](std::string const& text) {
    return trace::compare(read(aten(0, "mm", 0, "s", d1)), read(text));
  };
  CHECK(changed(aten(0, "mm", 0, "s", d1)).same());
  CHECK(changed(aten(0, "mm", 0, "s", d2)).ranks.at(0).first->kind == trace::finding_kind::unproven);
  CHECK_FALSE(changed(aten(0, "mm", 0, "s", d1, R"("stream":7,)")).same());
  auto const collective = [](int bytes) {
    return read(
        R"({"schema_version":1,"seq":0,"rank":0,"iteration":0,"kind":"collective","name":"c","payload":{"id":"c:0","bytes":)" +
        std::to_string(bytes) + "}}\n" +
        R"({"schema_version":1,"seq":1,"rank":0,"iteration":0,"kind":"op","name":"o","payload":{"id":"aten:o:0","out":[]}})" +
        "\n");
  };
  CHECK(trace::compare(collective(8), collective(8)).same());
  CHECK_FALSE(trace::compare(collective(8), collective(9)).same());
}

TEST_CASE("layouts: per-op: two schema versions are not compared") {
  std::string later = aten(0, "mm", 0, "s", d1);
  later.replace(later.find("version\":1") + 9, 1, "2");
  CHECK_THROWS_AS(trace::compare(read(aten(0, "mm", 0, "s", d1)), read(later)), isobit::invalid_argument);
  CHECK(has(refusal(aten(0, "mm", 0, "s", d1) + later), ":2: schema 2 in a trace of schema 1"));
  CHECK_THROWS_AS(trace::compare(read(aten(0, "mm", 0, "s", d1)), read(own(0, "mm"))), isobit::invalid_argument);
}

TEST_CASE("layouts: event/tensor") {
  std::string const event =
      R"({"event":"event","iteration":1,"microbatch":0,"name":"step","occurrence":0,"phase":"optim","rank":0,)"
      R"("schema_version":1,"sequence":9,"fields":{"lr": 0.1, "text": "a b"}})"
      "\n";
  auto const text = tensor_line(0, "a", full('1')) + tensor_line(1, "b", metadata) +
                    tensor_line(2, "c", sampled('2'), "null") + event;
  auto const l = read(text);
  CHECK(l.layout() == trace::layout::event_tensor);
  REQUIRE(l.size() == 4);
  CHECK(l[0].kind == "tensor");
  CHECK(l[0].scope == "forward");
  CHECK(l[0].microbatch == trace::no_number);
  CHECK(l[0].outputs.at(0).text == std::string(64, '1'));
  CHECK(l[1].outputs.at(0).seen == trace::evidence::none);
  CHECK(l[2].kind == "event");
  CHECK(l[2].outputs.at(0).text == R"({"lr":0.1,"text":"a b"})");
  CHECK(l[3].iteration == trace::no_number);
  CHECK(l[3].outputs.at(0).seen == trace::evidence::partial);

  auto const changed = [&](std::string const& from, std::string const& to) {
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    return trace::compare(l, read(other));
  };
  auto const same = trace::compare(l, read(text));
  CHECK(same.same());
  CHECK(same.partial == 1);
  CHECK(same.unobserved == 1);
  CHECK(changed(std::string(64, '1'), std::string(64, '3')).ranks.at(0).first->kind == trace::finding_kind::unproven);
  CHECK_FALSE(changed(std::string(64, '2'), std::string(64, '3')).same());
  CHECK_FALSE(changed("0.1", "0.2").same());
  CHECK_FALSE(changed("\"a b\"", "\"ab\"").same());
  CHECK_FALSE(changed("\"layer\": 3", "\"layer\": 4").same());
  CHECK(changed("\"layer\": 3", "\"layer\":3").same());
  CHECK(changed("\"stride\":[1]", "\"stride\":[2]").same());
}

TEST_CASE("layouts: event/tensor: evidence that contradicts itself is refused") {
  auto const bad = [](std::string const& evidence) { return refusal(tensor_line(0, "a", evidence)); };
  CHECK(has(bad(R"("mode":"full","value_observed":false,"exact_value_certificate":true,"sha256":")" +
                std::string(64, '1') + "\""),
            "contradicts"));
  CHECK(has(bad(R"("mode":"full","value_observed":true,"exact_value_certificate":true)"), "does not belong"));
  CHECK(has(bad(R"("mode":"metadata","value_observed":false,"exact_value_certificate":false,"sha256":")" +
                std::string(64, '1') + "\""),
            "does not belong"));
  CHECK(has(bad(R"("mode":"guess","value_observed":true,"exact_value_certificate":false)"), "unknown mode"));
  CHECK(has(bad(R"("mode":"full","value_observed":true,"exact_value_certificate":true,"sha256":"12")"),
            "64 hexadecimal"));
  CHECK(has(bad(R"("mode":"full","value_observed":true)"), "is missing"));
}

TEST_CASE("layouts: what is refused, with its line") {
  std::string const good = own(0, "a");
  CHECK(has(refusal(good + "{}\n"), ":2: byte "));
  CHECK(has(refusal(good + own(1, "a")), ":2: the same name as in"));
  CHECK(has(refusal(own(1, "a") + own(1, "b")), ":2: the same sequence number as in"));
  CHECK(has(refusal(good + aten(1, "mm", 0, "s", d1)), ":2: the per-op layout in a trace of the isobit layout"));
  CHECK(has(refusal(good + tensor_line(1, "x", metadata)), ":2: the event/tensor layout"));
  CHECK(has(refusal(good.substr(0, good.size() - 1)), ":1: the last line has no end"));
  CHECK(has(refusal(""), ": no event in this trace"));
  CHECK(has(refusal("[]\n"), ":1: byte 1"));
  CHECK(has(refusal(good + good.substr(0, 20) + "\n"), ":2: byte 21"));
  CHECK(has(refusal(good, "rank00001_iter000000.jsonl"), ":1: another rank than the file's name says"));
  CHECK(has(refusal(good, "rank00000_iter000003.jsonl"), ":1: another iteration"));
  CHECK(has(refusal(good, "rank_000002.jsonl"), ":1: another rank"));
  CHECK(refusal(good, "rank00000_iter000000.jsonl") == "accepted");
  CHECK(refusal(good, "rank_what.jsonl") == "accepted");

  auto const tensor = [](std::string const& s) { return refusal(own(0, "a", s)); };
  CHECK(tensor(R"({"dtype":"f32","shape":[2],"count":2,"digest":"00000000000000aa"})") == "accepted");
  CHECK(has(tensor(R"({"dtype":"f32","shape":[2],"count":2,"digest":"00000000000000AA"})"), "lower case"));
  CHECK(has(tensor(R"({"dtype":"f32","shape":[2],"count":2,"digest":"aa"})"), "16 hexadecimal"));
  CHECK(has(tensor(R"({"dtype":"f32","shape":[2],"count":2})"), "\"digest\" is missing"));
  CHECK(
      has(tensor(R"({"dtype":"f32","dtype":"f32","shape":[2],"count":2,"digest":"00000000000000aa"})"), "there twice"));
  CHECK(has(tensor(R"({"dtype":"f32","shape":[4294967296,4294967296],"count":0,"digest":"00000000000000aa"})"),
            "product"));
  CHECK(
      has(tensor(R"({"dtype":"f32","shape":[2],"count":2,"digest":"00000000000000aa","chunks":[]})"), "come together"));
  CHECK(has(tensor(R"({"dtype":"f32","shape":[2],"count":2,"digest":"00000000000000aa","chunk_bytes":8,"chunks":[]})"),
            "multiple of 16"));
  for (char const* path : {"/etc/passwd", "../x", "a/../../x", "..", "a/.."})
    CHECK(has(tensor(std::string(R"({"dtype":"f32","shape":[2],"count":2,"digest":"00000000000000aa","data":")") +
                     path + "\"}"),
              "within the trace's folder"));
}

TEST_CASE("layouts: folders") {
  folder const f;
  CHECK_THROWS_AS(trace::read(f.path()), trace::error); // no file
  f.write("b.jsonl", own(1, "b"));
  f.write("a.jsonl", own(0, "a"));
  f.write("notes.txt", "not a trace");
  auto const l = trace::read(f.path());
  CHECK(l.size() == 2);
  CHECK(l[1].name == "b");
  CHECK(l.origin(1).first == (f.path() / "b.jsonl").string());
  CHECK(l.origin(1).second == 1);
  f.write("c.jsonl", own(0, "a"));
  CHECK_THROWS_WITH_AS(trace::read(f.path()), doctest::Contains("c.jsonl:1: the same sequence number as in"),
                       trace::error);
  CHECK_THROWS_AS(trace::read(f.path() / "none.jsonl"), trace::error);
}

TEST_CASE("layouts: lines longer than the buffer, and lines that end with it") {
  for (std::size_t const length : {1000u, 262143u, 262144u, 262145u, 600000u}) {
    auto const l = read(own(0, "a") + own(1, std::string(length, 'n')) + own(2, "c"));
    REQUIRE(l.size() == 3);
    CHECK(l[1].name.size() == length);
    CHECK(l[2].name == "c");
  }
}
