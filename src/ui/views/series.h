// Series: a number of a tensor over the steps of a run, cut to what a screen can show.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "read/trial/tensor_series.h"
#include "trainwarden/mode.h"
#include "trainwarden/status.h"
#include "ui/views/series_pyramid.h"
#include "ui/views/shelf.h"

namespace trainwarden::views {

struct SeriesQuestion {
  std::string tensor;
  // None: a scalar, where any step has that, else the first single reduction kept of it, else its mean.
  std::optional<trial::SeriesNumber> number;
  std::optional<Mode> mode;                                      // of this mode alone
  std::string worker;                                            // empty: the first that knows the tensor
  std::int64_t from = std::numeric_limits<std::int64_t>::min();  // global steps, both ends included
  std::int64_t to = std::numeric_limits<std::int64_t>::max();
  std::size_t buckets = 1000;
};

struct SeriesPointOut {
  std::int64_t step = 0;
  std::int64_t unix_ns = 0;
  double value = 0;
};

struct Series {
  std::string name;  // the tensor's
  trial::SeriesNumber number;
  std::string worker;
  std::optional<Mode> mode;  // of this mode alone; none: of all
  // One of the two: where there are at most four times as many points as buckets, the points.
  std::vector<SeriesPointOut> points;
  std::vector<SeriesBucket> buckets;
  // Of the whole series.
  SeriesSummary all;
  std::int64_t first_step = -1;  // -1: it has none
  std::int64_t last_step = -1;
  double newest = std::numeric_limits<double>::quiet_NaN();  // the last of all, finite or not
  std::uint64_t left = 0;                                    // steps that have not been read yet: ask again
  std::uint64_t unreadable = 0;                              // steps whose bytes are damaged
  bool counted = false;  // the steps are none of the training's (views/metric_series.h)
};

// Fills in what of the series the question is about, and what is known of all of it.
void cut_series(const SeriesPyramid& pyramid, const SeriesQuestion& question, Series& series);

// What was read is remembered with the run; each question reads only what is new, for at most `patience`. kNotFound for
// an unknown tensor or worker.
Result<Series> read_series(const OpenRun::Use& run, const SeriesQuestion& question, std::chrono::nanoseconds patience);
// One for each mode that has points, whatever the question's mode; one without points where no mode has any.
Result<std::vector<Series>> read_series_by_mode(const OpenRun::Use& run, const SeriesQuestion& question,
                                                std::chrono::nanoseconds patience);

}  // namespace trainwarden::views
