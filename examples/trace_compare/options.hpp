// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The command line of trace_compare.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace trace_compare {

struct options {
  std::string a, b, html;
  bool json = false, bytes = true, order = false, color = true, help = false;

  static constexpr std::string_view usage =
      "Finds the first event at which two traces differ, on each rank, and says what to look at next.\n"
      "\n"
      "  trace_compare A B      two files, or two folders of .jsonl files; layouts: isobit, per-op, event/tensor\n"
      "\n"
      "  --html FILE   also write a page with a timeline of ranks and events\n"
      "  --json        print the result as JSON\n"
      "  --no-bytes    leave the kept bytes of tensors alone\n"
      "  --order       events that come in another order are a difference\n"
      "  --no-color    no colours (nor where the output is no terminal, or NO_COLOR is set)\n"
      "  --help        this text\n"
      "\n"
      "Exit status: 0 the same, 1 a difference, 2 a malformed trace, nothing to compare, or wrong use.\n";

  //! Throws std::invalid_argument with one sentence.
  static options parse(int count, char const* const* words) {
    options o;
    int files = 0;
    for (int i = 1; i < count; ++i) {
      std::string_view const word = words[i];
      if (word == "--html") {
        if (i + 1 == count) throw std::invalid_argument("--html needs a file name");
        o.html = words[++i];
      } else if (word == "--json") {
        o.json = true;
      } else if (word == "--no-bytes") {
        o.bytes = false;
      } else if (word == "--order") {
        o.order = true;
      } else if (word == "--no-color") {
        o.color = false;
      } else if (word == "--help" || word == "-h") {
        o.help = true;
      } else if (word.size() > 1 && word[0] == '-') {
        throw std::invalid_argument("unknown option " + std::string(word) + " (try --help)");
      } else if (files < 2) {
        (files++ == 0 ? o.a : o.b) = word;
      } else {
        throw std::invalid_argument("more than two traces (try --help)");
      }
    }
    if (!o.help && files < 2) throw std::invalid_argument("two traces are needed (try --help)");
    return o;
  }
};

} // namespace trace_compare
