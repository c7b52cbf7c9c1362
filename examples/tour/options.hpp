// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The tour's command line.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tour {

struct options {
  std::string data;
  unsigned seeds = 3;
  bool control = false;
  bool help = false;

  static constexpr std::string_view usage =
      "Computes sums, norms, scans, MXFP8 copies and digests of model tensors on every target that is here,\n"
      "and compares all results bit for bit.\n"
      "\n"
      "  --data FILE   a safetensors file (default: the part of all-MiniLM-L6-v2 that comes with isobit)\n"
      "  --seeds N     schedules to simulate for each launch geometry, 1 to 1000 (default 3)\n"
      "  --control     flip one bit of what the simulated GPU reads: must end in \"same bits: NO\" and exit status 1\n"
      "  --help        this text\n"
      "\n"
      "Exit status: 0 same bits everywhere, 1 a difference, 2 wrong use or unreadable data.\n";

  //! Throws std::invalid_argument with one sentence.
  static options parse(int count, char const* const* words, std::string default_data) {
    options result;
    result.data = std::move(default_data);
    for (int i = 1; i < count; ++i) {
      std::string_view const word = words[i];
      auto const value = [&] {
        if (i + 1 == count) throw std::invalid_argument(std::string(word) + " needs a value");
        return std::string_view(words[++i]);
      };
      if (word == "--data")
        result.data = value();
      else if (word == "--seeds")
        result.seeds = number(word, value(), 1, 1000);
      else if (word == "--control")
        result.control = true;
      else if (word == "--help" || word == "-h")
        result.help = true;
      else
        throw std::invalid_argument("unknown option " + std::string(word) + " (try --help)");
    }
    return result;
  }

private:
  static unsigned number(std::string_view name, std::string_view text, unsigned least, unsigned most) {
    unsigned n = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc{} || end != text.data() + text.size() || n < least || n > most)
      throw std::invalid_argument(std::string(name) + " needs a number from " + std::to_string(least) + " to " +
                                  std::to_string(most));
    return n;
  }
};

} // namespace tour
