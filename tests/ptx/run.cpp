// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point operations here are plain C++ ones, each rounded to nearest: this file is compiled with
// -ffp-contract=off and without fast-math, and shares no arithmetic with isobit.
#include "interpreter.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ptx {
namespace {

uint64_t const uninitialised = ~uint64_t{0};

__extension__ using wide_signed = __int128;
__extension__ using wide_unsigned = unsigned __int128;

template <class T> T as(uint64_t raw) {
  T v;
  std::memcpy(&v, &raw, sizeof v);
  return v;
}
template <class T> uint64_t raw(T v) {
  uint64_t r = 0;
  std::memcpy(&r, &v, sizeof v);
  return r;
}
// The GPU's arithmetic returns this one NaN.
float canonical(float v) { return std::isnan(v) ? as<float>(0x7fffffffu) : v; }
double canonical(double v) { return std::isnan(v) ? as<double>(0x7ff8000000000000u) : v; }

uint64_t mask_of(int bytes) { return bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * bytes)) - 1; }
int64_t signed_value(uint64_t v, int bytes) {
  int const shift = 64 - 8 * bytes;
  return static_cast<int64_t>(v << shift) >> shift;
}

class random {
public:
  explicit random(uint64_t seed) : state_(seed) {}
  uint64_t operator()() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

private:
  uint64_t state_;
};

enum class status { ready, barrier, warp, done };

struct thread {
  std::vector<uint64_t> regs;
  std::vector<unsigned char> local;
  int at = 0;
  status state = status::ready;
  unsigned tid = 0;
};

struct block {
  std::vector<thread> threads;
  std::vector<unsigned char> shared;
  unsigned rank = 0;
  bool done = false;
};

class machine {
public:
  machine(kernel const& k, launch_config const& c, std::vector<unsigned char> const& params)
      : k_(k), config_(c), params_(params), random_(c.seed) {}

  uint64_t run() {
    std::vector<unsigned> order(config_.grid);
    for (unsigned i = 0; i < config_.grid; ++i) order[i] = i;
    if (config_.seed != 0)
      for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_() % i]);
    size_t const resident = config_.seed == 0 ? 1 : 3;
    std::vector<std::unique_ptr<block>> live;
    size_t next = 0;
    while (next < order.size() || !live.empty()) {
      while (live.size() < resident && next < order.size()) live.push_back(start(order[next++]));
      size_t const chosen = config_.seed == 0 ? 0 : random_() % live.size();
      step(*live[chosen]);
      if (live[chosen]->done) live.erase(live.begin() + static_cast<long>(chosen));
    }
    return executed_;
  }

