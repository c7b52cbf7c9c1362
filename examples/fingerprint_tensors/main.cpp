// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fingerprints of the tensors in .safetensors and .npy files: a manifest of a file, or the comparison of two.
#include "compare.hpp"
#include "npy.hpp"
#include "safetensors.hpp"

#include <charconv>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <mutex>

namespace {

constexpr char const* usage =
    "Fingerprints the tensors of .safetensors and .npy files, chunk by chunk.\n"
    "\n"
    "  fingerprint_tensors FILE [-o MANIFEST]     write a manifest (JSON) of FILE, to the output if no -o\n"
    "  fingerprint_tensors A B                    compare two files, or a file with a manifest (named *.json)\n"
    "\n"
    "  --chunk BYTES   bytes of a chunk, a multiple of 16 (default 1048576; of a manifest: the manifest's)\n"
    "  --threads N     1 to 1024 (default: as many as the processor runs at once)\n"
    "  --quiet         no progress bar, and no sentence where everything is the same\n"
    "  --help          this text\n"
    "\n"
    "Exit status: 0 the same, or a manifest was written; 1 different; 2 malformed files or wrong use.\n";

struct options {
  std::vector<std::string> files;
  std::string out;
  std::uint64_t chunk = 1 << 20;
  unsigned threads = 0;
  bool quiet = false, help = false;
};

struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::uint64_t number(std::string const& name, std::string const& text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t n = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n < least || n > most)
    throw usage_error(name + " needs a number from " + std::to_string(least) + " to " + std::to_string(most));
  return n;
}

options parse(int count, char** words) {
  options o;
  for (int i = 1; i < count; ++i) {
    std::string const word = words[i];
    auto const value = [&] {
      if (i + 1 == count) throw usage_error(word + " needs a value");
      return std::string(words[++i]);
    };
    if (word == "-o") o.out = value();
    else if (word == "--chunk") o.chunk = number(word, value(), 16, std::uint64_t(1) << 40);
    else if (word == "--threads") o.threads = static_cast<unsigned>(number(word, value(), 1, 1024));
    else if (word == "--quiet") o.quiet = true;
    else if (word == "--help" || word == "-h") o.help = true;
    else if (word.size() > 1 && word[0] == '-') throw usage_error("unknown option " + word + " (try --help)");
    else o.files.push_back(word);
  }
  if (o.chunk % 16 != 0) throw usage_error("--chunk needs a multiple of 16");
  if (!o.help && (o.files.empty() || o.files.size() > 2)) throw usage_error("one file or two (try --help)");
  if (!o.out.empty() && o.files.size() == 2) throw usage_error("-o goes with one file");
  return o;
}

// A bar on a terminal, in one line.
class progress_bar {
public:
  explicit progress_bar(std::string name, bool shown) : name_(std::move(name)), shown_(shown) {}
  void operator()(std::uint64_t done, std::uint64_t all) {
    if (!shown_ || all == 0) return;
    auto const percent = static_cast<int>(100 * static_cast<double>(done) / static_cast<double>(all));
    std::lock_guard const one_at_a_time(mutex_);
    if (percent <= last_) return;
    last_ = percent;
    std::string const bar(static_cast<std::size_t>(percent) * 40 / 100, '#');
    std::fprintf(stderr, "\r%s [%-40s] %3d %%", name_.c_str(), bar.c_str(), percent);
  }
  ~progress_bar() {
    if (last_ >= 0) std::fputs("\r\033[K", stderr);
  }

private:
  std::string name_;
  bool shown_;
  int last_ = -1;
  std::mutex mutex_;
};

bool is_manifest(std::string const& path) { return path.ends_with(".json"); }

tensors::tensor_file open_tensors(std::string const& path) {
  tensors::tensor_file f;
  f.file = std::make_unique<tensors::mapped_file>(path);
  if (tensors::is_npy(f.file->bytes()))
    tensors::npy_reader::read(f.file->bytes(), f);
  else
    f.tensors = tensors::safetensors_reader::read(f.file->bytes());
  if (f.tensors.empty()) throw tensors::file_error("file", "holds no tensors");
  return f;
}

// Everything that goes wrong with a file is said with its name.
template <class F> auto about(std::string const& path, F const& f) {
  try {
    return f();
  } catch (tensors::file_error const& e) {
    throw std::runtime_error(path + ": " + e.what());
  }
}

tensors::manifest read_manifest(std::string const& path) {
  return about(path, [&] {
    tensors::mapped_file const file(path);
    auto m = tensors::manifest_reader::read(file.bytes());
    if (m.tensors.empty()) throw tensors::file_error("tensors", "are none");
    return m;
  });
}

tensors::side load(std::string const& path, options const& o, std::uint64_t chunk) {
  tensors::side s{path, about(path, [&] { return open_tensors(path); }), {}};
  progress_bar bar(path, !o.quiet && isatty(2));
  s.prints = tensors::fingerprints(s.file->tensors, chunk, o.threads, [&](auto done, auto all) { bar(done, all); });
  return s;
}

int write_manifest(options const& o) {
  if (is_manifest(o.files[0])) throw usage_error("a manifest of a manifest is not made");
  auto const text = to_json(load(o.files[0], o, o.chunk).prints);
  if (o.out.empty()) {
    std::cout << text << std::flush;
    if (!std::cout) throw std::runtime_error("the output cannot be written");
    return 0;
  }
  std::ofstream file(o.out, std::ios::binary);
  file << text << std::flush;
  if (!file) throw std::runtime_error(o.out + ": cannot be written");
  return 0;
}

int compare_files(options const& o) {
  tensors::side sides[2];
  // Manifests first: they say how long the chunks of the other file are to be.
  std::uint64_t chunk = o.chunk;
  for (std::size_t i : {0u, 1u})
    if (is_manifest(o.files[i])) {
      sides[i] = {o.files[i], {}, read_manifest(o.files[i])};
      chunk = sides[i].prints.chunk_bytes;
    }
  for (std::size_t i : {0u, 1u})
    if (!is_manifest(o.files[i])) sides[i] = load(o.files[i], o, chunk);
  auto const result = compare(sides[0], sides[1]);
  for (auto const& d : result.differences) std::cout << "different: " << tensors::printable(d) << '\n';
  if (!result.differences.empty())
    std::cout << result.differences.size() << " tensors differ, " << result.equal << " are the same\n";
  else if (!o.quiet)
    std::cout << "the same: " << result.equal << " tensors"
              << (result.by_bytes ? ", byte by byte" : ", by their digests") << '\n';
  return result.differences.empty() ? 0 : 1;
}

} // namespace

int main(int count, char** words) {
  try {
    auto const o = parse(count, words);
    if (o.help) {
      std::cout << usage;
      return 0;
    }
    return o.files.size() == 1 ? write_manifest(o) : compare_files(o);
  } catch (std::exception const& e) {
    std::cerr << "fingerprint_tensors: " << tensors::printable(e.what()) << '\n';
    return 2;
  }
}
