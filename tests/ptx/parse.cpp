// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "interpreter.hpp"

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace ptx {
namespace {

[[noreturn]] void fail(int line, std::string const& what, std::string const& text) {
  throw error("PTX line " + std::to_string(line) + ": " + what + ": " + text);
}

std::string strip(std::string s) {
  if (auto const c = s.find("//"); c != std::string::npos) s.resize(c);
  auto const first = s.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string> split(std::string const& s, char separator) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (char c : s) {
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c == separator && depth == 0) {
      parts.push_back(strip(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!strip(part).empty()) parts.push_back(strip(part));
  return parts;
}

bool type_of(std::string const& m, type& t) {
  static std::map<std::string, type> const known = {
      {"u8", {kind::u, 1}},  {"u16", {kind::u, 2}}, {"u32", {kind::u, 4}}, {"u64", {kind::u, 8}}, {"s8", {kind::s, 1}},
      {"s16", {kind::s, 2}}, {"s32", {kind::s, 4}}, {"s64", {kind::s, 8}}, {"b8", {kind::b, 1}},  {"b16", {kind::b, 2}},
      {"b32", {kind::b, 4}}, {"b64", {kind::b, 8}}, {"f32", {kind::f, 4}}, {"f64", {kind::f, 8}}, {"pred", {kind::pred, 1}}};
  auto const i = known.find(m);
  if (i == known.end()) return false;
  t = i->second;
  return true;
}

// One kernel's text to instructions.
class parser {
public:
  explicit parser(kernel& k) : k_(k) {}

  void parameter(std::string const& declaration, int line) {
    // .param .align 8 .b8 name[8]   or   .param .u64 name
    auto words = split(declaration, ' ');
    uint64_t align = 0, count = 1;
    type t;
    std::string name;
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] == ".param" || words[i].empty()) continue;
      if (words[i] == ".align") align = std::stoull(words[++i]);
      else if (words[i][0] == '.' && type_of(words[i].substr(1), t)) continue;
      else name = words[i];
    }
    if (name.empty() || t.bytes == 0) fail(line, "parameter", declaration);
    if (auto const b = name.find('['); b != std::string::npos) {
      count = std::stoull(name.substr(b + 1));
      name.resize(b);
    }
    if (align == 0) align = static_cast<uint64_t>(t.bytes);
    k_.param_bytes = (k_.param_bytes + align - 1) / align * align;
    symbols_[name] = k_.param_bytes;
    k_.param_offset.push_back(k_.param_bytes);
    k_.param_bytes += count * static_cast<uint64_t>(t.bytes);
  }

  void statement(std::string s, int line) {
    // a label may stand before
    while (true) {
      auto const colon = s.find(':');
      if (colon == std::string::npos || s[0] != '$') break;
      labels_[s.substr(0, colon)] = static_cast<int>(k_.code.size());
      s = strip(s.substr(colon + 1));
    }
    if (s.empty()) return;
    if (s.rfind(".reg", 0) == 0) return; // registers are numbered as they are met
    if (s.rfind(".shared", 0) == 0 || s.rfind(".local", 0) == 0) return variable(s, line);
    if (s.rfind(".pragma", 0) == 0 || s.rfind(".loc", 0) == 0) return;
    if (s[0] == '.') fail(line, "directive", s);
    decode(s, line);
  }

  void finish() {
    for (auto& [index, label, line] : jumps_) {
      auto const i = labels_.find(label);
      if (i == labels_.end()) fail(line, "label", label);
      k_.code[static_cast<size_t>(index)].target = i->second;
    }
    k_.registers = static_cast<int>(registers_.size());
  }

private:
  void variable(std::string const& s, int line) {
    // .shared .align 8 .b8 name[272]
    auto const words = split(s, ' ');
    uint64_t align = 1, count = 1;
    type t;
    std::string name;
    for (size_t i = 1; i < words.size(); ++i) {
      std::string w = strip(words[i]);
      if (w.empty()) continue;
      if (w == ".align") align = std::stoull(words[++i]);
      else if (w[0] == '.' && type_of(w.substr(1), t)) continue;
      else name = w;
    }
    if (auto const tab = name.find('\t'); tab != std::string::npos) name = name.substr(tab + 1);
    if (auto const b = name.find('['); b != std::string::npos) {
      count = std::stoull(name.substr(b + 1));
      name.resize(b);
    }
    if (name.empty()) fail(line, "variable", s);
    uint64_t& bytes = words[0] == ".shared" ? k_.shared_bytes : k_.local_bytes;
    bytes = (bytes + align - 1) / align * align;
    symbols_[name] = bytes;
    bytes += count * static_cast<uint64_t>(t.bytes == 0 ? 1 : t.bytes);
  }

  int reg(std::string const& name) {
    auto const [i, fresh] = registers_.try_emplace(name, static_cast<int>(registers_.size()));
    return i->second;
  }

  operand value(std::string const& s, type t, int line) {
    operand o;
    if (s[0] == '%') {
      static std::map<std::string, int> const special = {{"%tid.x", -2},   {"%tid.y", -3},   {"%tid.z", -4},
                                                         {"%ntid.x", -5},  {"%ntid.y", -6},  {"%ntid.z", -7},
                                                         {"%ctaid.x", -8}, {"%ctaid.y", -9}, {"%ctaid.z", -10},
                                                         {"%nctaid.x", -11}, {"%nctaid.y", -12}, {"%nctaid.z", -13},
                                                         {"%laneid", -14}};
      o.what = operand::reg;
      if (auto const i = special.find(s); i != special.end())
        o.index = i->second;
      else
        o.index = reg(s);
      return o;
    }
    if (s[0] == '[') {
      o.what = operand::memory;
      std::string inner = s.substr(1, s.size() - 2), offset;
      if (auto const plus = inner.find('+', 1); plus != std::string::npos) {
        offset = inner.substr(plus + 1);
        inner.resize(plus);
      }
      if (inner[0] == '%') o.index = reg(inner);
      else if (auto const i = symbols_.find(inner); i != symbols_.end()) o.value = i->second;
      else fail(line, "address", s);
      if (!offset.empty()) o.value += static_cast<uint64_t>(std::stoll(offset));
      return o;
    }
    o.what = operand::imm;
    if (auto const i = symbols_.find(s); i != symbols_.end()) {
      o.value = i->second;
    } else if (s.rfind("0f", 0) == 0 || s.rfind("0F", 0) == 0 || s.rfind("0d", 0) == 0 || s.rfind("0D", 0) == 0) {
      o.value = std::stoull(s.substr(2), nullptr, 16);
    } else if (std::isdigit(static_cast<unsigned char>(s[0])) || s[0] == '-') {
      if (t.k == kind::f) fail(line, "number for a float", s);
      o.value = s[0] == '-' ? static_cast<uint64_t>(std::stoll(s, nullptr, 0)) : std::stoull(s, nullptr, 0);
    } else {
      fail(line, "operand", s);
    }
    return o;
  }

  void values(std::string const& s, operand* out, int& count, type t, int line) {
    if (s[0] == '{') {
      count = 0;
      for (auto const& part : split(s.substr(1, s.size() - 2), ',')) {
        if (count == 4) fail(line, "vector", s);
        out[count++] = value(part, t, line);
      }
    } else {
      count = 1;
      out[0] = value(s, t, line);
    }
  }

  void decode(std::string s, int line) {
    instruction i;
    i.line = line;
    std::string const whole = s;
    if (s[0] == '@') {
      auto const space_at = s.find_first_of(" \t");
      std::string guard = s.substr(1, space_at - 1);
      if (guard[0] == '!') i.guard_not = true, guard = guard.substr(1);
      i.guard = reg(guard);
      s = strip(s.substr(space_at));
    }
    auto const gap = s.find_first_of(" \t");
    std::string const opcode = s.substr(0, gap);
    auto const args = gap == std::string::npos ? std::vector<std::string>{} : split(strip(s.substr(gap)), ',');
    auto const m = split(opcode, '.');
    std::vector<type> types;
    std::vector<std::string> flags;
    for (size_t k = 1; k < m.size(); ++k) {
      type t;
      if (type_of(m[k], t)) types.push_back(t);
      else flags.push_back(m[k]);
    }
    auto const take = [&](char const* flag) {
      for (size_t k = 0; k < flags.size(); ++k)
        if (flags[k] == flag) {
          flags.erase(flags.begin() + static_cast<long>(k));
          return true;
        }
      return false;
    };
    if (!types.empty()) i.t = types[0];
    bool const is_float = !types.empty() && i.t.k == kind::f;
    auto const need_rn = [&] {
      if (is_float && !take("rn")) fail(line, "float arithmetic without .rn", whole);
    };
    size_t operands = args.size();
    auto const plain = [&](op code, size_t sources) {
      i.code = code;
      if (args.size() != sources + 1 || types.size() != 1) fail(line, "form", whole);
      i.dst[0] = value(args[0], i.t, line);
      for (size_t k = 0; k < sources; ++k) i.src[k] = value(args[k + 1], i.t, line);
    };
    auto const& name = m[0];

    if (name == "mov") {
      if (args[0][0] == '{') {
        i.code = op::unpack;
        values(args[0], i.dst, i.width, i.t, line);
        i.src[0] = value(args[1], i.t, line);
      } else if (args[1][0] == '{') {
        i.code = op::pack;
        i.dst[0] = value(args[0], i.t, line);
        values(args[1], i.src, i.width, i.t, line);
      } else {
        plain(op::mov, 1);
      }
    } else if (name == "add") need_rn(), plain(op::add, 2);
    else if (name == "sub") need_rn(), plain(op::sub, 2);
    else if (name == "mul") {
      if (is_float) need_rn(), plain(op::mul_lo, 2);
      else if (take("wide")) plain(op::mul_wide, 2);
      else if (take("hi")) plain(op::mul_hi, 2);
      else if (take("lo")) plain(op::mul_lo, 2);
      else fail(line, "mul", whole);
    } else if (name == "mad") {
      if (take("wide")) plain(op::mad_wide, 3);
      else if (take("lo")) plain(op::mad_lo, 3);
      else fail(line, "mad", whole);
    } else if (name == "fma") need_rn(), plain(op::fma, 3);
    else if (name == "rem")
      plain(op::rem, 2);
    else if (name == "div") {
      if (is_float) need_rn();
      plain(op::div, 2);
    } else if (name == "sqrt") need_rn(), plain(op::sqrt, 1);
    else if (name == "and") plain(op::and_, 2);
    else if (name == "or") plain(op::or_, 2);
    else if (name == "xor") plain(op::xor_, 2);
    else if (name == "not") plain(op::not_, 1);
    else if (name == "shl") plain(op::shl, 2);
    else if (name == "shr") plain(op::shr, 2);
    else if (name == "clz") plain(op::clz, 1);
    else if (name == "popc") plain(op::popc, 1);
    else if (name == "brev") plain(op::brev, 1);
    else if (name == "prmt") plain(op::prmt, 3);
    else if (name == "bfi") plain(op::bfi, 4);
    else if (name == "neg" || name == "abs" || name == "min" || name == "max") {
      if (is_float) fail(line, "float neg, abs, min, max may flush", whole);
      plain(name == "neg" ? op::neg : name == "abs" ? op::abs : name == "min" ? op::min : op::max, name == "neg" || name == "abs" ? 1 : 2);
    } else if (name == "setp") {
      static std::map<std::string, compare> const known = {
          {"eq", compare::eq}, {"ne", compare::ne}, {"lt", compare::lt}, {"le", compare::le}, {"gt", compare::gt},
          {"ge", compare::ge}, {"lo", compare::lo}, {"ls", compare::ls}, {"hi", compare::hi}, {"hs", compare::hs}};
      if (flags.size() != 1 || !known.count(flags[0]) || is_float) fail(line, "setp", whole);
      i.cmp = known.at(flags[0]);
      flags.clear();
      plain(op::setp, 2);
    } else if (name == "selp") {
      plain(op::selp, 3);
    } else if (name == "cvt") {
      if (types.size() != 2 || args.size() != 2) fail(line, "cvt", whole);
      i.code = op::cvt;
      i.from = types[1];
      if (i.t.k == kind::f && !(i.from.k == kind::f && i.from.bytes < i.t.bytes)) {
        if (!take("rn")) fail(line, "cvt to float without .rn", whole);
      } else if (i.from.k == kind::f && i.t.k != kind::f) {
        fail(line, "cvt from float", whole);
      }
      i.dst[0] = value(args[0], i.t, line);
      i.src[0] = value(args[1], i.from, line);
    } else if (name == "ld" && take("acquire")) { // others may run in between, as at an atomic that changes nothing
      i.code = op::atom;
      i.atom = atomic::or_bits;
      take("gpu");
      i.where = take("global") ? space::global : space::generic;
      i.dst[0] = value(args[0], i.t, line);
      i.src[0].what = operand::imm;
      i.src[4] = value(args[1], i.t, line);
    } else if (name == "ld" || name == "st") {
      i.code = name == "ld" ? op::ld : op::st;
      i.release = name == "st" && take("release");
      take("volatile"), take("relaxed"), take("gpu"), take("weak");
      i.where = take("global") ? space::global : take("shared") ? space::shared : take("local") ? space::local
                : take("param") ? space::param : space::generic;
      int const lanes = take("v2") ? 2 : take("v4") ? 4 : 1;
      int const data = name == "ld" ? 0 : 1;
      values(args[static_cast<size_t>(data)], name == "ld" ? i.dst : i.src, i.width, i.t, line);
      if (i.width != lanes) fail(line, "vector width", whole);
      i.src[4] = value(args[static_cast<size_t>(1 - data)], i.t, line);
    } else if (name == "cvta") {
      i.code = op::cvta;
      i.to = take("to");
      i.where = take("global") ? space::global : take("shared") ? space::shared : take("local") ? space::local : space::generic;
      if (i.where == space::generic) fail(line, "cvta", whole);
      i.dst[0] = value(args[0], i.t, line);
      i.src[0] = value(args[1], i.t, line);
    } else if (name == "bra") {
      take("uni");
      i.code = op::bra;
      jumps_.push_back({static_cast<int>(k_.code.size()), args[0], line});
    } else if (name == "ret" || name == "exit") {
      i.code = op::ret;
    } else if (name == "trap") {
      i.code = op::trap;
    } else if (name == "bar" && take("warp")) {
      if (!take("sync") || args.size() != 1) fail(line, "bar.warp", whole);
      i.code = op::warp_bar;
      i.src[0] = value(args[0], i.t, line);
    } else if (name == "bar" && take("sync")) {
      if (args.size() != 1 || args[0] != "0") fail(line, "barrier", whole);
      i.code = op::bar;
    } else if (name == "membar" || name == "fence") {
      flags.clear();
      i.code = op::fence;
    } else if (name == "nanosleep") {
      i.code = op::nanosleep;
      if (args.size() != 1) fail(line, "nanosleep", whole);
      i.src[0] = value(args[0], i.t, line);
    } else if (name == "shfl") {
      if (!take("sync")) fail(line, "shfl", whole);
      i.code = op::shfl;
      i.shfl = take("bfly") ? shuffle::bfly : take("idx") ? shuffle::idx : take("up") ? shuffle::up
               : (take("down"), shuffle::down);
      if (operands != 5) fail(line, "shfl", whole);
      auto const both = split(args[0], '|'); // value|predicate
      i.dst[0] = value(both[0], i.t, line);
      if (both.size() > 1) i.dst[1] = value(both[1], i.t, line);
      for (size_t k = 0; k < 4; ++k) i.src[k] = value(args[k + 1], i.t, line);
    } else if (name == "vote") {
      if (!take("sync") || !take("ballot")) fail(line, "vote", whole);
      i.code = op::ballot;
      i.dst[0] = value(args[0], i.t, line);
      i.src[0] = value(args[1], i.t, line);
      i.src[1] = value(args[2], i.t, line);
    } else if (name == "atom") {
      i.code = op::atom;
      take("acq_rel"), take("relaxed"), take("gpu"), take("sys");
      i.where = take("global") ? space::global : take("shared") ? space::shared : space::generic;
      i.atom = take("inc") ? atomic::inc : take("exch") ? atomic::exch : take("cas") ? atomic::cas
               : take("or") ? atomic::or_bits : take("xor") ? atomic::xor_bits
               : take("max") ? atomic::max_unsigned
               : (take("add"), atomic::add);
      i.dst[0] = value(args[0], i.t, line);
      i.src[4] = value(args[1], i.t, line);
      for (size_t k = 2; k < args.size(); ++k) i.src[k - 2] = value(args[k], i.t, line);
    } else {
      fail(line, "unknown opcode", whole);
    }
    if (!flags.empty()) fail(line, "unknown modifier ." + flags[0], whole);
    k_.code.push_back(i);
  }

  struct jump {
    int index;
    std::string label;
    int line;
  };
  kernel& k_;
  std::map<std::string, int> registers_;
  std::map<std::string, uint64_t> symbols_;
  std::map<std::string, int> labels_;
  std::vector<jump> jumps_;
};

} // namespace

