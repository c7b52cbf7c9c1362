// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! A temporary folder of a test, removed at its end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

class folder {
public:
  folder() {
    std::string name = (std::filesystem::temp_directory_path() / "isobit-trace-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  folder(folder const&) = delete;
  folder& operator=(folder const&) = delete;
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path const& path() const { return path_; }
  std::string name() const { return path_.string(); }
  std::string write(std::string const& file, std::string const& text) const {
    std::ofstream(path_ / file, std::ios::binary) << text;
    return (path_ / file).string();
  }
  std::string read(std::string const& file) const {
    std::ifstream in(path_ / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

private:
  std::filesystem::path path_;
};
