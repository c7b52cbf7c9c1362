// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Launchers of scans: a stream and the caller's workspace; no allocation, no synchronisation, safe to capture in a CUDA
//! graph and to replay.
#pragma once

#include <isobit/algo/scan.hpp>
#include <isobit/device/launch.cuh>
#include <isobit/device/whole_scan_kernel.hpp>

namespace isobit::inline bits1::device {

namespace detail {

using isobit::detail::no_initial;
using isobit::detail::plain_sum;

//! At most this many chunks are scanned in two passes (docs/scan.md has the counts behind it).
inline constexpr uint64_t two_pass_chunks = 256;

template <class Form, class Load, class Store, class Acc>
void launch_scan(char const* name, cudaStream_t stream, void* memory, uint64_t n, Form const& form, Load const& load,
                 Store const& store, Acc const& acc) {
  using state = typename Acc::state;
  if (n == 0) return;
  uint64_t const chunk = isobit::detail::chunk_shape<Load, state>(scan_block).chunk, chunks = (n - 1) / chunk + 1;
  auto const workspace = scan_workspace<state>::at(memory, n, scan_block);
  auto const blocks = static_cast<unsigned>(chunks < 0x7fffffff ? chunks : 0x7fffffff);
  if (chunks <= two_pass_chunks) {
    state* const nodes = chunks == 1 ? nullptr : workspace.nodes.left;
    if (chunks > 1) scan_nodes_kernel<scan_block><<<blocks - 1, scan_block, 0, stream>>>(load, n, nodes, acc);
    scan_after_nodes_kernel<scan_block>
        <<<blocks, scan_block, 0, stream>>>(form, load, n, store, static_cast<state const*>(nodes), acc);
  } else {
    cudaError_t const e =
        cudaMemsetAsync(memory, 0, scan_workspace<state>::zero_bytes(n, scan_block), stream);
    if (e != cudaSuccess) throw launch_error(name, static_cast<int>(e), cudaGetErrorString(e));
    scan_kernel<scan_block><<<blocks, scan_block, 0, stream>>>(form, load, n, store, memory, acc);
  }
  check_launch(name);
}

} // namespace detail

//! Bytes of workspace that a scan of `n` elements with accumulator `Acc` needs: 16-byte aligned (more where the state
//! is), its contents do not matter before and mean nothing after. For float about n / 340.
template <accumulator Acc> constexpr uint64_t scan_workspace_bytes(uint64_t n) {
  using workspace = scan_workspace<typename Acc::state>;
  return workspace::chunks(n, scan_block) <= 1 ? 0 : workspace::bytes(n, scan_block);
}

namespace detail {

// A load that only a device can call gives its type to nobody here: such a call names its accumulator.
template <class Load, class Op> auto accumulator_of(Load const&, Op const& op) {
  if constexpr (accumulator<Op>) {
    return op;
  } else {
    using element = isobit::detail::loaded<Load>;
    static_assert(isobit::detail::folds<Op, element>,
                  "isobit: a scan needs an accumulator, or a binary operator over the element type");
    return isobit::detail::as_accumulator<element>(op);
  }
}

template <bool Exclusive, class Load, class Store, class Op, class Initial>
void scan(char const* name, cudaStream_t stream, void* workspace, uint64_t workspace_bytes, uint64_t n, Load const& load,
          Store const& store, Op const& op, Initial const& initial) {
  auto const elements = isobit::detail::as_load<uint64_t>(load);
  auto const acc = accumulator_of(elements, op);
  using accumulator_type = isobit::stl::remove_const_t<decltype(acc)>;
  static_assert(isobit::detail::initial_for<Initial, accumulator_type>,
                "isobit: the initial value of a scan is an element, or a state of the accumulator");
  using state = typename accumulator_type::state;
  if (scan_workspace<state>::chunks(n, scan_block) >= 0xf0000000u)
    throw invalid_argument(name, "n", "at most", 0xf0000000ull * scan_block, "elements");
  isobit::detail::check_workspace(name, workspace, workspace_bytes, scan_workspace_bytes<accumulator_type>(n),
                                  alignof(state) > 16 ? alignof(state) : 16);
  launch_scan(name, stream, workspace, n, isobit::detail::make_form<Exclusive>(acc, initial), elements,
              isobit::detail::as_store<uint64_t>(store), acc);
}

template <bool Exclusive, class T, class Out, class Op, class Initial>
void scan_arrays(char const* name, cudaStream_t stream, void* workspace, uint64_t workspace_bytes, T const* x,
                 uint64_t n, Out* out, Op const& op, Initial const& initial) {
  isobit::detail::check_scan_types<T, Out, Op>();
  isobit::detail::check_scan_arrays(name, x, n, out);
  scan<Exclusive>(name, stream, workspace, workspace_bytes, n, contiguous<T>{x}, isobit::detail::results<Out>{out}, op,
                  initial);
}

} // namespace detail

//! out[i] = the result over x[0 .. i], the bits of `isobit::inclusive_scan` on a host. `x` and `out` are device memory
//! (any alignment of their types, 16 bytes is fastest); `out` may be `x` and must not overlap it otherwise. `op` and
//! `initial` as there (a state or value, passed to the kernel). `workspace`: `scan_workspace_bytes<Acc>(n)` bytes of
//! device memory, Acc the accumulator (`plain<float>` for a plain sum of floats or narrower).
//!
//! One chunk: one kernel. Up to 256 chunks (2^20 floats): two kernels, the second reads the array again, from the cache
//! if it is there. More: a memset of a few bytes a chunk and one kernel, which reads once and writes once. A function of
//! n and the types only. Any n below 2^40.
//! Throws `invalid_argument` before anything is written (null, misaligned or overlapping arrays, a workspace too small
//! or misaligned), `launch_error` when CUDA refuses the launch.
//! Guarantee: run-to-run, geometry, target, partition, neighbourhood. Not yet run on a GPU.
template <class T, class Out, class Op = detail::plain_sum, class Initial = detail::no_initial>
void inclusive_scan(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, T const* x, uint64_t n, Out* out,
                    Op const& op = {}, Initial const& initial = {}) {
  detail::scan_arrays<false>("device::inclusive_scan", stream, workspace, workspace_bytes, x, n, out, op, initial);
}
template <class T, class Out, class Op = detail::plain_sum, class Initial = detail::no_initial>
void exclusive_scan(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, T const* x, uint64_t n, Out* out,
                    Op const& op = {}, Initial const& initial = {}) {
  detail::scan_arrays<true>("device::exclusive_scan", stream, workspace, workspace_bytes, x, n, out, op, initial);
}

//! The same for callables: `load(i)` gives element i, `store(i, r)` takes result i. `load` is called twice for an
//! element where two passes are made, and all of the first pass comes before any `store`. With a `load` that is a
//! `__device__` lambda, `op` is an accumulator.
template <class Load, class Store, class Op = detail::plain_sum, class Initial = detail::no_initial>
  requires(!isobit::stl::is_pointer_v<Store> && !isobit::stl::is_integral_v<Store>)
void inclusive_scan(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, uint64_t n, Load const& load,
                    Store const& store, Op const& op = {}, Initial const& initial = {}) {
  detail::scan<false>("device::inclusive_scan", stream, workspace, workspace_bytes, n, load, store, op, initial);
}
template <class Load, class Store, class Op = detail::plain_sum, class Initial = detail::no_initial>
  requires(!isobit::stl::is_pointer_v<Store> && !isobit::stl::is_integral_v<Store>)
void exclusive_scan(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, uint64_t n, Load const& load,
                    Store const& store, Op const& op = {}, Initial const& initial = {}) {
  detail::scan<true>("device::exclusive_scan", stream, workspace, workspace_bytes, n, load, store, op, initial);
}

} // namespace isobit::inline bits1::device
