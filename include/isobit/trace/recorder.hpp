// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Writes a trace: one file for each rank and iteration, whole lines only, digests of device tensors fetched together.
#pragma once

#include <isobit/algo/digest_host.hpp>
#include <isobit/trace/recorder_options.hpp>
#include <isobit/trace/trace_file.hpp>
#include <isobit/trace/write.hpp>

#include <map>
#include <tuple>

namespace isobit::inline bits1::trace {

//! Records what one rank does. Not for several threads at once.
//!
//!     trace::recorder rec({.folder = "trace", .rank = 0});
//!     rec.begin(iteration);
//!     rec.add("op", "linear", "layers.0").input(tensor_of("x", x, {4, 64})).output(tensor_of("y", y, {4, 64}));
//!     rec.close();
class recorder {
public:
  //! Throws `invalid_argument` for options that cannot work, `error` where the folder cannot be made.
  explicit recorder(recorder_options o) : options_(std::move(o)) {
    if (options_.folder.empty()) throw invalid_argument("trace::recorder", "folder", "a path");
    if (options_.flush_events == 0) throw invalid_argument("trace::recorder", "flush_events", "at least", 1, "events");
    detail::make_folder(options_.folder);
    sums_.resize(options_.transfer ? options_.slots : 0);
  }
  recorder(recorder const&) = delete;
  recorder& operator=(recorder const&) = delete;
  //! Flushes; what goes wrong then is lost. `close` says it.
  ~recorder() {
    try {
      close();
    } catch (...) {
    }
  }

  //! An event while it is put together; it ends with the next call to the recorder. It is recorded as a whole or, where
  //! one of its calls threw, not at all.
  class entry {
  public:
    entry& order(std::string_view name) { return e().order = checked(name), *this; }
    entry& recipe(std::string_view name) { return e().recipe = checked(name), *this; }
    //! A tensor in the memory of the host: its digest is made now.
    entry& input(tensor const& t, tensor_options o = {}) { return r_->host(e(), t, o, false), *this; }
    entry& output(tensor const& t, tensor_options o = {}) { return r_->host(e(), t, o, true), *this; }
    //! A tensor whose sum the caller has made, over `t.bytes()` bytes.
    entry& input_sum(tensor const& t, digest_sum sum) { return r_->summed(e(), t, sum, false), *this; }
    entry& output_sum(tensor const& t, digest_sum sum) { return r_->summed(e(), t, sum, true), *this; }
    //! A tensor whose digest a kernel makes. Returns the number of the slot that the kernel must add the tensor's
    //! `digest_sum` to; with chunks, of the first of `digest_chunks(bytes, chunk_bytes)` slots, one for each chunk's
    //! sum. A flush fetches all slots; the number is good until then.
    uint64_t device_input(tensor const& t, uint64_t chunk_bytes = 0) { return r_->device(e(), t, chunk_bytes, false); }
    uint64_t device_output(tensor const& t, uint64_t chunk_bytes = 0) { return r_->device(e(), t, chunk_bytes, true); }

  private:
    friend class recorder;
    entry(recorder* r, uint64_t ticket) : r_(r), ticket_(ticket) {}
    event& e() { return r_->open_event(ticket_); }
    recorder* r_;
    uint64_t ticket_; // a later entry has another
  };

  //! Events from now on belong to this iteration; the file of the one before is flushed and closed.
  void begin(uint32_t iteration, uint32_t microbatch = 0) {
    if (iteration == no_number || microbatch == no_number)
      throw invalid_argument("trace::recorder::begin", "iteration and microbatch", "below 2^32 - 1");
    microbatch_ = microbatch;
    if (file_.is_open() && iteration == iteration_) return;
    flush();
    occurrences_.clear();
    sequence_ = 0;
    iteration_ = iteration;
    file_.open(options_.folder + "/" + stem() + ".jsonl", options_.replace);
  }

