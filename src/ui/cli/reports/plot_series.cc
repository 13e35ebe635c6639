#include "ui/cli/reports/plot_series.h"

#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::hours kPatience{24};               // one who asks here waits
constexpr std::size_t kAllPoints = std::size_t{1} << 40;  // no bucket holds more than one

// The modes to be drawn apart; one that is none when there is nothing to tell apart.
std::vector<std::optional<Mode>> modes_of(const Trial& trial, const std::string& tensor, const PlotQuestion& question) {
  if (question.mode) return {question.mode};
  std::vector<std::optional<Mode>> modes;
  for (const Mode mode : trial.modes()) {
    if (mode != Mode::kGlobal && !trial.steps_of(tensor, mode, Kept::kAny).empty()) modes.emplace_back(mode);
  }
  if (modes.empty()) modes.emplace_back(std::nullopt);
  return modes;
}

std::vector<ChartPoint> drawn_points(const std::vector<views::SeriesPointOut>& points, const PlotQuestion& question,
                                     std::int64_t begin_unix_ns) {
  std::vector<double> values;
  for (const views::SeriesPointOut& point : points) values.push_back(point.value);
  values = smoothed(values, question.smooth);
  std::vector<ChartPoint> drawn;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double seconds = static_cast<double>(points[i].unix_ns - begin_unix_ns) / 1e9;
    drawn.push_back({question.by_time ? seconds : static_cast<double>(points[i].step), values[i]});
  }
  return drawn;
}

Result<PlottedSeries> plotted(const views::OpenRun::Use& run, const std::string& tensor, std::optional<Mode> mode,
                              const PlotQuestion& question) {
  views::SeriesQuestion asked{.tensor = tensor, .mode = mode, .worker = question.worker, .buckets = kAllPoints};
  if (!question.of.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(asked.number, trial::parse_series_number(question.of));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(views::Series series, views::read_series(run, asked, kPatience));
  PlottedSeries plotted{.tensor = tensor,
                        .mode = mode,
                        .number = series.number,
                        .worker = series.worker,
                        .points = std::move(series.points),
                        .all = series.all,
                        .unreadable = series.unreadable};
  const Trial& trial = run.trial();
  const std::int64_t begin =
      trial.created_unix_ns() != 0 || plotted.points.empty() ? trial.created_unix_ns() : plotted.points.front().unix_ns;
  plotted.drawn = drawn_points(plotted.points, question, begin);
  return plotted;
}

}  // namespace

Result<std::vector<PlottedSeries>> plotted_series(const views::OpenRun::Use& run,
                                                  const std::vector<std::string>& tensors,
                                                  const PlotQuestion& question) {
  std::vector<PlottedSeries> all;
  for (const std::string& tensor : tensors) {
    const std::size_t before = all.size();
    for (const auto mode : modes_of(run.trial(), tensor, question)) {
      TRAINWARDEN_ASSIGN_OR_RETURN(PlottedSeries series, plotted(run, tensor, mode, question));
      if (!series.points.empty() || series.unreadable > 0) all.push_back(std::move(series));
    }
    if (all.size() > before) continue;
    return Status(Code::kNotFound,
                  fmt::format("\"{}\" has no number to draw{}{}: `tensors` says in which forms it was kept, --of names "
                              "another number",
                              printable(tensor), question.of.empty() ? "" : " as " + printable(question.of),
                              question.mode ? fmt::format(" in mode {}", name(*question.mode)) : ""));
  }
  return all;
}

std::string title_of(const PlottedSeries& series) {
  std::string title;
  if (series.mode) title += fmt::format("{} ", name(*series.mode));
  if (series.number.kind != trial::SeriesNumber::Kind::kScalar) title += name(series.number) + " of ";
  return title + series.tensor;
}

char letter_of(std::size_t series) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return kLetters[series % kLetters.size()];
}

std::vector<double> smoothed(const std::vector<double>& values, double share) {
  std::vector<double> smooth;
  double mean = 0, weight = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      smooth.push_back(value);
      continue;
    }
    mean = share * mean + (1 - share) * value;
    weight = share * weight + (1 - share);
    smooth.push_back(mean / weight);
  }
  return smooth;
}

}  // namespace trainwarden::cli