private:
  std::unique_ptr<block> start(unsigned rank) {
    auto b = std::make_unique<block>();
    b->rank = rank;
    b->shared.assign(k_.shared_bytes + 16, 0xff);
    b->threads.resize(config_.block);
    for (unsigned t = 0; t < config_.block; ++t) {
      b->threads[t].tid = t;
      b->threads[t].regs.assign(static_cast<size_t>(k_.registers), uninitialised);
      b->threads[t].local.assign(k_.local_bytes + 16, 0xff);
    }
    return b;
  }

  // Runs every thread of the block up to its next barrier, collective or end, then completes what is complete.
  void step(block& b) {
    std::vector<size_t> order(b.threads.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (config_.seed != 0)
      for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_() % i]);
    for (size_t t : order)
      if (b.threads[t].state == status::ready) advance(b, b.threads[t]);
    bool moved = false;
    for (size_t warp = 0; warp < b.threads.size(); warp += 32) moved |= collective(b, warp);
    bool any_warp = false, any_barrier = false, any_ready = false;
    for (auto const& t : b.threads) {
      any_warp |= t.state == status::warp;
      any_barrier |= t.state == status::barrier;
      any_ready |= t.state == status::ready;
    }
    if (any_ready || moved) return;
    if (any_warp) throw error("deadlock: lanes wait for a collective of their warp");
    if (any_barrier) {
      for (auto& t : b.threads)
        if (t.state == status::barrier) ++t.at, t.state = status::ready;
      return;
    }
    b.done = true;
  }

  // Completes one warp's waiting collective when all lanes of its mask have arrived at the same instruction.
  bool collective(block& b, size_t warp) {
    size_t const lanes = std::min<size_t>(32, b.threads.size() - warp);
    bool moved = false;
    for (size_t lane = 0; lane < lanes; ++lane) {
      thread& t = b.threads[warp + lane];
      if (t.state != status::warp) continue;
      instruction const& i = k_.code[static_cast<size_t>(t.at)];
      uint32_t const mask = static_cast<uint32_t>(get(t, b, i.src[i.code == op::shfl ? 3 : i.code == op::ballot ? 1 : 0]));
      if ((mask >> lane & 1) == 0) throw error("a lane is not in its own mask, line " + std::to_string(i.line));
      bool all = true;
      for (size_t other = 0; other < 32; ++other)
        if ((mask >> other & 1) != 0) {
          if (other >= lanes || b.threads[warp + other].state == status::done)
            throw error("a mask names a lane that is not there, line " + std::to_string(i.line));
          thread const& o = b.threads[warp + other];
          all = all && o.state == status::warp && o.at == t.at;
        }
      if (!all) continue;
      complete(b, warp, mask, i);
      moved = true;
    }
    return moved;
  }

  void complete(block& b, size_t warp, uint32_t mask, instruction const& i) {
    uint64_t values[32] = {};
    uint32_t votes = 0;
    for (size_t lane = 0; lane < 32; ++lane)
      if ((mask >> lane & 1) != 0) {
        thread& t = b.threads[warp + lane];
        if (i.code == op::shfl) values[lane] = get(t, b, i.src[0]) & 0xffffffffu;
        if (i.code == op::ballot && (get(t, b, i.src[0]) & 1) != 0) votes |= 1u << lane;
      }
    for (size_t lane = 0; lane < 32; ++lane)
      if ((mask >> lane & 1) != 0) {
        thread& t = b.threads[warp + lane];
        if (i.code == op::shfl) {
          auto const by = static_cast<uint32_t>(get(t, b, i.src[1])) & 31, c = static_cast<uint32_t>(get(t, b, i.src[2]));
          uint32_t const clamp = c & 31, segment = c >> 8 & 31;
          auto const l = static_cast<uint32_t>(lane);
          uint32_t const max_lane = (l & segment) | (clamp & ~segment), min_lane = l & segment;
          uint32_t from = 0;
          bool valid = false;
          switch (i.shfl) {
          case shuffle::bfly: from = l ^ by, valid = from <= max_lane; break;
          case shuffle::idx: from = min_lane | (by & ~segment), valid = from <= max_lane; break;
          case shuffle::up: from = l - by, valid = static_cast<int>(from) >= static_cast<int>(max_lane); break;
          case shuffle::down: from = l + by, valid = from <= max_lane; break;
          }
          if (!valid) from = l;
          if ((mask >> from & 1) == 0) throw error("a shuffle reads a lane outside its mask, line " + std::to_string(i.line));
          set(t, i.dst[0], values[from]);
          if (i.dst[1].what == operand::reg) set(t, i.dst[1], valid);
        } else if (i.code == op::ballot) {
          set(t, i.dst[0], votes);
        }
        ++t.at;
        t.state = status::ready;
      }
  }

  uint64_t get(thread const& t, block const& b, operand const& o) const {
    if (o.what == operand::imm) return o.value;
    if (o.index >= 0) return t.regs[static_cast<size_t>(o.index)];
    switch (o.index) {
    case -2: return t.tid;
    case -3: case -4: return 0;
    case -5: return config_.block;
    case -6: case -7: return 1;
    case -8: return b.rank;
    case -9: case -10: return 0;
    case -11: return config_.grid;
    case -12: case -13: return 1;
    case -14: return t.tid % 32;
    default: throw error("operand without a value");
    }
  }
  static void set(thread& t, operand const& o, uint64_t v) { t.regs[static_cast<size_t>(o.index)] = v; }

  unsigned char* address(thread& t, block& b, instruction const& i, int bytes) {
    operand const& o = i.src[4];
    uint64_t a = o.value + (o.index >= 0 ? t.regs[static_cast<size_t>(o.index)] : 0);
    auto const inside = [&](std::vector<unsigned char>& memory, uint64_t size) -> unsigned char* {
      if (a + static_cast<uint64_t>(bytes) > size) throw error("access outside of its space, line " + std::to_string(i.line));
      return memory.data() + a;
    };
    switch (i.where) {
    case space::shared: return inside(b.shared, k_.shared_bytes);
    case space::local: return inside(t.local, k_.local_bytes);
    case space::param: return inside(params_, k_.param_bytes);
    default: break;
    }
    if (a % static_cast<uint64_t>(bytes) != 0) throw error("misaligned access, line " + std::to_string(i.line));
    return reinterpret_cast<unsigned char*>(a);
  }

  // Whether other threads and blocks run now, at an instruction by which blocks tell each other something.
  bool others_first() { return config_.seed != 0 && random_() % 4 == 0; }

  void advance(block& b, thread& t) {
    while (true) {
      instruction const& i = k_.code[static_cast<size_t>(t.at)];
      if (++executed_ > config_.limit && config_.limit != 0) throw error("still running at the limit of instructions");
      if (i.guard >= 0 && ((t.regs[static_cast<size_t>(i.guard)] & 1) != 0) == i.guard_not) {
        ++t.at;
        continue;
      }
      switch (i.code) {
      case op::bra: t.at = i.target; continue;
      case op::ret: t.state = status::done; return;
      case op::trap: throw error("the kernel stopped itself (trap), line " + std::to_string(i.line));
      case op::bar: t.state = status::barrier; return;
      case op::shfl: case op::ballot: case op::warp_bar: t.state = status::warp; return;
      case op::ld: access(b, t, i); break;
      case op::st:
        access(b, t, i);
        if (i.release && others_first()) { ++t.at; return; }
        break;
      case op::atom: {
        bool const yields = others_first();
        atomic_access(b, t, i);
        if (yields) { ++t.at; return; }
        break;
      }
      case op::nanosleep: ++t.at; return; // others run here
      case op::cvta: {
        uint64_t const base = i.where == space::shared ? reinterpret_cast<uint64_t>(b.shared.data())
                              : i.where == space::local ? reinterpret_cast<uint64_t>(t.local.data()) : 0;
        uint64_t const v = get(t, b, i.src[0]);
        set(t, i.dst[0], i.to ? v - base : v + base);
        break;
      }
      case op::unpack: {
        uint64_t v = get(t, b, i.src[0]);
        int const bytes = i.t.bytes / i.width;
        for (int k = 0; k < i.width; ++k, v >>= 8 * bytes % 64) set(t, i.dst[k], v & mask_of(bytes));
        break;
      }
      case op::pack: {
        int const bytes = i.t.bytes / i.width;
        uint64_t v = 0;
        for (int k = 0; k < i.width; ++k) v |= (get(t, b, i.src[k]) & mask_of(bytes)) << (8 * bytes * k);
        set(t, i.dst[0], v);
        break;
      }
      case op::fence: break;
      default: set(t, i.dst[0], compute(t, b, i)); break;
      }
      ++t.at;
    }
  }

  void access(block& b, thread& t, instruction const& i) {
    unsigned char* const p = address(t, b, i, i.t.bytes * i.width);
    for (int k = 0; k < i.width; ++k) {
      if (i.code == op::ld) {
        uint64_t v = 0;
        std::memcpy(&v, p + k * i.t.bytes, static_cast<size_t>(i.t.bytes));
        if (i.t.k == kind::s) v = static_cast<uint64_t>(signed_value(v, i.t.bytes));
        set(t, i.dst[k], v);
      } else {
        uint64_t const v = get(t, b, i.src[k]);
        std::memcpy(p + k * i.t.bytes, &v, static_cast<size_t>(i.t.bytes));
      }
    }
  }

  void atomic_access(block& b, thread& t, instruction const& i) {
    unsigned char* const p = address(t, b, i, i.t.bytes);
    uint64_t old = 0;
    std::memcpy(&old, p, static_cast<size_t>(i.t.bytes));
    uint64_t const x = get(t, b, i.src[0]) & mask_of(i.t.bytes);
    uint64_t v = old;
    switch (i.atom) {
    case atomic::inc: v = old >= x ? 0 : old + 1; break;
    case atomic::add:
      if (i.t.k == kind::f) throw error("a float atomic, line " + std::to_string(i.line));
      v = old + x;
      break;
    case atomic::exch: v = x; break;
    case atomic::or_bits: v = old | x; break;
    case atomic::xor_bits: v = old ^ x; break;
    case atomic::max_unsigned: v = old > x ? old : x; break;
    case atomic::cas: v = old == x ? get(t, b, i.src[1]) : old; break;
    }
    std::memcpy(p, &v, static_cast<size_t>(i.t.bytes));
    set(t, i.dst[0], old);
  }

  template <class T> uint64_t float_op(op code, uint64_t a, uint64_t b, uint64_t c) const {
    T const x = as<T>(a), y = as<T>(b), z = as<T>(c);
    switch (code) {
    case op::add: return raw(canonical(static_cast<T>(x + y)));
    case op::sub: return raw(canonical(static_cast<T>(x - y)));
    case op::mul_lo: return raw(canonical(static_cast<T>(x * y)));
    case op::fma: return raw(canonical(std::fma(x, y, z)));
    case op::div: return raw(canonical(static_cast<T>(x / y)));
    case op::sqrt: return raw(canonical(std::sqrt(x)));
    default: throw error("float operation");
    }
  }

  uint64_t compute(thread const& t, block const& blk, instruction const& i) const {
    uint64_t const a = i.src[0].what == operand::none ? 0 : get(t, blk, i.src[0]);
    uint64_t const b = i.src[1].what == operand::none ? 0 : get(t, blk, i.src[1]);
    uint64_t const c = i.src[2].what == operand::none ? 0 : get(t, blk, i.src[2]);
    int const bytes = i.t.bytes;
    int const bits = 8 * bytes;
    uint64_t const m = i.t.k == kind::pred ? 1 : mask_of(bytes);
    bool const is_signed = i.t.k == kind::s;
    switch (i.code) { // moves and selections do not look at the type
    case op::mov: return i.t.k == kind::f ? a : a & m;
    case op::selp: return (c & 1) != 0 ? a : b;
    case op::cvt: return convert(i, a);
    default: break;
    }
    if (i.t.k == kind::f)
      return bytes == 4 ? float_op<float>(i.code, a, b, c) : float_op<double>(i.code, a, b, c);
    int64_t const sa = signed_value(a, bytes), sb = signed_value(b, bytes);
    switch (i.code) {
    case op::add: return (a + b) & m;
    case op::sub: return (a - b) & m;
    case op::mul_lo: return (a * b) & m;
    case op::mul_wide: return wide(i, a, b);
    case op::mad_wide: return wide(i, a, b) + c;
    case op::mul_hi:
      return (is_signed ? static_cast<uint64_t>(static_cast<wide_signed>(sa) * sb >> bits)
                        : static_cast<uint64_t>(static_cast<wide_unsigned>(a & m) * (b & m) >> bits)) & m;
    case op::mad_lo: return (a * b + c) & m;
    case op::and_: return a & b & m;
    case op::or_: return (a | b) & m;
    case op::xor_: return (a ^ b) & m;
    case op::not_: return ~a & m;
    case op::shl: return (b & 0xffffffffu) >= static_cast<uint64_t>(bits) ? 0 : (a << b) & m;
    case op::shr: {
      uint64_t const by = std::min<uint64_t>(b & 0xffffffffu, static_cast<uint64_t>(bits));
      if (is_signed) return static_cast<uint64_t>(sa >> std::min<uint64_t>(by, 63)) & m;
      return by == 64 ? 0 : (a & m) >> by;
    }
    case op::neg: return (0 - a) & m;
    case op::abs: return static_cast<uint64_t>(sa < 0 ? -sa : sa) & m;
    case op::min: return (is_signed ? (sa < sb ? a : b) : ((a & m) < (b & m) ? a : b)) & m;
    case op::max: return (is_signed ? (sa > sb ? a : b) : ((a & m) > (b & m) ? a : b)) & m;
    case op::setp: {
      uint64_t const x = a & m, y = b & m;
      switch (i.cmp) {
      case compare::eq: return x == y;
      case compare::ne: return x != y;
      case compare::lt: return is_signed ? sa < sb : x < y;
      case compare::le: return is_signed ? sa <= sb : x <= y;
      case compare::gt: return is_signed ? sa > sb : x > y;
      case compare::ge: return is_signed ? sa >= sb : x >= y;
      case compare::lo: return x < y;
      case compare::ls: return x <= y;
      case compare::hi: return x > y;
      case compare::hs: return x >= y;
      }
      break;
    }
    case op::clz: return (a & m) == 0 ? static_cast<uint64_t>(bits) : static_cast<uint64_t>(__builtin_clzll(a & m) - (64 - bits));
    case op::popc: return static_cast<uint64_t>(__builtin_popcountll(a & m));
    case op::brev: {
      uint64_t r = 0;
      for (int k = 0; k < bits; ++k) r |= (a >> k & 1) << (bits - 1 - k);
      return r;
    }
    case op::prmt: {
      uint64_t const pool = (b << 32) | (a & 0xffffffffu);
      uint64_t r = 0;
      for (int k = 0; k < 4; ++k) {
        uint64_t const s = c >> (4 * k) & 15;
        uint64_t byte = pool >> (8 * (s & 7)) & 0xff;
        if ((s & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
        r |= byte << (8 * k);
      }
      return r;
    }
    case op::bfi: { // a into b at bit c, src[3] bits
      uint64_t const at = c & 0xff, length = get(t, blk, i.src[3]) & 0xff;
      if (at >= static_cast<uint64_t>(bits)) return b & m;
      uint64_t const field = (length >= 64 ? ~uint64_t{0} : (uint64_t{1} << length) - 1) << at;
      return ((b & ~field) | (a << at & field)) & m;
    }
    case op::div: return is_signed ? static_cast<uint64_t>(sa / sb) & m : (a & m) / (b & m);
    case op::rem: return is_signed ? static_cast<uint64_t>(sa % sb) & m : (a & m) % (b & m);
    default: break;
    }
    throw error("instruction, line " + std::to_string(i.line));
  }

  static uint64_t wide(instruction const& i, uint64_t a, uint64_t b) {
    if (i.t.k == kind::s)
      return static_cast<uint64_t>(signed_value(a, i.t.bytes) * signed_value(b, i.t.bytes)) & mask_of(2 * i.t.bytes);
    return ((a & mask_of(i.t.bytes)) * (b & mask_of(i.t.bytes))) & mask_of(2 * i.t.bytes);
  }

  static uint64_t convert(instruction const& i, uint64_t a) {
    if (i.t.k != kind::f) { // integer to integer
      uint64_t const v = i.from.k == kind::s ? static_cast<uint64_t>(signed_value(a, i.from.bytes)) : a & mask_of(i.from.bytes);
      return v & mask_of(i.t.bytes);
    }
    if (i.from.k == kind::f) {
      if (i.from.bytes == 4 && i.t.bytes == 8) return raw(canonical(static_cast<double>(as<float>(a))));
      if (i.from.bytes == 8 && i.t.bytes == 4) return raw(canonical(static_cast<float>(as<double>(a))));
      return a;
    }
    if (i.from.k == kind::s) {
      int64_t const v = signed_value(a, i.from.bytes);
      return i.t.bytes == 4 ? raw(static_cast<float>(v)) : raw(static_cast<double>(v));
    }
    uint64_t const v = a & mask_of(i.from.bytes);
    return i.t.bytes == 4 ? raw(static_cast<float>(v)) : raw(static_cast<double>(v));
  }

  kernel const& k_;
  launch_config config_;
  std::vector<unsigned char> params_;
  random random_;
  uint64_t executed_ = 0;
};

} // namespace

uint64_t run(kernel const& k, launch_config const& config, arguments const& args) {
  if (args.values().size() != k.param_offset.size()) throw error("the kernel takes another number of parameters");
  std::vector<unsigned char> params(k.param_bytes + 16, 0xff);
  for (size_t i = 0; i < args.values().size(); ++i)
    std::copy(args.values()[i].begin(), args.values()[i].end(), params.begin() + static_cast<long>(k.param_offset[i]));
  return machine(k, config, params).run();
}

} // namespace ptx
