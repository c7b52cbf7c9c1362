// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What a scan stores for element i: the fold up to and with it (inclusive) or up to the one before it (exclusive); and
//! whether an initial value stands to the left of everything.
#pragma once

#include <isobit/algo/fold_thread.hpp>
#include <isobit/format/element.hpp>

namespace isobit::inline bits1::detail {

struct no_initial {};
template <class State> struct initial_state {
  State state;
};

template <bool Exclusive, class Initial = no_initial> struct scan_form {
  static constexpr bool exclusive = Exclusive;
  static constexpr bool has_initial = !stl::same_as<Initial, no_initial>;
  Initial initial{};
};

template <class T, class Acc>
concept initial_for = stl::same_as<T, no_initial> || stl::same_as<T, typename Acc::state> ||
                      requires(T const x) { static_cast<typename Acc::input>(decode_element(x)); };

// The form for a caller's initial value: a state of the accumulator as it is, anything else as an element.
template <bool Exclusive, class Acc> ISOBIT_HD constexpr scan_form<Exclusive> make_form(Acc const&, no_initial) {
  return {};
}
ISOBIT_CALLS_USER_CODE
template <bool Exclusive, class Acc, class T>
ISOBIT_HD constexpr auto make_form(Acc const& acc, T const& initial) {
  using state = typename Acc::state;
  if constexpr (stl::same_as<T, state>)
    return scan_form<Exclusive, initial_state<state>>{{initial}};
  else if constexpr (initial_for<T, Acc>)
    return scan_form<Exclusive, initial_state<state>>{{acc.lift(static_cast<typename Acc::input>(decode_element(initial)))}};
  else
    return scan_form<Exclusive>{}; // the caller says what is wrong
}

// The fold of everything before some element, of which an exclusive scan stores the result; nothing for others.
template <class Form, class State> struct before_first {
  ISOBIT_CALLS_USER_CODE
  template <class Acc> ISOBIT_HD constexpr void prepend(Acc const&, State const&) {}
  ISOBIT_HD constexpr void set(State const&) {}
};
template <class Initial, class State> struct before_first<scan_form<true, Initial>, State> {
  State state{};
  bool present = false;
  ISOBIT_CALLS_USER_CODE
  template <class Acc> ISOBIT_HD constexpr void prepend(Acc const& acc, State const& node) {
    state = present ? acc.combine(node, state) : node;
    present = true;
  }
  ISOBIT_HD constexpr void set(State const& s) {
    state = s;
    present = true;
  }
  ISOBIT_CALLS_USER_CODE
  template <class Acc> ISOBIT_HD constexpr typename Acc::result result(Acc const& acc) const {
    return present ? acc.finish(state) : acc.empty();
  }
};

} // namespace isobit::inline bits1::detail
