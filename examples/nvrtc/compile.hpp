// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA C++ text to PTX, by NVRTC.
#pragma once
#include <nvrtc.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace jit {

struct compiled {
  std::string ptx;
  std::string name; // of the kernel, as PTX spells it
};

// `expression` names the kernel as C++ does: "row_norms<256>". Throws std::runtime_error with NVRTC's log.
inline compiled compile(std::string const& text, std::string const& expression,
                        std::vector<std::string> const& options) {
  nvrtcProgram program{};
  if (nvrtcCreateProgram(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS)
    throw std::runtime_error("NVRTC makes no program");
  struct destroy {
    nvrtcProgram* p;
    ~destroy() { nvrtcDestroyProgram(p); }
  } const guard{&program};

  nvrtcAddNameExpression(program, expression.c_str());
  std::vector<char const*> words;
  for (auto const& option : options) words.push_back(option.c_str());
  if (nvrtcCompileProgram(program, static_cast<int>(words.size()), words.data()) != NVRTC_SUCCESS) {
    std::size_t size = 0;
    nvrtcGetProgramLogSize(program, &size);
    std::string log(size, '\0');
    nvrtcGetProgramLog(program, log.data());
    throw std::runtime_error(log);
  }

  char const* name = nullptr;
  nvrtcGetLoweredName(program, expression.c_str(), &name);
  std::size_t size = 0;
  nvrtcGetPTXSize(program, &size);
  compiled result{std::string(size, '\0'), name};
  nvrtcGetPTX(program, result.ptx.data());
  return result;
}

} // namespace jit
