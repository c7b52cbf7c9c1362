// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! trace_compare: where do two runs begin to differ?
#include "html_report.hpp"
#include "json_report.hpp"
#include "options.hpp"
#include "text_report.hpp"

#include <isobit/trace.hpp>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <string>

namespace trace_compare {
namespace {

//! One line on the terminal that says how far it is; nothing where standard error is not a terminal.
class progress {
public:
  ~progress() { clear(); }
  void clear() {
    if (visible_) std::fputs("\r\033[K", stderr);
  }
  void say(char const* what, std::uint64_t done, std::uint64_t all) {
    if (!visible_ || all == 0) return;
    std::fprintf(stderr, "\r\033[K%s %d %%", what,
                 static_cast<int>(100.0 * static_cast<double>(done) / static_cast<double>(all)));
    std::fflush(stderr);
  }

private:
  bool visible_ = isatty(STDERR_FILENO) != 0;
};

//! Both traces, read by two threads.
std::pair<trace::log, trace::log> read_both(options const& o, progress& p) {
  struct reading {
    std::atomic<std::uint64_t> done{0}, all{0};
    trace::log read(std::string const& path) {
      return trace::read(path, {.progress = [this](std::uint64_t d, std::uint64_t n) { done = d, all = n; }});
    }
  } a, b;
  auto of_a = std::async(std::launch::async, [&] { return a.read(o.a); });
  auto of_b = std::async(std::launch::async, [&] { return b.read(o.b); });
  while (of_a.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready ||
         of_b.wait_for(std::chrono::milliseconds(0)) != std::future_status::ready)
    p.say("reading", a.done + b.done, a.all + b.all);
  auto first = of_a.get(); // of two errors, that of A
  return {std::move(first), of_b.get()};
}

void write_file(std::string const& path, std::string const& text) {
  std::FILE* const f = std::fopen(path.c_str(), "wb");
  bool const ok = f != nullptr && std::fwrite(text.data(), 1, text.size(), f) == text.size();
  if ((f != nullptr && std::fclose(f) != 0) || !ok) throw std::runtime_error(path + ": cannot be written");
}

trace::byte_source kept_bytes(std::string const& path) {
  std::filesystem::path const p(path);
  return trace::files_in(std::filesystem::is_directory(p) ? p : p.parent_path());
}

int run(options const& o) {
  progress p;
  auto const [a, b] = read_both(o, p);
  trace::compare_options how;
  how.order_matters = o.order;
  how.progress = [&p](std::uint64_t done, std::uint64_t all) { p.say("comparing", done, all); };
  if (o.bytes) how.bytes_a = kept_bytes(o.a), how.bytes_b = kept_bytes(o.b);
  trace::comparison const c = trace::compare(a, b, how);
  if (!o.html.empty()) write_file(o.html, html_report().write(c, a, b));
  bool const color = o.color && isatty(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr;
  p.clear();
  std::string const report = o.json ? json_report().write(c, a, b) : text_report(color).write(c, a, b);
  if (std::fputs(report.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
    throw std::runtime_error("the output cannot be written");
  return c.same() ? 0 : 1;
}

} // namespace
} // namespace trace_compare

int main(int count, char** words) {
  try {
    auto const o = trace_compare::options::parse(count, words);
    if (o.help) return std::fputs(std::string(trace_compare::options::usage).c_str(), stdout), 0;
    return trace_compare::run(o);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "trace_compare: %s\n", e.what());
    return 2;
  }
}
