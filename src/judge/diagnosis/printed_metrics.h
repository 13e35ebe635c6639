// Printed metrics: what a program says of its evaluation in the lines that it prints, as "epoch 3: val acc 0.91".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::diagnosis {

struct PrintedLine {
  std::int64_t step = 0;  // the train step that was the last one then
  bool is_after_evaluation = false;
  std::string text;
};

// The text of `trainwarden/examination/printed`. kDataLoss for anything else.
Result<std::vector<PrintedLine>> read_printed_lines(std::string_view text);

enum class PrintedKind { kLoss, kError, kAccuracy, kScore };  // an error falls as a loss does, and is another number

struct PrintedMetric {
  std::string name;  // as it is printed, in lower case: "val acc"
  PrintedKind kind = PrintedKind::kLoss;
  double value = 0;             // finite, but for a loss of the training
  bool is_of_training = false;  // that is called so ("train auc 0.97")
  bool is_called_so = false;    // of an evaluation; else that follows from where it stands
  std::string metric = {};      // without what it is of: "auc"
};

// Those of an evaluation: that are called so ("val", "test", ...), or that a line names which follows an evaluation and
// speaks of no training; and those that are called of the training. Of numbers behind one name the first.
std::vector<PrintedMetric> metrics_in(const PrintedLine& line);

}  // namespace trainwarden::diagnosis
