// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the checks on a real GPU share: device buffers, one line a check, byte comparison, timing.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace gpu {

inline void must(cudaError_t e, char const* what) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "gpu_check: %s: %s\n", what, cudaGetErrorString(e));
  std::exit(2);
}

// A device array that owns its memory; `offset` elements past a 256-byte boundary.
template <class T> class array {
public:
  explicit array(size_t n, size_t offset = 0) : n_(n), offset_(offset) {
    must(cudaMalloc(&base_, (n + offset + 1) * sizeof(T)), "cudaMalloc");
    must(cudaMemset(base_, 0xcd, (n + offset + 1) * sizeof(T)), "cudaMemset");
  }
  array(std::vector<T> const& host, size_t offset = 0) : array(host.size(), offset) {
    if (n_ > 0) must(cudaMemcpy(data(), host.data(), n_ * sizeof(T), cudaMemcpyHostToDevice), "copy to the GPU");
  }
  ~array() { cudaFree(base_); }
  array(array const&) = delete;
  array& operator=(array const&) = delete;

  T* data() const { return static_cast<T*>(base_) + offset_; }
  size_t size() const { return n_; }
  std::vector<T> to_host() const {
    std::vector<T> h(n_);
    if (n_ > 0) must(cudaMemcpy(h.data(), data(), n_ * sizeof(T), cudaMemcpyDeviceToHost), "copy from the GPU");
    return h;
  }
  void zero() { must(cudaMemset(data(), 0, n_ * sizeof(T)), "cudaMemset"); }

private:
  void* base_ = nullptr;
  size_t n_, offset_;
};

template <class T> bool same_bits(T const& a, T const& b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }
template <class T> bool same_bits(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// Counts comparisons and differences of one named check and prints its line.
class check {
public:
  explicit check(std::string name) : name_(std::move(name)) {}
  ~check() {
    // A check that compared nothing has failed.
    bool const good = compared_ > 0 && different_ == 0;
    std::printf("| %s | %llu | %s |\n", name_.c_str(), static_cast<unsigned long long>(compared_),
                good ? "same bits" : compared_ == 0 ? "NOTHING COMPARED" : "DIFFERENT");
    std::fflush(stdout);
    if (!good) failures()++;
  }
  void expect(bool same, char const* what = "", uint64_t n = 0) {
    ++compared_;
    if (same) return;
    if (different_++ == 0) std::fprintf(stderr, "  first difference in '%s': %s n=%llu\n", name_.c_str(), what,
                                        static_cast<unsigned long long>(n));
  }
  static int& failures() {
    static int count = 0;
    return count;
  }

private:
  std::string name_;
  uint64_t compared_ = 0, different_ = 0;
};

// The median time of one call in microseconds: calls are timed in batches, so that an event's jitter does not count.
inline double microseconds(std::function<void()> const& call, int batch = 20, int rounds = 11) {
  cudaEvent_t start, stop;
  must(cudaEventCreate(&start), "event");
  must(cudaEventCreate(&stop), "event");
  for (int i = 0; i < 3; ++i) call();
  std::vector<float> times;
  for (int r = 0; r < rounds; ++r) {
    must(cudaEventRecord(start), "event");
    for (int i = 0; i < batch; ++i) call();
    must(cudaEventRecord(stop), "event");
    must(cudaEventSynchronize(stop), "event");
    float ms = 0;
    must(cudaEventElapsedTime(&ms, start, stop), "event");
    times.push_back(1000 * ms / static_cast<float>(batch));
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// Hard inputs: both signs, sixty binades, some zeros and subnormals; from a counter, so that any part can be made again.
inline float hard_float(uint64_t i) {
  uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  z ^= z >> 31;
  auto const random = static_cast<uint32_t>(z);
  uint32_t const exponent = static_cast<uint32_t>((z >> 32) % 61);
  uint32_t const bits = exponent == 60 ? (random & 0x8000000fu) : (random & 0x807fffffu) | ((97 + exponent) << 23);
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
inline std::vector<float> hard_floats(size_t n) {
  std::vector<float> x(n);
  for (size_t i = 0; i < n; ++i) x[i] = hard_float(i);
  return x;
}

// True for a short run under compute-sanitizer: small sizes, no contention, no timing.
inline bool& quick() {
  static bool on = false;
  return on;
}

// Keeps the GPU busy in another stream while a check runs, so that blocks are scheduled in other orders.
class contention {
public:
  contention();
  ~contention();

private:
  cudaStream_t stream_;
  float* scratch_;
};

} // namespace gpu

// One section for each family, in the file of that name.
void check_order();
void check_reduce();
void check_quantize();
void check_scan();
void check_digest();
void check_exact();
void check_ranks();
void check_segments();
void bench_reduce();
void bench_quantize();
void bench_scan();
void bench_digest();
void bench_exact();
