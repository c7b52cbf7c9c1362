// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Files that a recorder writes: text is appended as a whole or not at all.
#pragma once

#include <isobit/trace/event.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace isobit::inline bits1::trace::detail {

inline void make_folder(std::string const& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed) throw error(path, 0, "cannot be made: " + failed.message());
}

// Appends by one write a call. What a full disk cuts off is taken back, so that no half line stays.
class trace_file {
public:
  trace_file() = default;
  trace_file(trace_file const&) = delete;
  trace_file& operator=(trace_file const&) = delete;
  ~trace_file() { close(); }

  bool is_open() const { return file_ >= 0; }
  void open(std::string path, bool replace) {
    close();
    path_ = std::move(path);
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (replace ? O_TRUNC : O_EXCL), 0666);
    if (file_ < 0) throw error(path_, 0, std::string("cannot be written: ") + std::strerror(errno));
  }
  void close() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }
  void append(std::string_view text) {
    if (text.empty()) return;
    off_t const before = ::lseek(file_, 0, SEEK_END);
    while (!text.empty()) {
      ssize_t const n = ::write(file_, text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        int const why = n < 0 ? errno : ENOSPC;
        bool const undone = before >= 0 && ::ftruncate(file_, before) == 0;
        throw error(path_, 0,
                    std::string("cannot be written: ") + std::strerror(why) +
                        (undone ? "" : "; the file may end within a line"));
      }
      text.remove_prefix(static_cast<size_t>(n));
    }
  }

private:
  std::string path_;
  int file_ = -1;
};

// A new file with these bytes, in a folder that is made where it is not there.
inline void write_whole(std::string const& path, void const* data, uint64_t bytes) {
  make_folder(std::filesystem::path(path).parent_path().string());
  trace_file file;
  file.open(path, true);
  file.append({static_cast<char const*>(data), bytes});
}

} // namespace isobit::inline bits1::trace::detail
