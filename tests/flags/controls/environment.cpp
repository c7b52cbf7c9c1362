// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linked with -ffast-math, a program starts with subnormals flushed; the guard undoes that and puts it back.
// Prints what it found: "start flushed|default", "unguarded flushed|kept", "guarded ...", "after flushed|default".
#include <isobit/arith/env.hpp>
#include <isobit/arith/op.hpp>

#include <cstdio>

namespace {
float volatile smallest_normal = 0x1p-126f, half = 0.5f;
char const* product() { return isobit::is_zero(isobit::mul(smallest_normal, half)) ? "flushed" : "kept"; }
char const* state() { return isobit::environment_is_default() ? "default" : "flushed"; }
} // namespace

int main() {
  std::printf("start %s\n", state());
  std::printf("unguarded %s\n", product());
  std::printf("guarded %s\n", isobit::with_default_environment([] { return product(); }));
  std::printf("after %s\n", state());
}
