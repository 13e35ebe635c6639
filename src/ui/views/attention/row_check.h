// Are these attention weights? What their rows say.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "trainwarden/tensor_view.h"
#include "trainwarden/trial.h"

namespace trainwarden::views::attention {

struct RowCheck {
  std::int64_t rows = 0;        // looked at, without those that are empty (all zeros)
  std::int64_t whole_rows = 0;  // of these, sum to one within 2 %: what bfloat16 leaves of it
  bool negative = false;        // there are weights below zero: scores before their softmax
  bool causal = false;          // square, and nothing above the diagonal
  double mean_sum = 0;

  bool sums_to_one() const { return rows > 0 && !negative && whole_rows * 10 >= rows * 9; }
  // Each row is a distribution of which dropout took away a part and stretched the rest.
  bool looks_like_dropout() const { return rows > 0 && !negative && mean_sum > 0.5 && mean_sum < 1.5; }
};

// Looks at 256 rows of [.., Tq, Tk] at most, evenly spread.
RowCheck check_rows(const TensorView& weights);

// Reads the newest value of one tensor of each set whose names differ in numbers only.
class ValueChecks {
 public:
  explicit ValueChecks(Trial& trial) : trial_(trial) {}
  const RowCheck& rows_of(const std::string& tensor);

 private:
  Trial& trial_;
  std::map<std::string, RowCheck> by_skeleton_;
};

}  // namespace trainwarden::views::attention
