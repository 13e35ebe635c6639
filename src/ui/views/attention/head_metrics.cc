#include "ui/views/attention/head_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace trainwarden::views::attention {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double sum_of(std::span<const float> row) {
  double sum = 0;
  for (const float weight : row) sum += static_cast<double>(weight);
  return sum;
}

// -p ln p, with its limit 0 at 0. The logarithm is a float32: the error of a term is below one part in a million.
double entropy_term(float p) {
  return p > 0 ? -static_cast<double>(p * std::log(p)) : 0;
}

double entropy_of(std::span<const float> row, float factor) {
  double entropy = 0;
  for (const float weight : row) entropy += entropy_term(weight * factor);
  return entropy;
}

// H((p + q) / 2) - (H(p) + H(q)) / 2. Source: Lin 1991, "Divergence measures based on the Shannon entropy".
double jensen_shannon(std::span<const float> p, float p_factor, std::span<const float> q, float q_factor,
                      double entropy_of_p) {
  double of_middle = 0;
  double of_q = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const float other = q[i] * q_factor;
    of_middle += entropy_term((p[i] * p_factor + other) / 2);
    of_q += entropy_term(other);
  }
  return std::max(0.0, of_middle - (entropy_of_p + of_q) / 2);
}

bool can_be_measured(double sum) {
  return std::isfinite(sum) && sum > 0;
}

}  // namespace

HeadMetrics no_metrics() {
  HeadMetrics metrics{};
  metrics.fill(std::numeric_limits<float>::quiet_NaN());
  return metrics;
}

RowPlaces places_of(std::int64_t query_length, std::int64_t key_length, bool masked, const TokenLabels& query_labels,
                    const TokenLabels& key_labels) {
  RowPlaces places;
  places.key_length = key_length;
  places.same_tokens = query_length == key_length || (masked && query_length < key_length);
  places.first_query = masked ? std::max<std::int64_t>(0, key_length - query_length) : 0;
  places.has_labels = !key_labels.texts.empty();
  for (std::size_t key = 0; key < key_labels.texts.size(); ++key) {
    if (is_separator(key_labels.texts[key])) places.separators.push_back(static_cast<std::int64_t>(key));
  }
  for (const std::string& token : query_labels.texts) places.is_padding.push_back(is_padding(token) ? 1 : 0);
  return places;
}

void HeadMeter::add(std::int64_t query, std::span<const float> row, std::span<const float> first) {
  const auto at = static_cast<std::size_t>(query);
  if (at < places_->is_padding.size() && places_->is_padding[at] != 0) return;
  const double sum = sum_of(row);
  if (!std::isfinite(sum)) ++nan_rows_;
  if (!can_be_measured(sum)) return;
  ++rows_;
  const auto factor = static_cast<float>(1 / sum);
  const double entropy = entropy_of(row, factor);
  entropy_ += entropy;
  add_place(query, row, sum);
  if (first.empty()) return;
  const double first_sum = sum_of(first);
  if (!can_be_measured(first_sum)) return;
  ++drift_rows_;
  drift_ += jensen_shannon(row, factor, first, static_cast<float>(1 / first_sum), entropy);
}

void HeadMeter::add_place(std::int64_t query, std::span<const float> row, double sum) {
  const auto weight_of = [&](std::int64_t key) {
    return static_cast<double>(row[static_cast<std::size_t>(key)]) / sum;
  };
  sink_ += weight_of(0);
  for (const std::int64_t key : places_->separators) separators_ += weight_of(key);
  if (!places_->same_tokens) return;
  const std::int64_t position = places_->first_query + query;
  double distance = 0;
  for (std::int64_t key = 0; key < places_->key_length; ++key) {
    distance += static_cast<double>(row[static_cast<std::size_t>(key)]) * static_cast<double>(std::abs(position - key));
  }
  distance_ += distance / sum;
  diagonal_ += weight_of(position);
  if (position == 0) return;
  ++previous_rows_;
  previous_ += weight_of(position - 1);
}

HeadMetrics HeadMeter::metrics() const {
  const auto mean = [](double sum, std::int64_t rows, bool is_known = true) {
    return static_cast<float>(rows > 0 && is_known ? sum / static_cast<double>(rows) : kNan);
  };
  return {mean(entropy_, rows_),
          mean(distance_, rows_, places_->same_tokens),
          mean(sink_, rows_),
          mean(separators_, rows_, places_->has_labels),
          mean(diagonal_, rows_, places_->same_tokens),
          mean(previous_, previous_rows_, places_->same_tokens),
          mean(drift_, drift_rows_),
          static_cast<float>(nan_rows_)};
}

}  // namespace trainwarden::views::attention
