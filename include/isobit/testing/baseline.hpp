// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `baseline`: today's results have the digests that a file recorded, under the same orders, recipes and bits version.
#pragma once

#include <isobit/algo/digest_host.hpp>
#include <isobit/error.hpp>
#include <isobit/order/order_id.hpp>
#include <isobit/testing/cases.hpp>
#include <isobit/version.hpp>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace isobit::inline bits1::testing {

//! The name of an order for a baseline's ids: "isobit.tree.1".
template <is_order Order> std::string id_of() { return order_id<Order>().name; }

namespace detail {

//! The digests of one output.
struct golden_output {
  std::string type;
  uint64_t count = 0, digest = 0, chunk_bytes = 0;
  std::vector<uint64_t> chunks;
  friend bool operator==(golden_output const&, golden_output const&) = default;
};

//! A baseline file: text, one fact a line, the last line `end`.
struct golden_file {
  uint64_t bits = static_cast<uint64_t>(bits_version);
  std::string release = std::to_string(ISOBIT_VERSION_MAJOR) + "." + std::to_string(ISOBIT_VERSION_MINOR) + "." +
                        std::to_string(ISOBIT_VERSION_PATCH);
  std::vector<std::string> ids; //!< sorted
  std::vector<golden_output> outputs;
  std::vector<std::string> updates; //!< "2026-11-30 from <digest> to <digest> because <reason>"

  std::string digest() const {
    std::vector<uint64_t> all;
    for (golden_output const& o : outputs) all.insert(all.end(), {o.count, o.digest});
    return hex(isobit::digest(host(), all.data(), all.size() * 8));
  }

  static std::string hex(uint64_t x) { return formatted("%016llx", static_cast<unsigned long long>(x)); }

  std::string text() const {
    std::ostringstream out;
    out << "isobit-baseline 1\nbits-version " << bits << "\nisobit " << release << '\n';
    for (std::string const& id : ids) out << "id " << id << '\n';
    for (golden_output const& o : outputs) {
      out << "output " << o.count << ' ' << hex(o.digest) << ' ' << o.chunk_bytes << ' ' << o.type << '\n';
      for (size_t c = 0; c < o.chunks.size(); ++c)
        out << (c % 4 == 0 ? c == 0 ? "chunks" : "\nchunks" : "") << ' ' << hex(o.chunks[c]);
      if (!o.chunks.empty()) out << '\n';
    }
    for (std::string const& u : updates) out << "update " << u << '\n';
    out << "end\n";
    return out.str();
  }

