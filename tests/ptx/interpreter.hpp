// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the PTX that nvcc makes of isobit's kernels on a CPU: what the compiler made of the source, not the source.
// Written from the PTX ISA manual. It knows the instructions that these kernels use, and nothing else: an opcode, a
// modifier or a type that is not known stops the run with the line, never a guess. Flush-to-zero, approximate and
// contracted forms are unknown on purpose.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace ptx {

struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class kind : uint8_t { u, s, b, f, pred };

struct type {
  kind k = kind::b;
  int bytes = 0;
  bool operator==(type const&) const = default;
};

struct operand {
  enum { none, reg, imm, memory, label } what = none;
  int index = -1;     // register; for memory: the register to add, or -1
  uint64_t value = 0; // immediate; for memory: the offset
};

enum class op : uint8_t {
  mov, unpack, pack, add, sub, mul_lo, mul_wide, mul_hi, mad_lo, mad_wide, fma, div, sqrt, and_, or_, xor_, not_, shl, shr,
  rem, neg, abs, min, max, setp, selp, cvt, clz, popc, brev, prmt, bfi, ld, st, cvta, bra, ret, trap, bar, warp_bar, shfl, ballot,
  atom, fence, nanosleep
};
enum class compare : uint8_t { eq, ne, lt, le, gt, ge, lo, ls, hi, hs };
enum class space : uint8_t { generic, global, shared, local, param };
enum class shuffle : uint8_t { bfly, idx, up, down };
enum class atomic : uint8_t { inc, add, exch, cas, or_bits, xor_bits, max_unsigned };

struct instruction {
  op code{};
  type t{}, from{};
  compare cmp{};
  space where{};
  shuffle shfl{};
  atomic atom{};
  bool to = false;      // cvta.to
  bool release = false; // st
  int guard = -1;
  bool guard_not = false;
  int width = 1; // vector elements of ld, st, pack, unpack
  operand dst[4], src[5];
  int target = -1;
  int line = 0;
};

struct kernel {
  std::string name;
  std::vector<instruction> code;
  int registers = 0;
  uint64_t shared_bytes = 0, local_bytes = 0, param_bytes = 0;
  std::vector<uint64_t> param_offset; // of each parameter, in order
};

// The kernels of a PTX file, by name.
class module {
public:
  explicit module(std::string const& text);
  // The one kernel whose (mangled) name holds all of `parts`.
  kernel const& find(std::vector<std::string> const& parts) const;

private:
  std::map<std::string, kernel> kernels_;
};

struct launch_config {
  unsigned grid = 1, block = 1;
  uint64_t seed = 0; // 0: threads in order; otherwise another order of threads and blocks for each seed
  uint64_t limit = 0; // instructions after which the run is given up, for kernels that may wait for ever; 0: none
};

// Bytes of the parameters, in order; each aligned as the kernel says.
class arguments {
public:
  template <class T> arguments& add(T const& v) {
    auto const* p = reinterpret_cast<unsigned char const*>(&v);
    values_.emplace_back(p, p + sizeof(T));
    return *this;
  }
  std::vector<std::vector<unsigned char>> const& values() const { return values_; }

private:
  std::vector<std::vector<unsigned char>> values_;
};

// Runs all blocks; several are resident at a time. Returns the number of instructions executed.
uint64_t run(kernel const& k, launch_config const& config, arguments const& args);

} // namespace ptx
