#include "ui/views/attention/rollout.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ui/views/attention/head_rows.h"

namespace trainwarden::views::attention {
namespace {

using Matrix = std::vector<float>;  // [tokens, tokens]

std::span<float> row_in(Matrix& matrix, std::int64_t tokens, std::int64_t row) {
  return std::span(matrix).subspan(static_cast<std::size_t>(row * tokens), static_cast<std::size_t>(tokens));
}

Status check_layer(const LayerValues& values, std::int64_t layer, std::int64_t tokens) {
  if (values.query_length != values.key_length) {
    return {Code::kFailedPrecondition,
            fmt::format("layer {} has {} queries and {} keys: expected as many, a rollout is of self-attention", layer,
                        values.query_length, values.key_length)};
  }
  if (values.query_length > kMostRolloutTokens) {
    return {Code::kInvalidArgument, fmt::format("{} tokens are too many for a rollout: expected at most {}",
                                                values.query_length, kMostRolloutTokens)};
  }
  if (tokens != 0 && values.query_length != tokens) {
    return {Code::kFailedPrecondition, fmt::format("layer {} has {} tokens: expected {} as in the layers below it",
                                                   layer, values.query_length, tokens)};
  }
  return {};
}

// M of a layer.
Matrix mixed_layer(const LayerValues& values, std::int64_t item) {
  const std::int64_t tokens = values.query_length;
  Matrix mixed(static_cast<std::size_t>(tokens * tokens));
  std::vector<float> row(static_cast<std::size_t>(tokens));
  for (std::int64_t head = 0; head < values.map.heads; ++head) {
    HeadRows rows(values, item, head);
    for (std::int64_t query = 0; query < tokens; ++query) {
      rows.read(query, row);
      const auto into = row_in(mixed, tokens, query);
      std::transform(row.begin(), row.end(), into.begin(), into.begin(), std::plus<>());
    }
  }
  for (std::int64_t query = 0; query < tokens; ++query) {
    const auto into = row_in(mixed, tokens, query);
    const double sum = std::accumulate(into.begin(), into.end(), 0.0);
    const auto scale = static_cast<float>(sum == 0 ? 0 : 0.5 / sum);
    for (float& weight : into) weight *= scale;
    into[static_cast<std::size_t>(query)] += sum == 0 ? 1.0F : 0.5F;  // who looks at nobody keeps what it has
  }
  return mixed;
}

// left · right, row by row so that the inner loop runs over memory in order.
Matrix product_of(Matrix left, Matrix right, std::int64_t tokens) {
  Matrix product(left.size());
  for (std::int64_t row = 0; row < tokens; ++row) {
    const auto into = row_in(product, tokens, row);
    const auto factors = row_in(left, tokens, row);
    for (std::int64_t inner = 0; inner < tokens; ++inner) {
      const float factor = factors[static_cast<std::size_t>(inner)];
      const auto from = row_in(right, tokens, inner);
      for (std::size_t column = 0; column < into.size(); ++column) into[column] += factor * from[column];
    }
  }
  return product;
}

// What the answer says of the last layer, and its labels.
Status describe(const RunAttention& attention, const RolloutQuestion& question, const LayerValues& values,
                HeadLook& look) {
  look.items = values.items;
  look.query_length = values.query_length;
  look.key_length = values.key_length;
  TRAINWARDEN_ASSIGN_OR_RETURN(look.query_labels, attention.query_labels(look.place.step, look.item, values));
  TRAINWARDEN_ASSIGN_OR_RETURN(look.key_labels, attention.key_labels(look.place.step, look.item, values));
  if (question.first) {
    keep_first(look.query_labels, *question.first);
    keep_first(look.key_labels, *question.first);
  }
  return {};
}

// The first rows and columns of it.
void take_first(Matrix rollout, std::int64_t tokens, std::int64_t first, HeadLook& look) {
  look.keys = std::min(first, tokens);
  look.queries.resize(static_cast<std::size_t>(look.keys));
  std::iota(look.queries.begin(), look.queries.end(), 0);
  for (const std::int64_t query : look.queries) {
    const auto row = row_in(rollout, tokens, query).first(static_cast<std::size_t>(look.keys));
    look.weights.insert(look.weights.end(), row.begin(), row.end());
  }
}

}  // namespace

Result<HeadLook> look_at_rollout(const RunAttention& attention, const RolloutQuestion& question) {
  HeadLook look;
  look.layer = question.layer;
  look.item = question.item;
  TRAINWARDEN_ASSIGN_OR_RETURN(look.place, attention.place_of(question.step));
  Matrix rollout;
  std::int64_t tokens = 0;
  for (std::int64_t layer = 0; layer <= question.layer; ++layer) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const LayerValues values, attention.read(layer, look.place.step, Need::kWeights));
    TRAINWARDEN_RETURN_IF_ERROR(check_index("batch item", question.item, values.items));
    TRAINWARDEN_RETURN_IF_ERROR(check_layer(values, layer, tokens));
    tokens = values.query_length;
    look.recomputed = look.recomputed || values.recomputed();
    Matrix mixed = mixed_layer(values, question.item);
    rollout = layer == 0 ? std::move(mixed) : product_of(std::move(mixed), std::move(rollout), tokens);
    if (layer == question.layer) TRAINWARDEN_RETURN_IF_ERROR(describe(attention, question, values, look));
  }
  take_first(std::move(rollout), tokens, question.first.value_or(tokens), look);
  return look;
}

}  // namespace trainwarden::views::attention