  //! Nothing when `text` is not a whole baseline file.
  static std::optional<golden_file> parse(std::string const& text) {
    golden_file f;
    f.bits = 0;
    std::istringstream lines(text);
    std::string line;
    if (!std::getline(lines, line) || line != "isobit-baseline 1") return std::nullopt;
    while (std::getline(lines, line)) {
      if (line == "end") return f.bits != 0 && !f.outputs.empty() ? std::optional(f) : std::nullopt;
      std::istringstream words(line);
      std::string what, rest;
      words >> what;
      if (what == "bits-version") {
        if (!(words >> f.bits)) return std::nullopt;
      } else if (what == "isobit") {
        words >> f.release;
      } else if (what == "id") {
        f.ids.push_back(line.size() > 3 ? line.substr(3) : "");
      } else if (what == "update") {
        f.updates.push_back(line.size() > 7 ? line.substr(7) : "");
      } else if (what == "output") {
        golden_output o;
        if (!(words >> o.count >> std::hex >> o.digest >> std::dec >> o.chunk_bytes)) return std::nullopt;
        std::getline(words >> std::ws, o.type);
        f.outputs.push_back(o);
      } else if (what == "chunks" && !f.outputs.empty()) {
        uint64_t d;
        while (words >> std::hex >> d) f.outputs.back().chunks.push_back(d);
      } else {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }
};

inline golden_output golden_output_of(output const& o) {
  golden_output g;
  g.type = o.kind.name;
  g.count = o.count();
  g.chunk_bytes = 4096;
  while (o.bytes.size() / g.chunk_bytes > 64) g.chunk_bytes *= 2;
  g.chunks.resize(digest_chunks(o.bytes.size(), g.chunk_bytes));
  g.digest = chunk_digests(host(), o.bytes.data(), o.bytes.size(), g.chunk_bytes, g.chunks.data());
  return g;
}

inline std::optional<std::string> read_file(std::filesystem::path const& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

//! Writes beside the file and renames, so that the file is the old one or the new one whenever the machine stops.
inline bool replace_file(std::filesystem::path const& file, std::string const& text) {
  std::filesystem::path beside = file;
  beside += ".new";
  std::FILE* const out = std::fopen(beside.string().c_str(), "wb");
  if (out == nullptr) return false;
  bool ok = std::fwrite(text.data(), 1, text.size(), out) == text.size();
  ok = std::fflush(out) == 0 && ok;
#if defined(__unix__) || defined(__APPLE__)
  ok = ::fsync(::fileno(out)) == 0 && ok;
#endif
  ok = std::fclose(out) == 0 && ok;
  std::error_code error;
  if (ok) std::filesystem::rename(beside, file, error);
  if (ok && !error) return true;
  std::filesystem::remove(beside, error);
  return false;
}

inline std::string today() {
  std::time_t const now = std::time(nullptr);
  char text[32] = "";
  if (std::tm const* const utc = std::gmtime(&now)) std::strftime(text, sizeof text, "%Y-%m-%d", utc);
  return text;
}

//! The facts of one run; `f` is a function that returns results, or the results.
template <class F> golden_file golden_of(F const& f, std::vector<std::string> ids) {
  golden_file g;
  if (ids.empty())
    throw invalid_argument("testing::baseline", "ids", "the names of the orders and recipes: at least one");
  std::sort(ids.begin(), ids.end());
  for (std::string const& id : ids)
    if (id.empty() || id.find('\n') != std::string::npos)
      throw invalid_argument("testing::baseline", "ids", "names of one line each, not empty");
  g.ids = std::move(ids);
  outputs results;
  if constexpr (std::invocable<F const&>)
    results = outputs_of(f());
  else
    results = outputs_of(f);
  for (output const& o : results) g.outputs.push_back(golden_output_of(o));
  return g;
}

inline std::string list(std::vector<std::string> const& names) {
  std::string out;
  for (std::string const& n : names) out += (out.empty() ? "" : ", ") + n;
  return out.empty() ? "none" : out;
}

} // namespace detail

//! Compares the digests of what `f()` returns (or of `f`, if it is a result) with those in `file`. `ids` name every
//! order and recipe that the results depend on: `id_of<tree>()`, "mxfp8.e4m3.rceil", ... Fails
//! - when the file does not exist, or is not a whole baseline;
//! - without comparing, when the ids or the bits version of the file are others: such results may differ rightly;
//! - when an output has another type, size or digest: the report names the first differing chunk.
//!
//! Never writes. Throws `invalid_argument` for ids that are missing, or not single lines.
//!
//!     CHECK(isobit::testing::baseline(run, "tests/row_norms.baseline", {isobit::testing::id_of<isobit::tree>()}));
template <class F>
[[nodiscard]] verdict baseline(F const& f, std::filesystem::path const& file, std::vector<std::string> const& ids) {
  verdict v("baseline");
  std::string const name = file.string();
  auto const text = detail::read_file(file);
  if (!text)
    return v.fail("there is no baseline " + name +
                  "\n  record one: isobit::testing::update_baseline(f, file, ids, reason)");
  auto const wanted = detail::golden_file::parse(*text);
  if (!wanted) return v.fail(name + " is not a baseline, or was cut off");
  detail::golden_file const now = detail::golden_of(f, ids);
  v.add_runs(1);
  if (wanted->bits != now.bits)
    return v.fail("not compared: " + name + " has bits version " + std::to_string(wanted->bits) + ", this program " +
                  std::to_string(now.bits) + ", and such results may differ rightly");
  if (wanted->ids != now.ids)
    return v.fail("not compared: " + name + " was recorded with " + detail::list(wanted->ids) + ", this run has " +
                  detail::list(now.ids) + ", and such results may differ rightly");
  std::string const last = "\n  recorded: " + (wanted->updates.empty() ? "" : wanted->updates.back()) +
                           "\n  if the change is wanted: isobit::testing::update_baseline(f, file, ids, reason)";
  if (wanted->outputs.size() != now.outputs.size())
    return v.fail(std::to_string(now.outputs.size()) + " outputs, " + std::to_string(wanted->outputs.size()) + " in " +
                  name + last);
  for (size_t o = 0; o < now.outputs.size(); ++o) {
    detail::golden_output const &a = wanted->outputs[o], &b = now.outputs[o];
    std::string const which = "output " + std::to_string(o);
    if (a.type != b.type || a.count != b.count)
      return v.fail(which + " is " + std::to_string(b.count) + " elements of " + b.type + ", " +
                    std::to_string(a.count) + " of " + a.type + " in " + name + last);
    v.add_compared(b.count);
    if (a.digest == b.digest) continue;
    uint64_t chunk = 0;
    while (chunk < a.chunks.size() && chunk < b.chunks.size() && a.chunks[chunk] == b.chunks[chunk]) ++chunk;
    v.first_difference(1, o, 0);
    return v.fail(which + " has the digest " + detail::golden_file::hex(b.digest) + ", " +
                  detail::golden_file::hex(a.digest) + " in " + name + "\n  first differing chunk: " +
                  std::to_string(chunk) + " of " + std::to_string(b.chunk_bytes) + " bytes" + last);
  }
  return v;
}

//! Records what `f` returns as the baseline. `reason` is stored with the date and the digest that was there before; it
//! must not be empty. A file that exists and is not a baseline is left alone. The file is replaced as a whole.
//! Throws `invalid_argument` for an empty reason, and as `baseline`.
template <class F>
[[nodiscard]] verdict update_baseline(F const& f, std::filesystem::path const& file,
                                      std::vector<std::string> const& ids, std::string reason) {
  verdict v("update_baseline");
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  if (reason.find_first_not_of(" \t\r") == std::string::npos)
    throw invalid_argument("testing::update_baseline", "reason", "given: why do the bits change?");
  detail::golden_file now = detail::golden_of(f, ids);
  uint64_t count = 0;
  for (auto const& o : now.outputs) count += o.count;
  v.add_runs(1).add_compared(count);
  if (count == 0) return v.remark("no results, nothing was recorded");
  std::string before = "none";
  if (auto const text = detail::read_file(file)) {
    auto const old = detail::golden_file::parse(*text);
    if (!old) return v.fail(file.string() + " exists and is not a whole baseline: not overwritten");
    before = old->digest();
    now.updates = old->updates;
  }
  now.updates.push_back(detail::today() + " from " + before + " to " + now.digest() + " because " + reason);
  if (!detail::replace_file(file, now.text())) return v.fail("cannot write " + file.string());
  return v.remark("recorded in " + file.string());
}

} // namespace isobit::inline bits1::testing
