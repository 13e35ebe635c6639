// The series that `trainwarden plot` draws.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trainwarden/mode.h"
#include "trainwarden/status.h"
#include "ui/cli/terminal/chart.h"
#include "ui/views/series.h"
#include "ui/views/shelf.h"

namespace trainwarden::cli {

struct PlotQuestion {
  std::string of;            // empty: what was kept
  std::optional<Mode> mode;  // none: a series for each
  std::string worker;        // empty: the first that has the tensor
  double smooth = 0;         // in [0, 1)
  bool by_time = false;      // x is seconds since the run was made
};

struct PlottedSeries {
  std::string tensor;
  std::optional<Mode> mode;  // where the tensor was seen in several
  trial::SeriesNumber number;
  std::string worker;
  std::vector<views::SeriesPointOut> points;
  std::vector<ChartPoint> drawn;  // for each of them
  views::SeriesSummary all;
  std::uint64_t unreadable = 0;  // steps whose bytes are damaged
};

// In the order of the names. kNotFound for a tensor that is not there, or has no such number at any step.
Result<std::vector<PlottedSeries>> plotted_series(const views::OpenRun::Use& run,
                                                  const std::vector<std::string>& tensors,
                                                  const PlotQuestion& question);

// "train loss", "eval l2 of fc0.weight": what tells series apart first, as long names are cut
std::string title_of(const PlottedSeries& series);
char letter_of(std::size_t series);  // a, b, ..., z, A, ..., Z, a, ...

// A mean that forgets: each value takes `share` from those before it. What is no number stays as it is and is passed
// over. The first values are not drawn towards zero (as Adam's moments are corrected: Kingma and Ba 2014,
// https://arxiv.org/abs/1412.6980).
std::vector<double> smoothed(const std::vector<double>& values, double share);

}  // namespace trainwarden::cli
