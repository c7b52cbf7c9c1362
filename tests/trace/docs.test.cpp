// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The lines that docs/traces.md shows are lines of the three layouts.
#include "folder.hpp"

#include <isobit/trace.hpp>

#include <doctest/doctest.h>

#include <string>

namespace trace = isobit::trace;

TEST_CASE("docs: every JSON block of docs/traces.md is a trace") {
  std::ifstream in("docs/traces.md", std::ios::binary);
  std::string const page{std::istreambuf_iterator<char>(in), {}};
  REQUIRE(!page.empty()); // tests run in the repository's root
  std::vector<trace::layout> seen;
  std::string const begin = "\n```json\n";
  for (std::size_t at = page.find(begin); at != page.npos; at = page.find(begin, at + 1)) {
    std::size_t const first = at + begin.size(), end = page.find("```\n", first);
    folder const f;
    auto const l = trace::read(f.write("block.jsonl", page.substr(first, end - first)));
    seen.push_back(l.layout());
    if (l.layout() == trace::layout::isobit) {
      CHECK(l[0].outputs.at(0).chunks.size() == 2);
      std::string line; // and it is what a recorder writes
      trace::append_line(line, l[0]);
      CHECK(line == page.substr(first, end - first));
    }
  }
  CHECK(seen == std::vector{trace::layout::isobit, trace::layout::per_op, trace::layout::event_tensor});
}