  //! A new event; `begin` comes first. `kind`: "op", "collective" (its output depends on all ranks' inputs) or your
  //! own.
  entry add(std::string_view kind, std::string_view name, std::string_view scope = {}) {
    if (!file_.is_open()) throw invalid_argument("trace::recorder::add", "begin", "called first");
    if (kind.empty() || name.empty()) throw invalid_argument("trace::recorder::add", "kind and name", "words");
    if (events_.size() >= options_.flush_events) flush();
    event e;
    e.rank = options_.rank, e.iteration = iteration_, e.microbatch = microbatch_;
    e.kind = checked(kind), e.name = checked(name), e.scope = checked(scope);
    e.occurrence = occurrences_[{microbatch_, e.kind, e.scope, e.name}]++;
    e.sequence = sequence_++;
    events_.push_back(std::move(e));
    open_ = true;
    return entry(this, ++ticket_);
  }

  //! Fetches the staged digests in one transfer and writes all events in one write.
  void flush() {
    open_ = false;
    resolve();
    std::string lines;
    for (auto const& e : events_) append_line(lines, e);
    file_.append(lines);
    events_.clear();
  }
  //! Flushes and closes the file. `begin` opens the next.
  void close() {
    if (!file_.is_open()) return;
    flush();
    file_.close();
  }

private:
  struct staged {
    uint64_t sequence;
    bool output;
    size_t index;
    uint64_t first, slots;
    tensor what; // for its shape
    uint64_t chunk_bytes;
  };

  static std::string checked(std::string_view text) {
    if (!isobit::trace::detail::is_utf8(text)) throw invalid_argument("trace::recorder", "a name", "UTF-8");
    return std::string(text);
  }
  std::string stem() const {
    char name[64];
    std::snprintf(name, sizeof name, "rank%05u_iter%06u", options_.rank, iteration_);
    return name;
  }
  event& open_event(uint64_t ticket) {
    if (!open_ || ticket != ticket_)
      throw invalid_argument("trace::recorder", "an entry", "used before the next call to its recorder");
    return events_.back();
  }
  // Takes back the event that is being put together.
  void drop() {
    event const& e = events_.back();
    std::erase_if(staged_, [&](staged const& s) { return s.sequence == e.sequence; });
    --occurrences_[{e.microbatch, e.kind, e.scope, e.name}];
    --sequence_;
    events_.pop_back();
    open_ = false;
  }

  signature describe(tensor const& t) {
    signature s;
    s.name = checked(t.name);
    s.dtype = dtype_name(t.type);
    s.shape = t.shape;
    s.count = t.count();
    return s;
  }
  // False where the tensor is to be marked instead of read.
  bool is_ready(tensor const& t, signature& s) {
    buffer_state const state = options_.fence ? options_.fence(t.data, t.bytes()) : buffer_state::ready;
    if (state == buffer_state::ready) return true;
    bool const flying = state == buffer_state::in_flight;
    if (!options_.mark_not_ready)
      throw not_ready("isobit::trace::recorder: " + t.name + " of " + isobit::trace::describe(events_.back()) + " is " +
                      (flying ? "still being written" : "not initialised"));
    s.seen = evidence::none;
    s.text = flying ? "skipped_in_flight" : "skipped_uninitialised";
    return false;
  }
  // Runs f(); an exception takes the open event back.
  template <class F> auto whole(F const& f) {
    try {
      return f();
    } catch (...) {
      if (open_) drop();
      throw;
    }
  }

  void host(event& e, tensor const& t, tensor_options o, bool output) {
    whole([&] {
      signature s = describe(t);
      uint64_t const n = t.bytes();
      isobit::detail::check_memory("trace::recorder", t.data, n);
      auto& list = output ? e.outputs : e.inputs;
      if (is_ready(t, s)) {
        digest_sum sum;
        if (o.chunk_bytes > 0) {
          std::vector<digest_sum> parts(digest_chunks(n, check_chunk_bytes(o.chunk_bytes)));
          sum = chunk_sums(isobit::host(), t.data, n, o.chunk_bytes, parts.data());
          set_chunks(s, parts.data(), n, o.chunk_bytes);
        } else {
          sum = digest_range(isobit::host(), t.data, n);
        }
        set_digest(s, sum, t);
        if (o.keep) {
          s.data =
              stem() + "_data/" + std::to_string(e.sequence) + (output ? "_out" : "_in") + std::to_string(list.size());
          detail::write_whole(options_.folder + "/" + s.data, t.data, n);
        }
      }
      list.push_back(std::move(s));
    });
  }