module::module(std::string const& text) {
  std::istringstream in(text);
  std::string line, pending;
  int number = 0, depth = 0;
  enum { outside, parameters, body } state = outside;
  kernel k;
  std::unique_ptr<parser> p;
  while (std::getline(in, line)) {
    ++number;
    line = strip(line);
    if (line.empty()) continue;
    if (state == outside) {
      auto const entry = line.find(".entry ");
      if (entry == std::string::npos) {
        if (line.find(".func") != std::string::npos) fail(number, "functions are not known", line);
        continue;
      }
      k = kernel{};
      k.name = line.substr(entry + 7, line.find('(') - entry - 7);
      p = std::make_unique<parser>(k);
      state = parameters; // up to the brace
    } else if (state == parameters) {
      if (line[0] == '.' && line.rfind(".param", 0) == 0) {
        if (line.back() == ',') line.pop_back();
        p->parameter(line, number);
      } else if (line == "{") {
        state = body;
      }
    } else if (line == "{") { // a scope of its own registers; their names are the same in every scope
      ++depth;
    } else if (line == "}" && depth > 0) {
      --depth;
    } else if (line == "}") {
      if (!pending.empty()) fail(number, "unfinished statement", pending);
      p->finish();
      kernels_[k.name] = std::move(k);
      state = outside;
    } else {
      pending += line;
      if (pending.back() == ':') { // a label on a line of its own
        p->statement(pending, number);
        pending.clear();
        continue;
      }
      if (pending.back() != ';') continue;
      pending.pop_back();
      p->statement(pending, number);
      pending.clear();
    }
  }
}

kernel const& module::find(std::vector<std::string> const& parts) const {
  kernel const* found = nullptr;
  for (auto const& [name, k] : kernels_) {
    bool all = true;
    for (auto const& part : parts) all = all && name.find(part) != std::string::npos;
    if (!all) continue;
    if (found != nullptr) throw error("several kernels match: " + found->name + " and " + name);
    found = &k;
  }
  if (found == nullptr) throw error("no kernel matches " + (parts.empty() ? std::string() : parts[0]));
  return *found;
}

} // namespace ptx
