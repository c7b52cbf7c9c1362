// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The report as one static page: a timeline of ranks and events, and the findings. No script, nothing from elsewhere.
#pragma once

#include "words.hpp"

namespace trace_compare {

class html_report {
public:
  //! The most rows and columns of the timeline: a larger trace is summarised, each cell by its worst event.
  static constexpr std::size_t most_rows = 64, most_columns = 240;

  std::string write(trace::comparison const& c, trace::log const& a, trace::log const& b) {
    out_ = head;
    out_ += std::string("<h1 class=\"") + (c.same() ? "same\">Same" : "diverged\">Diverged") + "</h1>\n";
    paragraph("verdict", c.verdict);
    if (!c.next.empty()) paragraph("next", "Next: " + c.next);
    out_ += "<dl>\n";
    item("A", a.name() + ": " + number(a.size()) + " events");
    item("B", b.name() + ": " + number(b.size()) + " events");
    item("Compared",
         number(c.compared) + " pairs of tensors by digests, " + number(c.confirmed) + " of them by bytes too");
    for (auto const& r : c.remarks) item("Note", r);
    out_ += "</dl>\n<h2>Timeline</h2>\n";
    timeline(c);
    findings(c);
    out_ += "</main></body></html>\n";
    return std::move(out_);
  }

private:
  static constexpr char const* head = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Trace comparison</title>
<style>
:root { --ground: #fff; --text: #1b1f24; --dim: #59636e; --line: #d8dee4; --k0: #b7dfc0; --k1: #dfe3e8; --k2: #b3261e;
  --k3: #f0a23c; --k4: #7b3fa0; --k5: #2f6fb3; --mark: #1b1f24; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171a; --text: #e6e9ec; --dim: #9aa4ae; --line: #333a41;
  --k0: #2c5a3a; --k1: #3a4149; --k2: #ff6f61; --k3: #d98b27; --k4: #c08be0; --k5: #6ca8e6; --mark: #fff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 1280px; margin: 0 auto; padding: 16px; overflow-wrap: anywhere; }
h1 { margin: 0 0 8px; font-size: 1.6rem; } h2 { font-size: 1.15rem; margin: 28px 0 8px; }
h1.same { color: #1a7f37; } h1.diverged { color: var(--k2); }
.verdict { font-size: 1.05rem; margin: 0 0 8px; } .next { border-left: 4px solid var(--k3); padding-left: 12px; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 12px; margin: 12px 0; }
dt { color: var(--dim); } dd { margin: 0; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: .875rem; margin: 0 0 8px; padding: 0; list-style: none; }
.legend i { display: inline-block; width: 14px; height: 14px; vertical-align: -2px; margin-right: 6px; border-radius: 2px; }
.row { display: grid; grid-template-columns: 92px minmax(0, 1fr); gap: 8px; align-items: center; min-height: 22px; }
.row span { font-size: .8rem; color: var(--dim); text-align: right; white-space: nowrap; }
svg { display: block; width: 100%; height: 18px; }
.k0 { fill: var(--k0); background: var(--k0); } .k1 { fill: var(--k1); background: var(--k1); }
.k2 { fill: var(--k2); background: var(--k2); } .k3 { fill: var(--k3); background: var(--k3); }
.k4 { fill: var(--k4); background: var(--k4); } .k5 { fill: var(--k5); background: var(--k5); }
.mark { fill: var(--mark); background: var(--mark); }
.axis { font-size: .8rem; color: var(--dim); display: flex; justify-content: space-between; }
article { border: 1px solid var(--line); border-radius: 6px; padding: 10px 12px; margin: 0 0 10px; }
article h3 { font-size: 1rem; margin: 0 0 4px; } article p { margin: 0; } article b.o { color: var(--k2); }
article ul { margin: 6px 0 0; padding: 0; list-style: none; font: .85rem/1.5 ui-monospace, monospace; }
.dim { color: var(--dim); font-size: .875rem; }
</style></head><body><main>
)";

  static void escape(std::string& out, std::string_view text) {
    for (char const ch : text) {
      switch (ch) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(ch) < 0x20 || ch == 0x7f ? '?' : ch;
      }
    }
  }
  void text(std::string_view t) { escape(out_, t); }
  void paragraph(char const* kind, std::string_view t) {
    out_ += std::string("<p class=\"") + kind + "\">";
    text(t);
    out_ += "</p>\n";
  }
  void item(char const* name, std::string_view value) {
    out_ += std::string("<dt>") + name + "</dt><dd>";
    text(value);
    out_ += "</dd>\n";
  }

  // The worse of two steps: what must not vanish in a summary.
  static trace::step worse(trace::step x, trace::step y) {
    constexpr int weight[] = {0, 1, 5, 2, 4, 3};
    return weight[static_cast<int>(x)] < weight[static_cast<int>(y)] ? y : x;
  }

