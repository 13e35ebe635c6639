#include "ui/views/attention/head_look.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/views/attention/head_rows.h"

namespace trainwarden::views::attention {
namespace {

std::vector<std::int64_t> count_up(std::int64_t count) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Which rows and columns are wanted, and that they fit.
Status choose_rows(const HeadQuestion& question, const LayerValues& values, HeadLook& look) {
  const std::int64_t first = question.first.value_or(std::max(values.query_length, values.key_length));
  look.keys = std::min(first, values.key_length);
  if (question.queries) {
    look.queries = *question.queries;
    for (const std::int64_t query : look.queries)
      TRAINWARDEN_RETURN_IF_ERROR(check_index("query", query, values.query_length));
  } else {
    const std::int64_t rows = std::min(first, values.query_length);
    if (std::max(rows, look.keys) > kMostMatrixTokens) {
      return {
          Code::kInvalidArgument,
          fmt::format("{} tokens are too many for a matrix: expected at most {}; ask for the first ones, for rows, or "
                      "for tiles",
                      std::max(rows, look.keys), kMostMatrixTokens)};
    }
    look.queries = count_up(rows);
  }
  const auto cells = static_cast<std::int64_t>(look.heads.size() * look.queries.size()) * look.keys;
  if (cells > kMostWeightBytes / static_cast<std::int64_t>(sizeof(float))) {
    return {Code::kInvalidArgument,
            fmt::format("{} weights are too many for one answer: expected at most {}; ask for fewer heads",
                        format_bytes(static_cast<std::uint64_t>(cells) * sizeof(float)),
                        format_bytes(static_cast<std::uint64_t>(kMostWeightBytes)))};
  }
  return {};
}

void fill_weights(const LayerValues& values, HeadLook& look) {
  const auto keys = static_cast<std::size_t>(look.keys);
  look.weights.reserve(look.heads.size() * look.queries.size() * keys);
  std::vector<float> row(static_cast<std::size_t>(values.key_length));
  for (const std::int64_t head : look.heads) {
    HeadRows rows(values, look.item, head);
    for (const std::int64_t query : look.queries) {
      rows.read(query, row);
      look.weights.insert(look.weights.end(), row.begin(), row.begin() + static_cast<std::ptrdiff_t>(keys));
    }
  }
}

}  // namespace

Status check_index(std::string_view what, std::int64_t index, std::int64_t count) {
  if (index >= 0 && index < count) return {};
  if (count == 0) return {Code::kOutOfRange, fmt::format("there is no {} {}: there are none", what, index)};
  return {Code::kOutOfRange, fmt::format("there is no {} {}: expected 0 to {}", what, index, count - 1)};
}

void keep_first(TokenLabels& labels, std::int64_t count) {
  if (static_cast<std::int64_t>(labels.texts.size()) > count) labels.texts.resize(static_cast<std::size_t>(count));
}

Result<HeadLook> look_at_heads(const RunAttention& attention, const HeadQuestion& question) {
  HeadLook look;
  look.layer = question.layer;
  look.item = question.item;
  TRAINWARDEN_ASSIGN_OR_RETURN(look.place, attention.place_of(question.step));
  TRAINWARDEN_ASSIGN_OR_RETURN(const LayerValues values,
                               attention.read(question.layer, look.place.step, Need::kWeights));
  TRAINWARDEN_RETURN_IF_ERROR(check_index("batch item", question.item, values.items));
  for (const std::int64_t head : question.heads)
    TRAINWARDEN_RETURN_IF_ERROR(check_index("head", head, values.map.heads));
  look.items = values.items;
  look.query_length = values.query_length;
  look.key_length = values.key_length;
  look.recomputed = values.recomputed();
  look.heads = question.heads.empty() ? count_up(values.map.heads) : question.heads;
  for (const std::int64_t head : look.heads) look.key_heads.push_back(values.key_head_of(head));
  TRAINWARDEN_RETURN_IF_ERROR(choose_rows(question, values, look));
  fill_weights(values, look);
  TRAINWARDEN_ASSIGN_OR_RETURN(look.query_labels, attention.query_labels(look.place.step, look.item, values));
  TRAINWARDEN_ASSIGN_OR_RETURN(look.key_labels, attention.key_labels(look.place.step, look.item, values));
  if (question.first) {
    keep_first(look.query_labels, *question.first);
    keep_first(look.key_labels, *question.first);
  }
  return look;
}

}  // namespace trainwarden::views::attention
