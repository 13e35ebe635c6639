#include "ui/cli/reports/attention_view.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/cli/terminal/picture.h"
#include "ui/cli/terminal/raster.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

using namespace views::attention;

constexpr std::size_t kLabelWidth = 16;
constexpr int kBarWidth = 30;

// What fits beside a picture, without anything that could drive the terminal.
std::string short_label(const std::string& token) {
  const std::string label = printable(token);
  if (text_width(label) <= kLabelWidth) return label;
  std::string cut;
  for (const char c : label) {
    const bool starts = (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    if (starts && text_width(cut) == kLabelWidth - 2) break;
    cut += c;
  }
  return cut + "..";
}

std::string token_at(const TokenLabels& labels, std::int64_t index) {
  const auto at = static_cast<std::size_t>(index);
  return at < labels.texts.size() ? labels.texts[at] : std::string();
}

std::vector<std::string> row_labels(const HeadLook& look) {
  std::vector<std::string> labels;
  for (const std::int64_t query : look.queries) {
    const std::string token = short_label(token_at(look.query_labels, query));
    labels.push_back(token.empty() ? std::to_string(query) : fmt::format("{} {}", token, query));
  }
  return labels;
}

bool fits_with_labels(const std::vector<std::string>& labels, std::int64_t keys, const Terminal& terminal) {
  std::size_t width = 0;
  for (const std::string& label : labels) width = std::max(width, text_width(label));
  return static_cast<std::int64_t>(width) + 1 + 2 * keys <= terminal.columns;
}

std::string metric_text(float metric) {
  return std::isnan(metric) ? "-" : fmt::format("{:.4g}", metric);
}

}  // namespace

std::string describe_head(const HeadLook& look, const LayerMap& layer, std::int64_t wanted_step) {
  std::string text = fmt::format("layer {} ({})  head {}", look.layer, printable(layer.name), look.heads.front());
  if (layer.key_value_heads != 0 && layer.key_value_heads != layer.heads)
    text += fmt::format(" (keys of head {})", look.key_heads.front());
  text += fmt::format("  step {} ({} {})  item {} of {}  {} tokens", look.place.step, name(look.place.mode),
                      look.place.mode_step, look.item, look.items, look.query_length);
  if (look.key_length != look.query_length) text += fmt::format(" at {} keys", look.key_length);
  text += look.recomputed ? "  made of queries and keys\n" : "  as captured\n";
  if (wanted_step >= 0 && wanted_step != look.place.step) {
    text += fmt::format("Step {} has no attention; this is the newest before it.\n", wanted_step);
  }
  const std::string& note = look.query_labels.note.empty() ? look.key_labels.note : look.query_labels.note;
  if (!note.empty()) text += fmt::format("Tokens: {}.\n", note);
  return text;
}

std::string render_head(const HeadLook& look, const Terminal& terminal) {
  const auto rows = static_cast<std::int64_t>(look.queries.size());
  const std::vector<double> weights(look.weights.begin(), look.weights.end());
  const std::vector<std::string> labels = row_labels(look);
  const PictureSize size = picture_size(terminal);
  if (fits_with_labels(labels, look.keys, terminal)) {
    return render_labelled(lay_out(weights, {rows, look.keys}, static_cast<int>(rows), static_cast<int>(look.keys)),
                           labels, terminal);
  }
  return render_picture(lay_out(weights, {rows, look.keys}, size.rows, size.columns), terminal);
}

Result<QueryChoice> choose_query(const std::string& text, const TokenLabels& labels, std::int64_t queries) {
  if (const auto index = parse_int(text)) {
    TRAINWARDEN_RETURN_IF_ERROR(check_index("query", *index, queries));
    return QueryChoice{*index, {}};
  }
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < labels.texts.size(); ++i) {
    if (labels.texts[i] == text) places.push_back(static_cast<std::int64_t>(i));
  }
  if (places.empty() && labels.texts.empty()) {
    return Status(Code::kNotFound,
                  fmt::format("no token can be called \"{}\": {}; give its number", printable(text), labels.note));
  }
  if (places.empty()) {
    return Status(Code::kNotFound,
                  fmt::format("there is no token \"{}\"{}", printable(text), did_you_mean(text, labels.texts)));
  }
  QueryChoice choice{places.front(), {}};
  if (places.size() > 1) {
    choice.note = fmt::format("\"{}\" is there {} times, at {}; this is the first.", printable(text), places.size(),
                              format_steps(places));
  }
  return choice;
}

