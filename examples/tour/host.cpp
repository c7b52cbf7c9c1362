// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The host as a target: one thread, or as many as an executor has.
#include "targets.hpp"

#include "digests.hpp"
#include "work.hpp"

#include <isobit/fingerprint.hpp>
#include <isobit/group/host.hpp>
#include <isobit/group/threads.hpp>
#include <isobit/quantize.hpp>
#include <isobit/reduce.hpp>
#include <isobit/scan.hpp>

#include <cstdint>
#include <vector>

namespace tour {
namespace {

template <class Executor = isobit::inline_executor> class host_target {
public:
  host_target() = default;
  //! A small grain: the tensors here are small, and every thread shall have something to do.
  explicit host_target(Executor e) : host_(e, 1024) {}

  template <class T> std::vector<T> upload(std::vector<T> x) const { return x; }
  template <class T> std::vector<T> make(std::uint64_t n) const { return std::vector<T>(n); }
  template <class T> std::vector<T> const& download(std::vector<T> const& x) const { return x; }

  template <class Load, class Acc> auto reduce(std::uint64_t n, Load const& load, Acc const& acc) const {
    return isobit::reduce(host_, n, load, acc);
  }
  template <class T>
  void sum_rows(T const* x, std::uint64_t rows, std::uint64_t cols, float* sums, float* norms) const {
    for (std::uint64_t r = 0; r < rows; ++r) {
      T const* const row = x + r * cols;
      sums[r] = isobit::reduce(host_, row, cols);
      norms[r] = isobit::sqrt(isobit::reduce(host_, cols, isobit::map(row, square{})));
    }
  }
  template <class T>
  void scan_segments(T const* x, std::uint64_t n, std::uint64_t const* offsets, std::uint64_t segments,
                     float* out) const {
    isobit::segmented_inclusive_scan(host_, x, n, offsets, segments, out);
  }

  template <class Recipe, class T>
  void quantize(Recipe recipe, T const* x, std::uint64_t rows, std::uint64_t cols, typename Recipe::element* codes,
                typename Recipe::scale* scales) const {
    isobit::quantize(host_, recipe, x, rows, cols, codes, scales);
  }
  template <class Recipe>
  void dequantize(Recipe recipe, typename Recipe::element const* codes, typename Recipe::scale const* scales,
                  std::uint64_t rows, std::uint64_t cols, float* out) const {
    isobit::dequantize(host_, recipe, codes, scales, rows, cols, out);
  }
  template <class T> array_digests digests(T const* x, std::uint64_t n) const {
    std::uint64_t const bytes = n * sizeof(T);
    std::vector<isobit::digest_sum> sums(isobit::digest_chunks(bytes, chunk_bytes));
    isobit::chunk_sums(host_, x, bytes, chunk_bytes, sums.data());
    return finish<T>(sums, n);
  }

private:
  isobit::host<Executor> host_;
};

} // namespace

template <class T> outputs compute_on_host(matrix<T> const& m, unsigned threads) {
  if (threads == 1) return compute(host_target<>{}, m);
  return compute(host_target{isobit::threads(threads)}, m);
}
template outputs compute_on_host(matrix<float> const&, unsigned);
template outputs compute_on_host(matrix<isobit::bf16> const&, unsigned);
template outputs compute_on_host(matrix<isobit::f16> const&, unsigned);

} // namespace tour
