// ImportanceSample: the trials of which it is asked what mattered.
#pragma once

#include <vector>

#include "tune/search/history.h"
#include "tune/search/importance/parameter_cells.h"

namespace trainwarden::tune {

// More trials than this say the same and take longer: so many are drawn of them.
inline constexpr std::size_t kMaxSampledTrials = 4000;

struct ImportanceSample {
  std::vector<ParameterCells> parameters;  // those that vary
  std::vector<double> costs;               // of each trial, smaller is better; finite
  std::size_t left_out = 0;                // trials that have ended without a finite value of the metric
  std::size_t passed_over = 0;             // trials that count, beyond kMaxSampledTrials
  std::size_t moved = 0;                   // costs that hold_outliers() has changed

  std::size_t trials() const { return costs.size(); }
};

ImportanceSample sample_trials(const History& history, std::size_t metric);
// One loss of 1e9 would be all the variance there is: what lies beyond three interquartile ranges is put there (the
// outer fence of Tukey, Exploratory Data Analysis, 1977).
void hold_outliers(ImportanceSample& sample);

}  // namespace trainwarden::tune
