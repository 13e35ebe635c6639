#include "judge/rules/builtin/activations/row_measures.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "judge/rules/tensor_elements.h"

namespace trainwarden::rules {
namespace {

constexpr std::int64_t kMostElements = 1 << 20;
constexpr std::int64_t kMostRows = 256;

Status unfit(std::string_view what, const TensorView& view) {
  return Status(Code::kOutOfRange, fmt::format("a tensor of shape {} {}", view.shape.to_string(), what));
}

bool all_finite(std::span<const double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

// One matrix of attention, row by row.
struct AttentionMatrix {
  std::span<const double> elements;
  std::size_t queries = 0;
  std::size_t keys = 0;
  double at(std::size_t query, std::size_t key) const { return elements[query * keys + key]; }
};

bool is_causal(const AttentionMatrix& matrix) {
  if (matrix.queries != matrix.keys) return false;
  for (std::size_t query = 0; query < matrix.queries; ++query) {
    for (std::size_t key = query + 1; key < matrix.keys; ++key) {
      if (matrix.at(query, key) != 0) return false;
    }
  }
  return true;
}

std::vector<bool> seen_keys(const AttentionMatrix& matrix) {
  std::vector<bool> seen(matrix.keys, false);
  for (std::size_t i = 0; i < matrix.elements.size(); ++i) {
    if (matrix.elements[i] != 0) seen[i % matrix.keys] = true;
  }
  // All rows at one and the same key: that is no mask but a collapse.
  if (std::count(seen.begin(), seen.end(), true) < 2) seen.assign(matrix.keys, true);
  return seen;
}

double entropy_of_row(std::span<const double> row, double sum) {
  double entropy = 0;
  for (const double p : row) {
    if (p > 0) entropy -= p / sum * std::log(p / sum);
  }
  return entropy;
}

// Adds the shares of the matrix's rows to `total`.
void add_rows(const AttentionMatrix& matrix, RowMeasure& total) {
  const std::vector<bool> seen = seen_keys(matrix);
  const bool causal = is_causal(matrix);
  const auto all_visible = std::count(seen.begin(), seen.end(), true);
  std::ptrdiff_t visible_so_far = 0;
  for (std::size_t query = 0; query < matrix.queries; ++query) {
    if (causal && seen[query]) ++visible_so_far;
    const auto visible = causal ? visible_so_far : all_visible;
    const auto row = matrix.elements.subspan(query * matrix.keys, matrix.keys);
    double sum = 0;
    for (const double p : row) sum += p;
    if (visible < 2 || !(sum > 0)) continue;
    total.value += entropy_of_row(row, sum) / std::log(static_cast<double>(visible));
    ++total.rows;
  }
}

}  // namespace

Result<RowMeasure> entropy_share(const TensorView& attention) {
  const int rank = attention.shape.rank();
  if (rank < 2 || attention.element_count() == 0) return unfit("holds no attention of queries to keys", attention);
  const std::int64_t queries = attention.shape[rank - 2];
  const std::int64_t keys = attention.shape[rank - 1];
  const std::int64_t matrices = attention.element_count() / (queries * keys);
  const std::int64_t looked_at = std::clamp<std::int64_t>(kMostElements / (queries * keys), 1, matrices);
  RowMeasure total;
  for (std::int64_t i = 0; i < looked_at; ++i) {
    const std::int64_t matrix = i * matrices / looked_at;
    const auto elements = components_of(attention, matrix * queries * keys, queries * keys);
    if (!all_finite(elements)) return unfit("holds values that are not finite", attention);
    if (*std::min_element(elements.begin(), elements.end()) < 0) {
      return unfit("holds negative values, and so no probabilities", attention);
    }
    add_rows({elements, static_cast<std::size_t>(queries), static_cast<std::size_t>(keys)}, total);
  }
  if (total.rows == 0) return unfit("has no row with at least two keys", attention);
  total.value /= static_cast<double>(total.rows);
  return total;
}

Result<RowMeasure> mean_cosine(const TensorView& batch) {
  if (batch.shape.rank() < 2 || batch.element_count() == 0) return unfit("holds no rows", batch);
  const std::int64_t rows = batch.shape[0];
  const std::int64_t width = component_count(batch) / rows;
  const std::int64_t looked_at = std::min(rows, kMostRows);
  std::vector<double> sum(static_cast<std::size_t>(width), 0);
  std::int64_t counted = 0;
  for (std::int64_t i = 0; i < looked_at; ++i) {
    const auto row = components_of(batch, i * rows / looked_at * width, width);
    if (!all_finite(row)) return unfit("holds values that are not finite", batch);
    double squares = 0;
    for (const double x : row) squares += x * x;
    if (squares == 0) continue;
    const double norm = std::sqrt(squares);
    for (std::size_t j = 0; j < row.size(); ++j) sum[j] += row[j] / norm;
    ++counted;
  }
  if (counted < 2) return unfit("has fewer than two rows that are not zero", batch);
  double squares = 0;
  for (const double x : sum) squares += x * x;
  const auto m = static_cast<double>(counted);
  return RowMeasure{(squares - m) / (m * (m - 1)), counted};
}

Result<TopShare> top_share(const TensorView& scores) {
  const int rank = scores.shape.rank();
  const std::int64_t choices = rank > 0 ? scores.shape[rank - 1] : 0;
  if (choices < 2 || scores.element_count() == 0) return unfit("holds no scores of two or more choices", scores);
  std::vector<std::int64_t> wins(static_cast<std::size_t>(choices), 0);
  const std::int64_t rows = scores.element_count() / choices;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto row = components_of(scores, i * choices, choices);
    if (!all_finite(row)) return unfit("holds values that are not finite", scores);
    ++wins[static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin())];
  }
  const auto most = std::max_element(wins.begin(), wins.end());
  return TopShare{static_cast<double>(*most) / static_cast<double>(rows), most - wins.begin(), rows};
}

}  // namespace trainwarden::rules
