#include "ui/views/attention/head_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/tensor/dot_products.h"
#include "ui/views/attention/view_floats.h"

namespace trainwarden::views::attention {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

}  // namespace

KeyRange visible_keys(const LayerMap& map, std::int64_t query, std::int64_t query_length, std::int64_t key_length) {
  if (map.mask == MaskKind::kNone) return {0, key_length};
  const std::int64_t position = query + std::max<std::int64_t>(0, key_length - query_length);
  const std::int64_t end = std::min(key_length, position + 1);
  if (map.mask == MaskKind::kCausal) return {0, end};
  return {std::clamp<std::int64_t>(position + 1 - map.window, 0, end), end};
}

void read_vector(const SharedTensorValue& value, const LayerMap& map, std::int64_t heads, std::int64_t item,
                 std::int64_t head, std::int64_t token, std::span<float> vector) {
  const Shape& shape = value.view.shape;
  const std::int64_t size = map.head_size;
  const std::int64_t row =
      map.layout == Layout::kBHTD ? (item * heads + head) * shape[2] + token : (item * shape[1] + token) * heads + head;
  read_floats(value.view, row * size, vector);
}

std::vector<float> read_head_keys(const LayerValues& values, std::int64_t item, std::int64_t head) {
  const LayerMap& map = values.map;
  const auto size = static_cast<std::size_t>(map.head_size);
  std::vector<float> keys(static_cast<std::size_t>(values.key_length) * size);
  for (std::int64_t token = 0; token < values.key_length; ++token) {
    read_vector(*values.key, map, map.key_value_heads, item, values.key_head_of(head), token,
                std::span(keys).subspan(static_cast<std::size_t>(token) * size, size));
  }
  return keys;
}

void softmax(std::span<float> scores) {
  float largest = kHidden;
  for (const float score : scores) largest = std::max(largest, score);
  const bool any_nan = std::any_of(scores.begin(), scores.end(), [](float score) { return std::isnan(score); });
  if (any_nan) return std::fill(scores.begin(), scores.end(), std::numeric_limits<float>::quiet_NaN());
  if (largest == kHidden) return std::fill(scores.begin(), scores.end(), 0.0F);  // all hidden
  double sum = 0;
  for (float& score : scores) {
    score = std::exp(score - largest);
    sum += static_cast<double>(score);
  }
  const auto factor = static_cast<float>(1 / sum);
  for (float& score : scores) score *= factor;
}

HeadRows::HeadRows(const LayerValues& values, std::int64_t item, std::int64_t head)
    : values_(&values), item_(item), head_(head) {
  if (!values.recomputed()) return;
  keys_ = read_head_keys(values, item, head);
  query_.resize(static_cast<std::size_t>(values.map.head_size));
}

void HeadRows::read(std::int64_t query, std::span<float> weights) {
  if (values_->recomputed()) return recompute(query, weights);
  const LayerValues& values = *values_;
  const std::int64_t row = (item_ * values.map.heads + head_) * values.query_length + query;
  read_floats(values.attention->view, row * values.key_length, weights);
}

void HeadRows::recompute(std::int64_t query, std::span<float> weights) {
  const LayerMap& map = values_->map;
  read_vector(*values_->query, map, map.heads, item_, head_, query, query_);
  const KeyRange visible = visible_keys(map, query, query_length(), key_length());
  std::fill(weights.begin(), weights.end(), 0.0F);
  const auto scores =
      weights.subspan(static_cast<std::size_t>(visible.begin), static_cast<std::size_t>(visible.end - visible.begin));
  dot_products(query_, std::span(keys_).subspan(static_cast<std::size_t>(visible.begin) * query_.size()), scores);
  const auto scale = static_cast<float>(map.scale);
  for (float& score : scores) score *= scale;
  softmax(scores);
}

}  // namespace trainwarden::views::attention
