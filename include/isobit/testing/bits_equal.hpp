// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `bits_equal`: two results have the same bits, or a report says where they do not.
#pragma once

#include <isobit/testing/outputs.hpp>
#include <isobit/testing/verdict.hpp>

namespace isobit::inline bits1::testing {

//! Passes when `a` and `b` (see `outputs_of`) have the same number of elements, at least one, of the same type and with
//! the same bits: -0 and +0 differ, NaNs with different payloads differ. The report has the counts, the first differing
//! element, its chunk of `chunk` elements, both bit patterns, values and classes, and the distance.
//!
//!     CHECK(isobit::testing::bits_equal(out, wanted));
template <class A, class B> [[nodiscard]] verdict bits_equal(A const& a, B const& b, uint64_t chunk = 1024) {
  verdict v("bits_equal");
  detail::comparison const c = detail::compare(outputs_of(a), outputs_of(b), chunk);
  v.add_compared(c.compared).first_difference(c.different, c.output, c.index);
  if (!c.equal()) v.fail(c.text);
  return v;
}

} // namespace isobit::inline bits1::testing
