// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Fingerprints of all tensors of a file, made by many threads, written as a JSON manifest, and read again.
#pragma once

#include "tensor_file.hpp"

#include <isobit/fingerprint.hpp>
#include <isobit/group/threads.hpp>
#include <isobit/version.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <map>

namespace tensors {

//! What a manifest says of a tensor.
struct fingerprint {
  std::string type;
  std::vector<std::uint64_t> shape;
  std::uint64_t bytes = 0;
  isobit::bits128 digest{};          //!< of the tensor, with its type and shape
  std::vector<std::uint64_t> chunks; //!< of `chunk_bytes` bytes each, at their place in the tensor
};

struct manifest {
  std::uint64_t chunk_bytes = 0;
  std::map<std::string, fingerprint> tensors;
};

//! `progress(done, all)` in bytes is called now and then, by any of the threads.
using progress_function = std::function<void(std::uint64_t, std::uint64_t)>;

//! The fingerprints of `all`. `threads` 0: as many as the processor runs at once.
inline manifest fingerprints(std::vector<tensor> const& all, std::uint64_t chunk_bytes, unsigned threads,
                             progress_function const& progress) {
  struct job {
    std::size_t tensor;
    std::uint64_t chunk;
  };
  std::vector<job> jobs;
  std::vector<std::vector<isobit::digest128_sum>> sums(all.size());
  std::uint64_t total = 0;
  for (std::size_t t = 0; t < all.size(); ++t) {
    sums[t].resize(isobit::digest_chunks(all[t].bytes.size(), chunk_bytes));
    for (std::uint64_t c = 0; c < sums[t].size(); ++c) jobs.push_back({t, c});
    total += all[t].bytes.size();
  }
  std::atomic<std::uint64_t> done{0};
  isobit::threads const run(threads);
  run(jobs.size(), [&](std::uint64_t j) {
    auto const [t, c] = jobs[j];
    std::uint64_t const first = c * chunk_bytes;
    auto const length = std::min<std::uint64_t>(chunk_bytes, all[t].bytes.size() - first);
    sums[t][c] =
        isobit::digest_range<isobit::digest128>(isobit::host(), all[t].bytes.data() + first, length, first / 16);
    progress(done.fetch_add(length) + length, total);
  });

  manifest result{chunk_bytes, {}};
  for (std::size_t t = 0; t < all.size(); ++t) {
    fingerprint f{isobit::dtype_name(all[t].type), all[t].shape, all[t].bytes.size(), {}, {}};
    isobit::digest128_sum whole;
    for (std::uint64_t c = 0; c < sums[t].size(); ++c) {
      whole += sums[t][c];
      auto const length = std::min<std::uint64_t>(chunk_bytes, f.bytes - c * chunk_bytes);
      f.chunks.push_back(finish_digest(sums[t][c].first, length));
    }
    f.digest = finish_digest(whole, {all[t].type, f.shape.data(), static_cast<std::uint32_t>(f.shape.size())});
    result.tensors.emplace(all[t].name, std::move(f));
  }
  return result;
}

// ---- JSON ----

inline std::string hex(std::uint64_t x) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(x));
  return text;
}
//! The high half first, as numbers are written.
inline std::string hex(isobit::bits128 const& x) { return hex(x.high) + hex(x.low); }

inline constexpr char const* manifest_format = "isobit tensor fingerprints";
inline constexpr int manifest_version = 1;

inline std::string to_json(manifest const& m) {
  nlohmann::ordered_json out{{"format", manifest_format}, {"version", manifest_version}, {"bits", isobit::bits_version},
                             {"chunk_bytes", m.chunk_bytes}};
  auto& list = out["tensors"] = nlohmann::ordered_json::object();
  for (auto const& [name, f] : m.tensors) {
    nlohmann::ordered_json chunks = nlohmann::ordered_json::array();
    for (auto const c : f.chunks) chunks.push_back(hex(c));
    list[name] = {
        {"dtype", f.type}, {"shape", f.shape}, {"bytes", f.bytes}, {"digest", hex(f.digest)}, {"chunks", chunks}};
  }
  return out.dump(1) + "\n";
}

