// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! A real GPU as a target: isobit's launchers, and the tour's own kernels. Not yet run on a GPU.
#include "targets.hpp"

#include "digests.hpp"
#include "kernels.cuh"
#include "work.hpp"

#include <isobit/device/quantize.cuh>
#include <isobit/device/reduce.cuh>
#include <isobit/device/scan.cuh>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tour {
namespace {

void check(cudaError_t e, char const* what) {
  if (e != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(e));
}

//! An array on the GPU that starts a given number of elements after an aligned address. Zeroed.
template <class T> class device_array {
public:
  device_array(std::uint64_t n, unsigned shift) : size_(n), shift_(shift) {
    check(cudaMalloc(&memory_, (n + shift + 1) * sizeof(T)), "cudaMalloc");
    check(cudaMemset(memory_, 0, (n + shift + 1) * sizeof(T)), "cudaMemset");
  }
  ~device_array() { cudaFree(memory_); }
  device_array(device_array&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), size_(other.size_), shift_(other.shift_) {}
  device_array& operator=(device_array&&) = delete;

  T* data() const { return static_cast<T*>(memory_) + shift_; }
  std::uint64_t size() const { return size_; }

private:
  void* memory_ = nullptr;
  std::uint64_t size_;
  unsigned shift_;
};

class gpu_target {
public:
  explicit gpu_target(geometry const& g) : geometry_(g) {}

  template <class T> device_array<T> upload(std::vector<T> const& x) const {
    auto result = make<T>(x.size());
    check(cudaMemcpy(result.data(), x.data(), x.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    return result;
  }
  template <class T> device_array<T> make(std::uint64_t n) const { return {n, geometry_.shift}; }
  template <class T> std::vector<T> download(device_array<T> const& x) const {
    std::vector<T> result(x.size());
    check(cudaMemcpy(result.data(), x.data(), x.size() * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return result;
  }

  template <class Load, class Acc> auto reduce(std::uint64_t n, Load const& load, Acc const& acc) const {
    std::uint64_t const bytes = isobit::device::reduce_workspace_bytes<Acc>(n);
    device_array<unsigned char> const workspace(bytes, 0);
    device_array<typename Acc::result> const result(1, 0);
    isobit::device::reduce(nullptr, workspace.data(), bytes, n, load, result.data(), acc);
    return download(result)[0];
  }
  template <class T>
  void sum_rows(T const* x, std::uint64_t rows, std::uint64_t cols, float* sums, float* norms) const {
    tour::sum_rows<<<geometry_.grid, geometry_.width>>>(x, rows, cols, sums, norms);
    check(cudaGetLastError(), "sum_rows");
  }
  template <class T>
  void scan_segments(T const* x, std::uint64_t n, std::uint64_t const* offsets, std::uint64_t segments,
                     float* out) const {
    // The tour's own kernel in every geometry, isobit's launcher in one.
    if (geometry_.width == 256) {
      isobit::device::segmented_inclusive_scan(nullptr, x, n, offsets, segments, out);
    } else {
      tour::scan_segments<<<geometry_.grid, geometry_.width>>>(x, offsets, segments, out);
      check(cudaGetLastError(), "scan_segments");
    }
  }

  template <class Recipe, class T>
  void quantize(Recipe, T const* x, std::uint64_t rows, std::uint64_t cols, typename Recipe::element* codes,
                typename Recipe::scale* scales) const {
    auto const copy = isobit::row_wise(codes, scales, rows * isobit::blocks_per_row<Recipe>(cols), isobit::ragged);
    isobit::device::quantize_kernel<<<geometry_.grid, geometry_.width>>>(Recipe{}, isobit::detail::to_nearest{}, x, rows, cols,
                                                                         copy);
    check(cudaGetLastError(), "quantize");
  }
  template <class Recipe>
  void dequantize(Recipe, typename Recipe::element const* codes, typename Recipe::scale const* scales,
                  std::uint64_t rows, std::uint64_t cols, float* out) const {
    auto const copy = isobit::row_wise(codes, scales, rows * isobit::blocks_per_row<Recipe>(cols), isobit::ragged);
    isobit::device::dequantize_kernel<<<geometry_.grid, geometry_.width>>>(Recipe{}, copy, rows, cols, out);
    check(cudaGetLastError(), "dequantize");
  }
  template <class T> array_digests digests(T const* x, std::uint64_t n) const {
    std::uint64_t const bytes = n * sizeof(T);
    device_array<isobit::digest_sum> const sums(isobit::digest_chunks(bytes, chunk_bytes), 0);
    digest_chunks<<<geometry_.grid, geometry_.width>>>(reinterpret_cast<unsigned char const*>(x), bytes, chunk_bytes,
                                                       sums.data());
    check(cudaGetLastError(), "digest_chunks");
    return finish<T>(download(sums), n);
  }

private:
  geometry geometry_;
};

} // namespace

gpu_state find_gpu() {
  int devices = 0;
  cudaError_t const e = cudaGetDeviceCount(&devices);
  if (e == cudaErrorNoDevice || e == cudaErrorInsufficientDriver || (e == cudaSuccess && devices == 0))
    return {{}, "no device, or no driver for CUDA " + std::to_string(CUDART_VERSION / 1000)};
  if (e != cudaSuccess) return {{}, cudaGetErrorString(e)};
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  return {properties.name, ""};
}

outputs compute_on_gpu(matrix<float> const& m, geometry const& g) { return compute(gpu_target(g), m); }
outputs compute_on_gpu(matrix<isobit::bf16> const& m, geometry const& g) { return compute(gpu_target(g), m); }
outputs compute_on_gpu(matrix<isobit::f16> const& m, geometry const& g) { return compute(gpu_target(g), m); }

} // namespace tour
