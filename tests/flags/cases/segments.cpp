// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Segments, scatter, combine and slots on a host. They guard their environment themselves.
#include "../digest.hpp"

#include <isobit/combine.hpp>
#include <isobit/scatter.hpp>
#include <isobit/segments.hpp>
#include <isobit/slots.hpp>

using namespace isobit::test;

namespace {
constexpr int n = 4000, columns = 8, rows = 37;
float x[n * columns];
float out[n];
std::uint32_t offsets[n + 1];
int ids[n], experts[n], order[n];
alignas(8) unsigned char workspace[(n + rows + 1) * 8];

void segments(digest& d, unsigned step, unsigned range) {
  unsigned count = 0;
  offsets[0] = 1;
  while (offsets[count] + step + range < n && count < n) {
    offsets[count + 1] = offsets[count] + step + (range == 0 ? 0 : count * 7919u % range);
    ++count;
  }
  isobit::segmented_reduce(isobit::host(), x, n, offsets, count, out);
  for (unsigned s = 0; s < count; ++s) d.value(out[s]);
  isobit::segmented_reduce(isobit::host(), x, n, offsets, count, out, isobit::compensated<float>{});
  for (unsigned s = 0; s < count; ++s) d.value(out[s]);
}
} // namespace

int main() {
  source random;
  digest segment, scatter, combine, slots;
  for (int kind = 0; kind < 3; ++kind) {
    for (float& e : x) {
      e = kind == 0 ? random.between<float>(-8, 8) : kind == 1 ? random.between<float>(-60, 60) : random.any<float>();
      if (kind == 2) e = isobit::from_bits<float>(isobit::to_bits(e) & 0x807fffffu); // zeros and subnormals
    }
    for (unsigned step : {1u, 3u, 4u, 10u, 16u, 17u, 100u}) segments(segment, step, 0);
    segments(segment, 0, 40);
    for (int i = 0; i < n; ++i) ids[i] = i * 31 % (rows + 2) - 1;
    isobit::scatter_reduce(isobit::host(), workspace, sizeof workspace, ids, n, x, columns, out, rows);
    for (int i = 0; i < rows * columns; ++i) scatter.value(out[i]);
    for (int i = 0; i < 600; ++i) experts[i] = i * 37 % 128, order[i] = 599 - i;
    isobit::combine_map<int, int> const map{order, experts, x + 9000, 100, 6, 600};
    isobit::gather_combine(isobit::host(), map, isobit::matrix_rows<float>{x, columns}, columns, out);
    for (int i = 0; i < 100 * columns; ++i) combine.value(out[i]);
    auto const parts = isobit::private_slots<float>::at(x, 13, 50);
    isobit::with_default_environment([&] {
      for (unsigned i = 0; i < 50; ++i) slots.value(isobit::merge(parts, i));
      return 0;
    });
  }
  segment.print("f32.segmented_reduce");
  scatter.print("f32.scatter_reduce");
  combine.print("f32.gather_combine");
  slots.print("f32.slots");
}
