// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `tree`: the default order.
#pragma once

#include <isobit/config.hpp>

namespace isobit::inline bits1 {

//! The balanced binary tree over indices. Name: isobit.tree.1.
//!
//! `node(l, k)` covers the indices [k*2^l, (k+1)*2^l) below n. A leaf is the element. A node is `left + right` where
//! both children cover something, and the child that does where only one does. The result is the root.
//!
//!     n = 7:   ((0 1)(2 3))((4 5) 6)
//!
//! Absent operands are skipped, never replaced by an identity; `left` always has the lower indices.
//! Cost: n - 1 combines, depth ceil(log2 n). This is the canonical expression of WG21 P4016R0 with one lane, and the
//! iterated pairwise expression of P4229R0. Definition as code: order/interpret.hpp; as text: docs/order.md.
struct tree {};

} // namespace isobit::inline bits1
