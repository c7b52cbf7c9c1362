// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bad input is refused before anything is written.
#include "common.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace scan_test;

TEST_CASE("bad input is refused before anything is written") {
  std::vector<float> x(8, 1.f), out(8, 42.f);
  std::vector<int> const good = {0, 3, 8};
  auto const message = [](auto const& f) -> std::string {
    try {
      f();
    } catch (isobit::invalid_argument const& e) {
      return e.what();
    }
    return "";
  };
  float const* const none = nullptr;
  auto const scan = [&](std::vector<int> const& offsets, int n = 8) {
    return message(
        [&] { isobit::segmented_inclusive_scan(host(), x.data(), n, offsets.data(), offsets.size() - 1, out.data()); });
  };
  CHECK(message([&] { isobit::inclusive_scan(host(), none, 8, out.data()); }) ==
        "isobit::inclusive_scan: x must be non-null when n > 0");
  CHECK(message([&] { isobit::inclusive_scan(host(), x.data(), -1, out.data()); }) ==
        "isobit::inclusive_scan: n must be 0 or more");
  CHECK(message([&] { isobit::inclusive_scan(host(), x.data(), 8, static_cast<float*>(nullptr)); }) != "");
  CHECK(message([&] { isobit::inclusive_scan(host(), x.data(), 7, x.data() + 1); }) ==
        "isobit::inclusive_scan: out must be x itself (of the same type) or an array that does not overlap it");
  CHECK(message([&] { isobit::inclusive_scan(host(), x.data() + 1, 7, x.data()); }) != "");
  CHECK(message([&] { isobit::inclusive_scan(host(), x.data(), 4, x.data() + 4); }) == "");
  CHECK(message([&] {
          isobit::inclusive_scan(host(), reinterpret_cast<float const*>(reinterpret_cast<char*>(x.data()) + 2), 2,
                                 out.data());
        }) == "isobit::inclusive_scan: x must be aligned to 4 bytes");
  CHECK(scan({0, 5, 3, 8}) ==
        "isobit::segmented_inclusive_scan: offsets must be non-decreasing; it falls after entry 1 "
        "(counted from 0)");
  CHECK(scan({-1, 3, 8}) == "isobit::segmented_inclusive_scan: offsets[0] must be 0 or more");
  CHECK(scan({0, 3, 9}) != "");
  CHECK(scan({0, 3, 8}, 7) != "");
  CHECK(message([&] {
          isobit::segmented_inclusive_scan(host(), x.data(), 8, static_cast<int const*>(nullptr), 2, out.data());
        }) == "isobit::segmented_inclusive_scan: offsets must be non-null when segments > 0");
  CHECK(message([&] { isobit::segmented_inclusive_scan(host(), none, 8, good.data(), 2, out.data()); }) != "");
  CHECK(out == std::vector<float>(8, 42.f));
  CHECK(scan(good) == "");
}