//! Throws file_error that names the field.
class manifest_reader {
public:
  static manifest read(std::span<std::byte const> file) {
    json value;
    try {
      value = json::parse(reinterpret_cast<char const*>(file.data()),
                          reinterpret_cast<char const*>(file.data()) + file.size());
    } catch (json::exception const& e) {
      throw file_error("manifest", std::string("is not valid JSON: ") + e.what());
    }
    auto const& format = member(value, "manifest", "format");
    if (format != manifest_format) throw file_error("format", "is not \"" + std::string(manifest_format) + "\"");
    if (member(value, "manifest", "version") != manifest_version) throw file_error("version", "is not 1");
    if (member(value, "manifest", "bits") != isobit::bits_version)
      throw file_error("bits", "is of another definition of the digests: make the manifest again");
    manifest m{number(value, "manifest", "chunk_bytes"), {}};
    if (m.chunk_bytes == 0 || m.chunk_bytes % 16 != 0) throw file_error("chunk_bytes", "is not a multiple of 16");
    auto const& list = member(value, "manifest", "tensors");
    if (!list.is_object()) throw file_error("tensors", "is not an object");
    for (auto const& [name, entry] : list.items()) m.tensors.emplace(name, one(name, entry, m.chunk_bytes));
    return m;
  }

private:
  using json = nlohmann::json;

  static json const& member(json const& in, std::string const& where, char const* key) {
    if (!in.is_object()) throw file_error(where, "is not an object");
    auto const found = in.find(key);
    if (found == in.end()) throw file_error(where + ": " + key, "is missing");
    return *found;
  }
  static std::uint64_t number(json const& in, std::string const& where, char const* key) {
    auto const& value = member(in, where, key);
    if (!value.is_number_unsigned()) throw file_error(where + ": " + key, "is not a number that is not negative");
    return value.get<std::uint64_t>();
  }
  static std::uint64_t word(std::string const& text, std::string const& where) {
    std::uint64_t x = 0;
    if (text.size() != 16) throw file_error(where, "does not have 16 hexadecimal digits for 64 bits");
    for (char const c : text) {
      auto const digit = std::string_view("0123456789abcdef").find(c);
      if (digit == std::string_view::npos) throw file_error(where, "is not hexadecimal in lower case");
      x = x << 4 | digit;
    }
    return x;
  }
  static std::string text(json const& value, std::string const& where) {
    if (!value.is_string()) throw file_error(where, "is not a string");
    return value.get<std::string>();
  }

  static fingerprint one(std::string const& name, json const& entry, std::uint64_t chunk_bytes) {
    std::string const in = "tensor \"" + name + "\"";
    fingerprint f;
    f.type = text(member(entry, in, "dtype"), in + ": dtype");
    f.bytes = number(entry, in, "bytes");
    auto const& shape = member(entry, in, "shape");
    if (!shape.is_array()) throw file_error(in + ": shape", "is not a list");
    for (auto const& extent : shape) {
      if (!extent.is_number_unsigned()) throw file_error(in + ": shape", "has an extent that is not a number");
      f.shape.push_back(extent.get<std::uint64_t>());
    }
    auto const digest = text(member(entry, in, "digest"), in + ": digest");
    if (digest.size() != 32) throw file_error(in + ": digest", "does not have 32 hexadecimal digits");
    f.digest = {word(digest.substr(16), in + ": digest"), word(digest.substr(0, 16), in + ": digest")};
    auto const& chunks = member(entry, in, "chunks");
    if (!chunks.is_array() || chunks.size() != isobit::digest_chunks(f.bytes, chunk_bytes))
      throw file_error(in + ": chunks", "is not a list of bytes / chunk_bytes digests");
    for (auto const& c : chunks) f.chunks.push_back(word(text(c, in + ": chunks"), in + ": chunks"));
    return f;
  }
};

} // namespace tensors
