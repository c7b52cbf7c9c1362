// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel strings compiled by NVRTC, executed by the interpreter of tests/ptx: the host's bits under any flag. The
// strings are the example's and the one that docs/nvrtc.md shows.
#include <doctest/doctest.h>

#include "../../examples/nvrtc/compile.hpp"
#include "../../examples/nvrtc/kernel.hpp"
#include "../ptx/interpreter.hpp"

#include <isobit/testing/adversarial.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <fstream>
#include <sstream>

namespace {

using strings = std::vector<std::string>;

jit::compiled compile(std::string const& text, strings more = {}) {
  strings options{"--std=c++20", "-I" ISOBIT_INCLUDE, "-I" CUDA_INCLUDE "/cccl"};
  options.insert(options.end(), more.begin(), more.end());
  return jit::compile(text, "row_norms<256>", options);
}

std::vector<float> on_ptx(jit::compiled const& c, std::vector<float> const& x, int columns, unsigned width) {
  std::vector<float> out(x.size() / std::size_t(columns), -1.0f);
  ptx::module const module(c.ptx);
  ptx::run(module.find({c.name}), {static_cast<unsigned>(out.size()), width, 0},
           ptx::arguments().add(x.data()).add(out.data()).add(columns));
  return out;
}

// The kernel in the page: the Python string r"""...""".
std::string text_in_docs() {
  std::ifstream file(ISOBIT_INCLUDE "/../docs/nvrtc.md");
  std::stringstream page;
  page << file.rdbuf();
  std::string const all = page.str(), open = "r\"\"\"";
  auto const begin = all.find(open);
  REQUIRE(begin != std::string::npos);
  auto const end = all.find("\"\"\"", begin + open.size());
  REQUIRE(end != std::string::npos);
  return all.substr(begin + open.size(), end - begin - open.size());
}

void same_bits(std::string const& text, strings const& options) {
  int const columns = 301;
  auto const x = isobit::testing::elements(isobit::testing::wide_exponents<float>{3}, std::size_t(2 * columns));
  auto const expected = row_norms_on_host(x, columns);
  auto const compiled = compile(text, options);
  CHECK(compiled.ptx.find(".ftz") == std::string::npos);
  for (unsigned width : {1u, 33u, 96u, 256u}) {
    CAPTURE(width);
    CHECK(isobit::testing::bits_equal(on_ptx(compiled, x, columns, width), expected));
  }
}

} // namespace

TEST_SUITE("NVRTC") {
  TEST_CASE("the example's kernel, under the flags that change arithmetic") {
    same_bits(row_norms_text, {"--gpu-architecture=compute_75"});
    same_bits(row_norms_text, {"--gpu-architecture=compute_90", "--use_fast_math", "--fmad=true", "--ftz=true"});
  }

  TEST_CASE("the kernel that the documentation shows") {
    auto const text = text_in_docs();
    REQUIRE(text.find("row_norms") != std::string::npos);
    same_bits(text, {"--gpu-architecture=compute_90"});
  }

  TEST_CASE("control: operators instead of isobit's functions are at the mercy of the flags") {
    std::string text = row_norms_text;
    std::string const product = "isobit::mul(row[i], row[i])";
    text.replace(text.find(product), product.size(), "row[i] * row[i]");
    auto const compiled = compile(text, {"--gpu-architecture=compute_90", "--use_fast_math"});
    CHECK(compiled.ptx.find(".ftz") != std::string::npos);
  }

  TEST_CASE("a mistake is reported with NVRTC's log") {
    CHECK_THROWS_WITH_AS(compile("#include <isobit/none.hpp>\n"), doctest::Contains("isobit/none.hpp"),
                         std::runtime_error);
  }
}
