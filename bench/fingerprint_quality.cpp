// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables for docs/fingerprint.md: which changes fingerprints miss, and what one flipped bit does to them; isobit with
// 64 and 128 bits beside an exclusive or of the elements and torch_hash, on the same trials.
//
//   bench_fingerprint_quality [TRIALS]      (default 10000000 of each change)
#include "../tests/fingerprint/trials.hpp"

#include <cstdio>
#include <cstdlib>

namespace {

void row(char const* type, char const* change, trials::misses const& m) {
  auto const percent = [&](std::uint64_t n) { return 100.0 * static_cast<double>(n) / static_cast<double>(m.trials); };
  std::printf("| %s | %s | %llu | %llu | %llu | %.3g %% | %.3g %% |\n", type, change,
              static_cast<unsigned long long>(m.trials), static_cast<unsigned long long>(m.isobit64),
              static_cast<unsigned long long>(m.isobit128), percent(m.exclusive_or), percent(m.torch));
  std::fflush(stdout);
}

template <class T> void rows(char const* type, std::uint64_t count) {
  constexpr std::size_t n = 8192;
  row(type, "2 elements by one ulp", trials::run<T>(count, 1, n, trials::by_one_ulp<T>(2)));
  row(type, "4 elements by one ulp", trials::run<T>(count, 2, n, trials::by_one_ulp<T>(4)));
  row(type, "16 elements by one ulp", trials::run<T>(count, 3, n, trials::by_one_ulp<T>(16)));
  row(type, "two elements swapped", trials::run<T>(count, 4, n, trials::swap<T>));
  row(type, "8 neighbours rotated", trials::run<T>(count, 5, n, trials::rotate<T>));
  row(type, "a number moved among zeros", trials::run<T>(count, 6, n, trials::in_zeros<T>));
  row(type, "the same bit flipped in two elements", trials::run<T>(count, 7, n, trials::same_flip<T>));
  row(type, "a pair of equals replaced by another", trials::run<T>(count, 8, 64, trials::pair<T>));
  row(type, "+1, -1, -1, +1 on the corners of a rectangle", trials::run<T>(count, 9, n, trials::rectangle<T>));
}

void row(char const* name, trials::avalanche const& a) {
  std::printf("| %s | %.3f | %.4f | %.4f |\n", name, a.mean, a.worst_output, a.worst_correlation);
}

} // namespace

int main(int count, char** words) {
  char* end = nullptr;
  std::uint64_t const n = count > 1 ? std::strtoull(words[1], &end, 10) : 10'000'000;
  if (n == 0 || count > 2 || (end != nullptr && *end != '\0')) {
    std::fputs("usage: bench_fingerprint_quality [TRIALS]\n", stderr);
    return 2;
  }
  std::puts("| elements | change | trials | missed, isobit 64 | missed, isobit 128 | missed, exclusive or | missed, "
            "torch_hash |");
  std::puts("|---|---|---|---|---|---|---|");
  rows<isobit::bf16>("bf16", n);
  rows<float>("f32", n);
  rows<isobit::e4m3>("e4m3", n);
  std::printf("\nOne random bit of 64 floats flips, %llu times:\n\n", static_cast<unsigned long long>(n));
  std::puts("| 64 output bits | flipped on average (ideal 32) | worst bit: distance of P(flip) from 1/2 | worst pair: "
            "correlation |");
  std::puts("|---|---|---|---|");
  auto const a = trials::flip_bits(n, 10);
  row("isobit 64, low half of 128", a.low);
  row("high half of 128", a.high);
  row("exclusive or", a.words);
  row("torch_hash", a.torch);
}
