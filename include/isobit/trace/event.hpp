// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What a trace consists of: events, and the signatures of the tensors that went in and came out.
#pragma once

#include <isobit/config.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace isobit::inline bits1::trace {

//! The version of isobit's own layout. It changes whenever a digest's definition or a field's meaning does.
inline constexpr uint64_t schema_version = 1;

//! The number of an iteration or microbatch that a recorder did not know.
inline constexpr uint32_t no_number = ~uint32_t(0);

//! What a trace that cannot be read says: the file, the line (from 1; 0 for the file as a whole), what is wrong.
class error : public std::runtime_error {
public:
  error(std::string const& file, uint64_t line, std::string const& what)
      : std::runtime_error(file + (line > 0 ? ":" + std::to_string(line) : "") + ": " + what), file_(file),
        line_(line) {}
  std::string const& file() const { return file_; }
  uint64_t line() const { return line_; }

private:
  std::string file_;
  uint64_t line_;
};

//! How much of a tensor a digest has seen.
enum class evidence : uint8_t {
  none,    //!< nothing: `text` says why ("skipped_oversize")
  partial, //!< a sample or a summary: a difference counts, equality proves little
  full,    //!< every bit
};

//! One tensor that an event read or wrote.
struct signature {
  std::string name;  //!< may be empty
  std::string dtype; //!< "f32", or what another recorder wrote
  std::vector<uint64_t> shape;
  uint64_t count = 0; //!< the product of `shape`

  evidence seen = evidence::full;
  uint64_t digest = 0;
  std::string text; //!< a digest that is not 64 bits, or the reason why there is none; `digest` does not count then

  uint64_t chunk_bytes = 0; //!< 0: no chunk digests
  std::vector<uint64_t> chunks;
  std::string data; //!< a file that holds the bytes, relative to the trace's folder; empty: none
};

//! One thing that a rank did. `rank, iteration, microbatch, kind, scope, name, occurrence` name it in every run;
//! `sequence` orders the events of one rank and iteration.
struct event {
  uint32_t rank = 0, iteration = 0, microbatch = 0, occurrence = 0;
  uint64_t sequence = 0;
  std::string kind;            //!< "op", "collective" (see `compare`), or any other word
  std::string name;            //!< "linear"
  std::string scope;           //!< "layers.7.mlp"
  std::string order;           //!< the name of the order of a reduction (`order_id`); may be empty
  std::string recipe;          //!< the name of a recipe; may be empty
  bool inputs_recorded = true; //!< false where the recorder looks at outputs only
  std::vector<signature> inputs, outputs;
};

//! "iteration 3, microbatch 0: op layers.7.mlp / linear #2".
inline std::string describe(event const& e) {
  std::string out = e.iteration == no_number ? "" : "iteration " + std::to_string(e.iteration) + ", ";
  if (e.microbatch != no_number) out += "microbatch " + std::to_string(e.microbatch) + ", ";
  if (!out.empty()) out.replace(out.size() - 2, 2, ": ");
  return out + e.kind + " " + (e.scope.empty() ? "" : e.scope + " / ") + e.name + " #" + std::to_string(e.occurrence);
}

} // namespace isobit::inline bits1::trace
