// Attention as text for people: one head as a picture, what one query looks at, all heads as a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ui/cli/terminal/terminal.h"
#include "ui/views/attention/head_look.h"
#include "ui/views/attention/survey.h"

namespace trainwarden::cli {

// One head of the look: weights of `look.heads[0]`.
std::string describe_head(const views::attention::HeadLook& look, const views::attention::LayerMap& layer,
                          std::int64_t wanted_step);
std::string render_head(const views::attention::HeadLook& look, const Terminal& terminal);

// "3", or the token's text. kNotFound when the query has neither; `note` says when there were several.
struct QueryChoice {
  std::int64_t query = 0;
  std::string note;
};
Result<QueryChoice> choose_query(const std::string& text, const views::attention::TokenLabels& labels,
                                 std::int64_t queries);

// The keys that row 0 of the look gives most weight to, heaviest first; NaN comes first of all.
std::vector<std::int64_t> heaviest_keys(const views::attention::HeadLook& look, std::int64_t most);
std::string render_query(const views::attention::HeadLook& look, std::int64_t most, const Terminal& terminal);

// A head of a survey.
struct SurveyedHead {
  std::int64_t layer = 0;
  std::int64_t head = 0;
  views::attention::HeadMetrics metrics;
};
// Those of one layer or of all, by the metric with the index `order`, lowest first, those that have none last. Heads
// that are not there are left out.
std::vector<SurveyedHead> list_heads(const views::attention::Survey& survey, const views::attention::AttentionMap& map,
                                     std::optional<std::int64_t> layer, std::size_t order);
std::string render_heads(const std::vector<SurveyedHead>& heads);

}  // namespace trainwarden::cli