  void summed(event& e, tensor const& t, digest_sum sum, bool output) {
    whole([&] {
      signature s = describe(t);
      set_digest(s, sum, t);
      (output ? e.outputs : e.inputs).push_back(std::move(s));
    });
  }

  uint64_t device(event& e, tensor const& t, uint64_t chunk_bytes, bool output) {
    return whole([&] {
      if (!options_.transfer) throw invalid_argument("trace::recorder", "transfer", "given, for tensors on a device");
      signature s = describe(t);
      uint64_t const n = t.bytes();
      uint64_t const parts = chunk_bytes > 0 ? digest_chunks(n, check_chunk_bytes(chunk_bytes)) : 1;
      if (parts > options_.slots)
        throw invalid_argument("trace::recorder", "slots", "at least", parts, "for the chunks of this tensor");
      bool const ready = is_ready(t, s);
      if (ready && used_ + parts > options_.slots) resolve(); // the event stays open
      uint64_t const first = used_;
      auto& list = output ? e.outputs : e.inputs;
      list.push_back(std::move(s));
      if (!ready) return ~uint64_t(0);
      used_ += parts;
      staged_.push_back({e.sequence, output, list.size() - 1, first, parts, t, chunk_bytes});
      return first;
    });
  }

  static uint64_t check_chunk_bytes(uint64_t n) {
    if (n % 16 != 0) throw invalid_argument("trace::recorder", "chunk_bytes", "a multiple of 16");
    return n;
  }
  static void set_digest(signature& s, digest_sum sum, tensor const& t) {
    s.digest = finish_digest(sum, {t.type, t.shape.data(), static_cast<uint32_t>(t.shape.size())});
  }
  static void set_chunks(signature& s, digest_sum const* parts, uint64_t bytes, uint64_t chunk_bytes) {
    s.chunk_bytes = chunk_bytes;
    for (uint64_t first = 0; first < bytes; first += chunk_bytes)
      s.chunks.push_back(finish_digest(*parts++, bytes - first < chunk_bytes ? bytes - first : chunk_bytes));
  }

  // The one transfer: afterwards every event has its digests, and all slots are free.
  void resolve() {
    if (used_ > 0) options_.transfer(sums_.data(), used_);
    used_ = 0;
    for (auto const& s : staged_) {
      event& e = events_[s.sequence - events_.front().sequence];
      signature& to = (s.output ? e.outputs : e.inputs)[s.index];
      digest_sum sum;
      for (uint64_t k = 0; k < s.slots; ++k) sum += sums_[s.first + k];
      if (sum == digest_sum{} && s.what.bytes() > 0)
        throw error(options_.folder + "/" + stem() + ".jsonl", 0,
                    "nothing was added to the slot of " + s.what.name + " of " + isobit::trace::describe(e));
      set_digest(to, sum, s.what);
      if (s.chunk_bytes > 0) set_chunks(to, &sums_[s.first], s.what.bytes(), s.chunk_bytes);
    }
    staged_.clear();
  }

  recorder_options options_;
  detail::trace_file file_;
  uint32_t iteration_ = 0, microbatch_ = 0;
  uint64_t sequence_ = 0, ticket_ = 0;
  bool open_ = false;
  std::vector<event> events_; // consecutive sequence numbers
  std::map<std::tuple<uint32_t, std::string, std::string, std::string>, uint32_t> occurrences_;
  std::vector<staged> staged_;
  std::vector<digest_sum> sums_;
  uint64_t used_ = 0;
};

} // namespace isobit::inline bits1::trace
