// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Runs the toy training loop and leaves its trace in a folder, with or without a fault: something to compare.
#include "training.hpp"

#include <cstdio>
#include <cstring>
#include <exception>

int main(int count, char** words) {
  bool const fault = count == 3 && std::strcmp(words[2], "--fault") == 0;
  if (count < 2 || count > 3 || (count == 3 && !fault)) {
    std::fputs(
        "traced_training FOLDER [--fault]   writes the trace of three iterations on four simulated ranks;\n"
        "                                   --fault: one output of rank 1 is wrong by one unit in the last place\n",
        stderr);
    return 2;
  }
  try {
    std::optional<toy::fault> planted;
    if (fault) planted = toy::fault{1, 0, 1, "wgrad", "layers.1", 11};
    toy::training(words[1], planted).run(0, 3);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "traced_training: %s\n", e.what());
    return 2;
  }
}
