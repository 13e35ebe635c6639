#include "ui/views/attention/row_check.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ui/views/attention/tensor_words.h"
#include "ui/views/attention/view_floats.h"

namespace trainwarden::views::attention {
namespace {

constexpr std::int64_t kMostRows = 256;
constexpr double kTolerance = 0.02;

}  // namespace

RowCheck check_rows(const TensorView& weights) {
  RowCheck check;
  const int rank = weights.shape.rank();
  if (!has_floats(weights) || rank < 2 || weights.element_count() == 0) return check;
  const std::int64_t keys = weights.shape[rank - 1];
  const std::int64_t queries = weights.shape[rank - 2];
  const std::int64_t all_rows = weights.element_count() / keys;
  const std::int64_t stride = std::max<std::int64_t>(1, all_rows / kMostRows);
  bool above_diagonal = false;
  std::int64_t with_something_above = 0;  // rows that could show it
  std::vector<float> row(static_cast<std::size_t>(keys));
  for (std::int64_t at = 0; at < all_rows; at += stride) {
    read_floats(weights, at * keys, row);
    const std::int64_t query = at % queries;
    double sum = 0;
    for (const float weight : row) {
      sum += static_cast<double>(weight);
      check.negative = check.negative || weight < 0;
    }
    if (query + 1 < keys) ++with_something_above;
    for (std::int64_t key = query + 1; key < keys; ++key) {
      above_diagonal = above_diagonal || row[static_cast<std::size_t>(key)] != 0;
    }
    if (sum == 0 || !std::isfinite(sum)) continue;
    ++check.rows;
    check.mean_sum += sum;
    if (std::abs(sum - 1) <= kTolerance) ++check.whole_rows;
  }
  if (check.rows > 0) check.mean_sum /= static_cast<double>(check.rows);
  check.causal = queries == keys && with_something_above > 0 && !above_diagonal;
  return check;
}

const RowCheck& ValueChecks::rows_of(const std::string& tensor) {
  const auto [known, is_new] = by_skeleton_.try_emplace(skeleton_of(tensor));
  if (!is_new) return known->second;
  const std::vector<std::int64_t> steps = trial_.steps_of(tensor, Mode::kGlobal, Kept::kValue);
  if (steps.empty()) return known->second;
  const auto value = trial_.shared_value(tensor, steps.back());
  if (value.ok()) known->second = check_rows(value->view);
  return known->second;
}

}  // namespace trainwarden::views::attention
