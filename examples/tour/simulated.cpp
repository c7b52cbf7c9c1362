// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The simulated GPU as a target: kernels run on the CPU, thread by thread, with the geometry and the schedule that
//! each launch is given.
#include "targets.hpp"

#include <isobit/simt/cuda.hpp>
// The kernels need the words above.
#include "digests.hpp"
#include "kernels.cuh"
#include "work.hpp"

#include <isobit/device/quantize_kernel.hpp>
#include <isobit/device/reduce_kernel.hpp>
#include <isobit/device/scan_kernel.hpp>
#include <isobit/simt/launch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace tour {
namespace {

//! An array that starts a given number of elements after a 64-byte boundary.
template <class T> class shifted_array {
public:
  shifted_array(std::uint64_t n, unsigned shift) : memory_(new line[(n + shift) * sizeof(T) / 64 + 1]()), size_(n) {
    data_ = reinterpret_cast<T*>(memory_.get()) + shift;
  }
  T* data() const { return data_; }
  std::uint64_t size() const { return size_; }

private:
  struct alignas(64) line {
    std::byte byte[64];
  };
  std::unique_ptr<line[]> memory_;
  T* data_;
  std::uint64_t size_;
};

struct store {
  float* out;
  void operator()(std::uint64_t i, float x) const { out[i] = x; }
};

class simulated_target {
public:
  //! `flip`: change the lowest bit of the last element of what is uploaded. The tour's control.
  explicit simulated_target(geometry const& g, bool flip = false) : geometry_(g), flip_(flip) {}

  template <class T> shifted_array<T> upload(std::vector<T> const& x) const {
    auto result = make<T>(x.size());
    if (!x.empty()) std::memcpy(result.data(), x.data(), x.size() * sizeof(T));
    if (flip_ && !x.empty()) reinterpret_cast<unsigned char*>(result.data() + x.size() - 1)[0] ^= 1;
    return result;
  }
  template <class T> shifted_array<T> make(std::uint64_t n) const { return {n, geometry_.shift}; }
  template <class T> std::vector<T> download(shifted_array<T> const& x) const {
    return std::vector<T>(x.data(), x.data() + x.size());
  }

  template <class Load, class Acc> auto reduce(std::uint64_t n, Load const& load, Acc const& acc) const {
    shifted_array<std::byte> const workspace(isobit::grid_workspace<typename Acc::state>::bytes(n), 0);
    typename Acc::result result;
    run(isobit::device::reduce_block, isobit::device::reduce_kernel<isobit::tree, Load, Acc>, load, n, &result,
        static_cast<void*>(workspace.data()), acc);
    return result;
  }
  template <class T>
  void sum_rows(T const* x, std::uint64_t rows, std::uint64_t cols, float* sums, float* norms) const {
    run(1024, tour::sum_rows<T>, x, rows, cols, sums, norms);
  }
  template <class T>
  void scan_segments(T const* x, std::uint64_t, std::uint64_t const* offsets, std::uint64_t segments,
                     float* out) const {
    // The tour's own kernel, or the one behind isobit's launcher for short segments.
    if (geometry_.width % 32 != 0 || geometry_.width > 128)
      run(1024, tour::scan_segments<T>, x, offsets, segments, out);
    else
      run(1024,
          isobit::device::segmented_scan_by_tile_kernel<32, isobit::contiguous<T>, std::uint64_t, store,
                                                        isobit::plain<float>>,
          isobit::contiguous<T>{x}, offsets, segments, store{out}, isobit::plain<float>{});
  }

  template <class Recipe, class T>
  void quantize(Recipe, T const* x, std::uint64_t rows, std::uint64_t cols, typename Recipe::element* codes,
                typename Recipe::scale* scales) const {
    auto const copy = isobit::row_wise(codes, scales, rows * isobit::blocks_per_row<Recipe>(cols), isobit::ragged);
    using nearest = isobit::detail::to_nearest;
    run(1024, isobit::device::quantize_kernel<Recipe, nearest, T, decltype(copy)>, Recipe{}, nearest{}, x, rows, cols, copy);
  }
  template <class Recipe>
  void dequantize(Recipe, typename Recipe::element const* codes, typename Recipe::scale const* scales,
                  std::uint64_t rows, std::uint64_t cols, float* out) const {
    auto const copy = isobit::row_wise(codes, scales, rows * isobit::blocks_per_row<Recipe>(cols), isobit::ragged);
    run(1024, isobit::device::dequantize_kernel<Recipe, decltype(copy)>, Recipe{}, copy, rows, cols, out);
  }
  template <class T> array_digests digests(T const* x, std::uint64_t n) const {
    std::uint64_t const bytes = n * sizeof(T);
    std::vector<isobit::digest_sum> sums(isobit::digest_chunks(bytes, chunk_bytes));
    run(1024, digest_chunks, reinterpret_cast<unsigned char const*>(x), bytes, chunk_bytes, sums.data());
    return finish<T>(sums, n);
  }

private:
  template <class Kernel, class... Args> void run(int most_threads, Kernel* kernel, Args... args) const {
    auto const width = std::min(geometry_.width, static_cast<unsigned>(most_threads));
    isobit::simt::launch({.grid = {geometry_.grid}, .block = {width}, .seed = geometry_.seed}, kernel, args...);
  }

  geometry geometry_;
  bool flip_;
};

} // namespace

template <class T> outputs compute_on_simulated_gpu(matrix<T> const& m, geometry const& g, bool flip) {
  return compute(simulated_target(g, flip), m);
}
template outputs compute_on_simulated_gpu(matrix<float> const&, geometry const&, bool);
template outputs compute_on_simulated_gpu(matrix<isobit::bf16> const&, geometry const&, bool);
template outputs compute_on_simulated_gpu(matrix<isobit::f16> const&, geometry const&, bool);

} // namespace tour
