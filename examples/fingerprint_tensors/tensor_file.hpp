// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! A file mapped into memory, the tensors that a reader found in it, and the error that readers throw.
#pragma once

#include <isobit/algo/dtype.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tensors {

//! What is wrong with a file: "<field>: <what>".
struct file_error : std::runtime_error {
  file_error(std::string const& field, std::string const& what) : std::runtime_error(field + ": " + what) {}
};

//! `text` for a terminal: control characters, and what is not ASCII, become '?'.
inline std::string printable(std::string text) {
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

//! One tensor. `bytes` holds its elements in row order, without gaps.
struct tensor {
  std::string name;
  isobit::dtype type;
  std::vector<std::uint64_t> shape;
  std::span<std::byte const> bytes;
};

//! Bytes of a tensor, or nothing where they do not fit into 64 bits or end within a byte.
inline std::optional<std::uint64_t> size_in_bytes(isobit::dtype type, std::vector<std::uint64_t> const& shape) {
  std::uint64_t bits = static_cast<std::uint64_t>(isobit::dtype_bits(type));
  for (auto const extent : shape)
    if (extent == 0) return 0;
  for (auto const extent : shape)
    if (__builtin_mul_overflow(bits, extent, &bits)) return {};
  if (bits % 8 != 0) return {};
  return bits / 8;
}

//! A file, read-only, in memory.
class mapped_file {
public:
  //! Throws file_error.
  explicit mapped_file(std::string const& path) {
    int const handle = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (handle < 0) throw file_error("file", std::string("cannot be opened (") + std::strerror(errno) + ")");
    struct stat about {};
    bool const is_file = fstat(handle, &about) == 0 && S_ISREG(about.st_mode);
    size_ = is_file ? static_cast<std::size_t>(about.st_size) : 0;
    if (size_ > 0) memory_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, handle, 0);
    close(handle);
    if (!is_file) throw file_error("file", "is not a regular file");
    if (memory_ == MAP_FAILED) throw file_error("file", std::string("cannot be mapped (") + std::strerror(errno) + ")");
    if (size_ > 0) madvise(memory_, size_, MADV_SEQUENTIAL);
  }
  mapped_file(mapped_file const&) = delete;
  mapped_file& operator=(mapped_file const&) = delete;
  ~mapped_file() {
    if (size_ > 0) munmap(memory_, size_);
  }
  std::span<std::byte const> bytes() const { return {static_cast<std::byte const*>(memory_), size_}; }

private:
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

//! The tensors of a file and the memory that they point into.
struct tensor_file {
  std::unique_ptr<mapped_file> file;
  std::vector<tensor> tensors;
  std::vector<std::vector<std::byte>> copies; //!< of arrays that were stored column by column
};

} // namespace tensors
