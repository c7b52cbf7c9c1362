// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Reads a trace: a file, or all .jsonl files of a folder, in any of the three layouts of docs/traces.md.
#pragma once

#include <isobit/trace/other_layouts.hpp>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

namespace isobit::inline bits1::trace {

struct read_options {
  //! Called now and then with the bytes read so far and those there are.
  std::function<void(uint64_t done, uint64_t all)> progress = {};
};

namespace detail {

// Lines of a file, without their ends.
class line_reader {
public:
  static constexpr size_t longest = size_t(1) << 26;

  explicit line_reader(std::string path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "rb")) {
    if (file_ == nullptr) throw error(path_, 0, "cannot be opened");
    buffer_.resize(size_t(1) << 18);
  }
  // False at the end. A line that has no end is an error: its writer was stopped in the middle.
  bool next(std::string_view& line) {
    for (size_t searched = begin_;;) {
      if (char const* end = find(searched)) {
        line = {buffer_.data() + begin_, static_cast<size_t>(end - buffer_.data()) - begin_};
        begin_ += line.size() + 1;
        ++number_;
        return true;
      }
      searched = end_ - begin_;
      if (!fill()) break;
    }
    if (begin_ == end_) return false;
    throw error(path_, number_ + 1, "the last line has no end: the file is cut off");
  }
  uint64_t number() const { return number_; }
  uint64_t bytes_read() const { return read_; }

private:
  char const* find(size_t from) const {
    return static_cast<char const*>(std::memchr(buffer_.data() + from, '\n', end_ - from));
  }
  // Reads on behind what is not yet consumed, which moves to the front.
  bool fill() {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (end_ == buffer_.size()) {
      if (buffer_.size() >= longest) throw error(path_, number_ + 1, "a line of more than 64 MiB");
      buffer_.resize(2 * buffer_.size());
    }
    size_t const n = std::fread(buffer_.data() + end_, 1, buffer_.size() - end_, file_.get());
    if (n == 0 && std::ferror(file_.get())) throw error(path_, number_ + 1, "cannot be read");
    end_ += n;
    read_ += n;
    return n > 0;
  }

  struct closer {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, closer> file_;
  std::string buffer_;
  size_t begin_ = 0, end_ = 0;
  uint64_t number_ = 0, read_ = 0;
};

// The layout that a line's fields belong to.
inline std::optional<layout> layout_of(std::string_view line) {
  bool own = false, payload = false, tensors = false;
  try {
    json_reader r(line);
    r.object([&](std::string_view key) {
      own |= key == "isobit_trace";
      payload |= key == "payload";
      tensors |= key == "event";
      r.skip();
    });
    r.end();
  } catch (json_error const&) {
    return {};
  }
  if (own + payload + tensors != 1) return {};
  return own ? layout::isobit : payload ? layout::per_op : layout::event_tensor;
}

inline void read_line(layout l, std::string_view line, event& e) {
  json_reader r(line);
  if (l == layout::isobit)
    read_own(r, e);
  else if (l == layout::per_op)
    read_per_op(r, e);
  else
    read_event_tensor(r, e);
  r.end();
}

// What a file's name says about all of its events: rank%05d_iter%06d.jsonl, rank_%06d.jsonl.
struct file_claim {
  std::optional<uint64_t> rank, iteration;

  explicit file_claim(std::string_view stem) {
    auto const number = [&](std::string_view prefix) -> std::optional<uint64_t> {
      if (stem.substr(0, prefix.size()) != prefix) return {};
      uint64_t n = 0;
      size_t i = prefix.size();
      for (; i < stem.size() && stem[i] >= '0' && stem[i] <= '9' && i < prefix.size() + 18; ++i)
        n = n * 10 + static_cast<uint64_t>(stem[i] - '0');
      if (i == prefix.size()) return {};
      stem.remove_prefix(i);
      return n;
    };
    rank = number("rank_");
    if (!rank) rank = number("rank");
    if (rank) iteration = number("_iter");
    if (!stem.empty()) rank = iteration = std::nullopt;
  }
};

class file_reader {
public:
  file_reader(log& out, std::optional<layout>& l, std::string& version) : out_(out), layout_(l), version_(version) {}

  void read(std::filesystem::path const& path, std::function<void(uint64_t)> const& advanced) {
    uint32_t const file = out_.add_file(path.string());
    std::string const stem = path.stem().string();
    file_claim const claim(stem);
    line_reader lines(path.string());
    event previous;
    uint64_t said = 0;
    for (std::string_view line; lines.next(line);) {
      auto const fail = [&](std::string const& what) { throw error(path.string(), lines.number(), what); };
      if (lines.number() > no_number - 1) fail("more lines than a trace can hold");
      read(line, fail);
      if (claim.rank && event_.rank != *claim.rank) fail("another rank than the file's name says");
      if (claim.iteration && event_.iteration != *claim.iteration) fail("another iteration than the file's name says");
      out_.add(event_, file, static_cast<uint32_t>(lines.number()));
      if (lines.bytes_read() != said) advanced((said = lines.bytes_read()));
    }
  }

private:
  template <class Fail> void read(std::string_view line, Fail const& fail) {
    if (line.empty()) fail("an empty line");
    if (!layout_) {
      layout_ = layout_of(line);
      if (layout_) out_.set_layout(*layout_);
    }
    try {
      read_line(layout_.value_or(layout::isobit), line, event_);
    } catch (json_error const& e) {
      auto const other = layout_of(line);
      if (other && other != layout_)
        fail(std::string("the ") + name_of(*other) + " layout in a trace of the " + name_of(*layout_) + " layout");
      fail("byte " + std::to_string(e.at() + 1) + ": " + e.what());
    }
    if (*layout_ != layout::per_op) return;
    if (version_.empty()) version_ = event_.recipe;
    if (event_.recipe != version_) fail(event_.recipe + " in a trace of " + version_);
  }

  log& out_;
  std::optional<layout>& layout_;
  std::string& version_;
  event event_;
};

} // namespace detail

//! Reads the file `path`, or every .jsonl file in the folder `path`. Every line must be of one layout and schema
//! version. Throws `error`, with file and line, for anything that is malformed, cut off, contradicts its file's name,
//! or names the same event twice; also where there is no event at all. Cost: about 2 s and 150 MB for a million events
//! of 3 tensors.
inline log read(std::filesystem::path const& path, read_options const& options = {}) {
  namespace fs = std::filesystem;
  std::error_code none;
  std::vector<fs::path> files;
  if (fs::is_directory(path, none)) {
    for (auto const& entry : fs::directory_iterator(path, none))
      if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
    if (files.empty()) throw error(path.string(), 0, "no .jsonl file in this folder");
    std::sort(files.begin(), files.end());
  } else {
    files.push_back(path);
  }
  uint64_t all = 0, before = 0;
  for (auto const& f : files) {
    auto const size = fs::file_size(f, none);
    if (!none) all += size;
  }
  log out(path.string());
  std::optional<layout> found;
  std::string version;
  detail::file_reader reader(out, found, version);
  for (auto const& f : files) {
    uint64_t here = 0;
    reader.read(f, [&](uint64_t bytes) {
      here = bytes;
      if (options.progress) options.progress(before + bytes, all);
    });
    before += here;
  }
  if (out.size() == 0) throw error(path.string(), 0, "no event in this trace");
  out.finish();
  return out;
}

} // namespace isobit::inline bits1::trace