std::vector<std::int64_t> heaviest_keys(const HeadLook& look, std::int64_t most) {
  std::vector<std::int64_t> keys(static_cast<std::size_t>(look.keys));
  std::iota(keys.begin(), keys.end(), 0);
  std::stable_sort(keys.begin(), keys.end(), [&](std::int64_t a, std::int64_t b) {
    const float first = look.weights[static_cast<std::size_t>(a)];
    const float second = look.weights[static_cast<std::size_t>(b)];
    return std::isnan(first) != std::isnan(second) ? std::isnan(first) : first > second;
  });
  keys.resize(std::min(keys.size(), static_cast<std::size_t>(most)));
  return keys;
}

std::string render_query(const HeadLook& look, std::int64_t most, const Terminal& terminal) {
  const std::int64_t query = look.queries.front();
  const std::string token = printable(token_at(look.query_labels, query));
  std::string text = token.empty() ? fmt::format("Query {} looks at\n", query)
                                   : fmt::format("Query {} \"{}\" looks at\n", query, token);
  Table table({{"key", Align::kRight}, {"token"}, {"weight", Align::kRight}, {""}});
  double shown = 0;
  const std::vector<std::int64_t> keys = heaviest_keys(look, most);
  for (const std::int64_t key : keys) {
    const auto weight = static_cast<double>(look.weights[static_cast<std::size_t>(key)]);
    shown += weight;
    table.add_row({std::to_string(key), short_label(token_at(look.key_labels, key)), fmt::format("{:.4f}", weight),
                   render_bar(weight, kBarWidth, terminal)});
  }
  text += table.to_string();
  if (static_cast<std::int64_t>(keys.size()) < look.keys) {
    text += fmt::format("{} of {} keys, with {:.1f} % of the weight.\n", keys.size(), look.keys, 100 * shown);
  }
  return text;
}

std::vector<SurveyedHead> list_heads(const Survey& survey, const AttentionMap& map, std::optional<std::int64_t> layer,
                                     std::size_t order) {
  std::vector<SurveyedHead> heads;
  for (std::int64_t of = 0; of < survey.layers; ++of) {
    if (layer && *layer != of) continue;
    for (std::int64_t head = 0; head < map.layers[static_cast<std::size_t>(of)].heads; ++head) {
      heads.push_back({of, head, survey.metrics[static_cast<std::size_t>(of * survey.heads + head)]});
    }
  }
  std::stable_sort(heads.begin(), heads.end(), [order](const SurveyedHead& a, const SurveyedHead& b) {
    const bool has_none = std::isnan(a.metrics[order]);
    return has_none != std::isnan(b.metrics[order]) ? !has_none : a.metrics[order] < b.metrics[order];
  });
  return heads;
}

std::string render_heads(const std::vector<SurveyedHead>& heads) {
  const bool any_nan =
      std::any_of(heads.begin(), heads.end(), [](const SurveyedHead& head) { return head.metrics.back() > 0; });
  const std::size_t shown = any_nan ? kMetricCount : kMetricCount - 1;
  std::vector<Column> columns = {{"layer", Align::kRight}, {"head", Align::kRight}};
  for (std::size_t i = 0; i < shown; ++i) columns.push_back({std::string(kMetricNames[i]), Align::kRight});
  Table table(columns);
  for (const SurveyedHead& head : heads) {
    std::vector<std::string> cells = {std::to_string(head.layer), std::to_string(head.head)};
    for (std::size_t i = 0; i < shown; ++i) cells.push_back(metric_text(head.metrics[i]));
    table.add_row(std::move(cells));
  }
  return table.to_string();
}

}  // namespace trainwarden::cli
