#include "ui/cli/reports/top_frame.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/cli/terminal/characters.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

constexpr std::int64_t kFrameSecondNs = 1'000'000'000;
constexpr int kLeastRows = 12, kLeastColumns = 48;

struct StatusMark {
  const char* glyph;
  const char* ascii;
  const char* word;
  Ink ink;
  int rank;  // the lower, the sooner it is to be seen
};

StatusMark mark_of(RuleStatus status) {
  switch (status) {
    case RuleStatus::kIssuesFound: return {"✗", "x", "fired", Ink::kBad, 0};
    case RuleStatus::kError: return {"!", "!", "failed", Ink::kBad, 1};
    case RuleStatus::kInProgress: return {"•", ".", "judging", Ink::kNote, 2};
    case RuleStatus::kNoIssuesFound: return {"✓", "+", "ok", Ink::kGood, 3};
    case RuleStatus::kStopping: return {"■", "#", "stopping", Ink::kDim, 4};
    case RuleStatus::kStopped: return {"■", "#", "stopped", Ink::kDim, 4};
    case RuleStatus::kNotApplicable: return {"–", "-", "not applicable", Ink::kDim, 5};
  }
  return {"?", "?", "unknown", Ink::kDim, 6};
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.2f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

// One frame in the making: rows are filled from above.
class Frame {
 public:
  Frame(const TopFacts& facts, const TopChoice& choice, int rows, int columns, bool unicode)
      : facts_(facts), choice_(choice), unicode_(unicode), screen_(rows, columns) {}

  Screen draw() {
    if (screen_.rows() < kLeastRows || screen_.columns() < kLeastColumns) {
      put(0, 0, fmt::format("make the window larger, {} x {} at least", kTopColumns, kTopRows), Ink::kPlain);
      return std::move(screen_);
    }
    plan();
    draw_header();
    draw_progress();
    draw_losses();
    draw_rules();
    draw_health();
    draw_events();
    draw_system();
    draw_keys();
    return std::move(screen_);
  }

 private:
  // How many rows each part gets, its heading included; what nobody needs goes to the chart.
  void plan() {
    constexpr int kFixed = 4;  // header, progress, system, keys
    int left = screen_.rows() - kFixed - (facts_.machine.empty() ? 0 : 1) - (facts_.phases.empty() ? 0 : 1);
    const auto take = [&](int& part, std::size_t wanted, int most) {
      part = std::clamp(static_cast<int>(std::min<std::size_t>(wanted, 1000)), 0, std::min(most, left));
      left -= part;
    };
    const int share = screen_.rows() / 6;  // 4 of 24
    take(loss_rows_, 1 + std::max<std::size_t>(facts_.losses.size(), 1), share);
    take(rule_rows_, 1 + std::max<std::size_t>(facts_.rules.size(), 1), share + 1);
    take(health_rows_, 1 + std::max<std::size_t>(facts_.health.size(), 1), share);
    take(event_rows_, 1 + std::max<std::size_t>(facts_.events.size(), 1), share - 1);
    chart_rows_ = left;
  }

  int put(int row, int column, const std::string& text, Ink ink, int most = 1 << 20) {
    const int room = std::min(most, screen_.columns() - column);
    if (text_cells(text) <= room) return screen_.put(row, column, text, ink);
    const int end = screen_.put(row, column, text, ink, room - 1);
    return screen_.put(row, end, unicode_ ? "…" : "~", ink);
  }

  void heading(const std::string& text) {
    put(row_, 0, text, Ink::kStrong);
    ++row_;
  }
  void say_none(const std::string& text) {
    put(row_, 2, text, Ink::kDim);
    ++row_;
  }

  void draw_header() {
    std::string right = facts_.steps_per_second > 0 ? fmt::format("{:.4g} steps/s", facts_.steps_per_second) : "";
    if (facts_.created_unix_ns != 0 && facts_.last_unix_ns >= facts_.created_unix_ns) {
      const std::int64_t end = facts_.running ? facts_.now_unix_ns : facts_.last_unix_ns;
      right +=
          fmt::format("  {}", format_duration_ns((end - facts_.created_unix_ns) / kFrameSecondNs * kFrameSecondNs));
    }
    const int room = screen_.columns() - text_cells(right) - 2;
    int column = put(row_, 0, printable(facts_.run), Ink::kStrong, room / 2);
    column = put(row_, column + 2, facts_.state, facts_.running ? Ink::kNote : Ink::kPlain, room - column - 2);
    if (column + 4 < room) put(row_, column + 2, facts_.place, Ink::kPlain, room - column - 2);
    screen_.put_right(row_, screen_.columns(), right);
    ++row_;
  }

  void draw_progress() {
    if (!facts_.total) {
      put(row_++, 0, "how many steps there will be is not known (label total_steps)", Ink::kDim);
      return;
    }
    const double share =
        std::clamp(static_cast<double>(facts_.done_steps) / static_cast<double>(*facts_.total), 0.0, 1.0);
    std::string text = fmt::format(" {:3.0f} %  {} of {}", 100 * share, facts_.done_steps, *facts_.total);
    if (const auto eta = facts_.eta_seconds())
      text += fmt::format("  ETA {}", format_duration_ns(*eta * kFrameSecondNs));
    const int bar = std::max(10, screen_.columns() - text_cells(text) - 2);
    const int full = static_cast<int>(std::lround(share * bar));
    for (int i = 0; i < bar; ++i) {
      const bool done = i < full;
      put(row_, i, unicode_ ? (done ? "━" : "─") : (done ? "=" : "-"), done ? Ink::kNote : Ink::kDim);
    }
    put(row_++, bar, text, Ink::kPlain);
  }

  void draw_losses() {
    const int begin = row_;
    heading("Losses and scalars");
    if (facts_.losses.empty()) say_none("none yet");
    const std::size_t chosen = facts_.losses.empty() ? 0 : choice_.loss % facts_.losses.size();
    const auto rows = static_cast<std::size_t>(std::max(loss_rows_ - 1, 0));
    const std::size_t first = chosen >= rows && rows > 0 ? chosen - rows + 1 : 0;  // what is chosen is in sight
    for (std::size_t i = first; i < facts_.losses.size() && i - first < rows; ++i) {
      draw_loss(facts_.losses[i], i == chosen);
    }
    row_ = begin + loss_rows_;
    if (!facts_.losses.empty()) draw_loss_chart(facts_.losses[chosen]);
    row_ += chart_rows_;
  }

  void draw_loss(const LossFacts& loss, bool chosen) {
    const int columns = screen_.columns();
    const std::string numbers = fmt::format("last {:>10}  min {:>10}", format_number(loss.last),
                                            loss.lowest ? format_number(*loss.lowest) : "-");
    const int spark = std::max(8, columns / 6);
    const int name = columns - text_cells(numbers) - spark - 6;
    put(row_, 0, chosen ? (unicode_ ? "▸" : ">") : " ", Ink::kStrong);
    put(row_, 2, printable(loss.name), chosen ? Ink::kStrong : Ink::kPlain, name);
    screen_.put(row_, 4 + name, sparkline(loss.points, spark, unicode_), Ink::kSeries0);
    screen_.put_right(row_, columns, numbers, std::isfinite(loss.last) ? Ink::kPlain : Ink::kBad);
    ++row_;
  }

  void draw_loss_chart(const LossFacts& loss) {
    const ChartSeries series{.name = loss.name, .letter = '*', .points = loss.points};
    const ChartLook look{unicode_ ? ChartInk::kBraille : ChartInk::kLetters, false};
    draw_chart({series}, look, "global step", {row_, 0, chart_rows_, screen_.columns()}, screen_);
  }

  void draw_rules() {
    const int begin = row_;
    heading("Rules");
    if (facts_.rules.empty()) {
      say_none(fmt::format("none has judged this run: trainwarden watch {} --rules default", printable(facts_.run)));
    }
    std::vector<const RuleLine*> rules;
    for (const RuleLine& rule : facts_.rules) rules.push_back(&rule);
    std::stable_sort(rules.begin(), rules.end(), [](const RuleLine* a, const RuleLine* b) {
      return mark_of(a->status).rank < mark_of(b->status).rank;
    });
    const auto room = static_cast<std::size_t>(std::max(rule_rows_ - 1, 0));
    for (std::size_t i = 0; i < rules.size() && i < room; ++i) {
      const std::size_t left_out = rules.size() - i;
      if (i + 1 == room && left_out > 1) {
        say_none(fmt::format("and {} more", left_out));
        break;
      }
      draw_rule(*rules[i]);
    }
    row_ = begin + rule_rows_;
  }

  void draw_rule(const RuleLine& rule) {
    const StatusMark mark = mark_of(rule.status);
    put(row_, 2, unicode_ ? mark.glyph : mark.ascii, mark.ink);
    put(row_, 4, mark.word, mark.ink, 14);
    const int name_end = put(row_, 19, printable(rule.id), Ink::kPlain, 24);
    if (!rule.words.empty()) put(row_, std::max(name_end + 2, 40), printable(rule.words), Ink::kDim);
    ++row_;
  }

  void draw_health() {
    const int begin = row_;
    heading("Tensors         tensors     step       NaN       Inf     zeros  largest |x|");
    if (facts_.health.empty()) say_none("no statistics of weights, biases, gradients or outputs were kept");
    for (const HealthFacts& health : facts_.health) {
      if (row_ >= begin + health_rows_) break;
      const bool bad = health.nan_count + health.inf_count > 0;
      const std::string tensors = fmt::format("{}{}", health.tensors, health.left_out > 0 ? "+" : "");
      const std::string line = fmt::format("{:<13} {:>8} {:>8} {:>9} {:>9} {:>9}  {}", health.collection, tensors,
                                           health.step, health.nan_count, health.inf_count,
                                           percent(health.zero_count, health.count), format_number(health.largest));
      const int end = put(row_, 2, line, bad ? Ink::kBad : Ink::kPlain);
      if (end + 2 < screen_.columns()) put(row_, end + 2, printable(health.largest_name), Ink::kDim);
      ++row_;
    }
    row_ = begin + health_rows_;
  }

  void draw_events() {
    const int begin = row_;
    heading("Events");
    if (facts_.events.empty()) say_none("none");
    const auto room = static_cast<std::size_t>(std::max(event_rows_ - 1, 0));
    const std::size_t first = facts_.events.size() > room ? facts_.events.size() - room : 0;
    for (std::size_t i = first; i < facts_.events.size(); ++i) put(row_++, 2, printable(facts_.events[i]), Ink::kPlain);
    row_ = begin + event_rows_;
  }

  void draw_system() {
    std::string text = "System  ";
    if (facts_.process) {
      const ProcessUse& use = *facts_.process;
      text += fmt::format("process {}  CPU {}  memory {}  threads {}", use.pid,
                          use.cpu_share < 0 ? "-" : fmt::format("{:.0f} %", 100 * use.cpu_share),
                          format_bytes(use.memory_bytes), use.threads);
    } else {
      text += facts_.running ? facts_.process_note : "the training has ended";
    }
    if (facts_.capture_share >= 0) text += fmt::format("  capture {:.2f} %", 100 * facts_.capture_share);
    int row = screen_.rows() - 2;
    put(row, 0, text, Ink::kPlain);
    if (!facts_.machine.empty()) put(--row, 0, "Machine " + facts_.machine, Ink::kPlain);
    if (!facts_.phases.empty()) put(--row, 0, "Phases  " + facts_.phases, Ink::kPlain);
  }

  void draw_keys() {
    const std::string run = printable(facts_.run);
    const std::string stop = facts_.running ? fmt::format("to end the training: trainwarden stop {}", run) : "";
    std::string keys;
    if (choice_.keys) {
      keys = unicode_ ? " q quit  ↑↓ choose a series" : " q quit  j/k choose a series";
      if (choice_.several_runs) keys += unicode_ ? "  ←→ another run" : "  h/l another run";
      keys += "  ";
    }
    put(screen_.rows() - 1, 0, keys + stop, Ink::kPlain);
    if (choice_.keys) screen_.fill_row(screen_.rows() - 1, Ink::kPlain, true);
  }

  const TopFacts& facts_;
  const TopChoice& choice_;
  const bool unicode_;
  Screen screen_;
  int row_ = 0;
  int loss_rows_ = 0, chart_rows_ = 0, rule_rows_ = 0, health_rows_ = 0, event_rows_ = 0;
};

}  // namespace

Screen top_frame(const TopFacts& facts, const TopChoice& choice, int rows, int columns, bool unicode) {
  return Frame(facts, choice, rows, columns, unicode).draw();
}

std::string top_line(const TopFacts& facts) {
  std::string line = fmt::format("{}  {}", facts.state, facts.place);
  if (facts.steps_per_second > 0) line += fmt::format("  {:.4g} steps/s", facts.steps_per_second);
  if (const auto eta = facts.eta_seconds()) line += fmt::format("  ETA {}", format_duration_ns(*eta * kFrameSecondNs));
  for (const LossFacts& loss : facts.losses) {
    line += fmt::format("  {} {}", printable(loss.name), format_number(loss.last));
  }
  std::size_t fine = 0;
  std::string named;
  for (const RuleLine& rule : facts.rules) {
    const bool bad = rule.status == RuleStatus::kIssuesFound || rule.status == RuleStatus::kError;
    if (bad) named += fmt::format(", {} {}", printable(rule.id), mark_of(rule.status).word);
    if (!bad) ++fine;
  }
  return facts.rules.empty() ? line : fmt::format("{}  rules: {} ok{}", line, fine, named);
}

}  // namespace trainwarden::cli