  void timeline(trace::comparison const& c) {
    constexpr char const* names[] = {"equal",         "no digests", "outputs differ",
                                     "inputs differ", "in A only",  "in B only"};
    std::size_t longest = 1;
    bool used[trace::step_kinds] = {};
    for (auto const& r : c.ranks) {
      longest = std::max(longest, r.steps.size());
      for (int i = 0; i < trace::step_kinds; ++i) used[i] |= r.count[i] > 0;
    }
    std::size_t const columns = std::min(longest, most_columns);
    std::size_t const group = (c.ranks.size() + most_rows - 1) / most_rows;
    out_ += "<ul class=\"legend\">";
    for (int i = 0; i < trace::step_kinds; ++i)
      if (used[i]) out_ += "<li><i class=\"k" + std::to_string(i) + "\"></i>" + names[i] + "</li>";
    if (!c.same()) out_ += "<li><i class=\"mark\" style=\"width:4px\"></i>first difference</li>";
    out_ += "</ul>\n";
    for (std::size_t first = 0; first < c.ranks.size(); first += group)
      row(c, first, std::min(first + group, c.ranks.size()), longest, columns);
    out_ += "<div class=\"row\"><span></span><div class=\"axis\"><span>first event</span><span>event " +
            number(longest) + "</span></div></div>\n";
    if (longest > columns || group > 1)
      paragraph("dim", "Summarised: a cell stands for up to " + number((longest + columns - 1) / columns) +
                           " events of " + number(group) + " rank(s), and has the colour of the worst of them.");
  }

  void row(trace::comparison const& c, std::size_t first, std::size_t last, std::size_t longest, std::size_t columns) {
    std::vector<int> cells(columns, -1);
    std::size_t mark = columns;
    for (std::size_t k = first; k < last; ++k) {
      bool differs = false;
      auto const& steps = c.ranks[k].steps;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        std::size_t const column = i * columns / longest;
        int& cell = cells[column];
        cell =
            cell < 0 ? static_cast<int>(steps[i]) : static_cast<int>(worse(static_cast<trace::step>(cell), steps[i]));
        if (!differs && steps[i] > trace::step::unobserved) differs = true, mark = std::min(mark, column);
      }
    }
    std::string const from = std::to_string(c.ranks[first].rank);
    out_ += "<div class=\"row\"><span>" +
            (last - first == 1 ? "rank " + from : from + "\u2013" + std::to_string(c.ranks[last - 1].rank)) +
            "</span><svg viewBox=\"0 0 " + std::to_string(columns) + " 10\" preserveAspectRatio=\"none\" role=\"img\">";
    for (std::size_t i = 0; i < columns;) {
      std::size_t end = i + 1;
      while (end < columns && cells[end] == cells[i]) ++end;
      if (cells[i] >= 0) rectangle("k" + std::to_string(cells[i]), std::to_string(i), std::to_string(end - i));
      i = end;
    }
    if (mark < columns) {
      std::string const width = std::to_string(static_cast<double>(columns) / 240);
      rectangle("mark", std::to_string(mark), width.substr(0, width.find('.') + 3));
    }
    out_ += "</svg></div>\n";
  }
  void rectangle(std::string const& kind, std::string const& x, std::string const& width) {
    out_ += "<rect class=\"" + kind + "\" x=\"" + x + "\" width=\"" + width + "\" height=\"10\"/>";
  }

  void findings(trace::comparison const& c) {
    std::size_t shown = 0, all = 0;
    for (auto const& r : c.ranks) all += r.first.has_value();
    if (all == 0) return;
    out_ += "<h2>First difference of each rank</h2>\n";
    for (bool const origins : {true, false}) {
      for (auto const& r : c.ranks) {
        if (!r.first || trace::detail::is_origin(r.first->kind) != origins || shown == most_rows) continue;
        ++shown;
        finding(r);
      }
    }
    if (shown < all) paragraph("dim", number(all - shown) + " more ranks differ.");
  }
  void finding(trace::rank_result const& r) {
    trace::finding const& f = *r.first;
    out_ += "<article><h3>rank " + std::to_string(r.rank) + ": ";
    text(describe(f.what()));
    out_ += std::string("</h3><p><b") + (trace::detail::is_origin(f.kind) ? " class=\"o\">" : ">") + name_of(f.kind) +
            "</b>: " + kind_text(f.kind) + "</p><ul>";
    for (auto const& d : details(f)) {
      out_ += "<li>";
      text(d);
      out_ += "</li>";
    }
    out_ += "</ul><p class=\"dim\">whole rank: " + counts_text(r) + "</p></article>\n";
  }

  std::string out_;
};

} // namespace trace_compare
