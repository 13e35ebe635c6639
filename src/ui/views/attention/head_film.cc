#include "ui/views/attention/head_film.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/views/attention/head_look.h"
#include "ui/views/thinned_steps.h"

namespace trainwarden::views::attention {
namespace {

// As the page draws a head (web/src/views/attention/head_export.ts).
constexpr int kWidth = 720;
constexpr int kColumn = 150;
constexpr int kRow = 20;
constexpr int kTop = 2 * kRow;
constexpr std::size_t kLevels = 16;  // of weights that are drawn alike, so that a frame has few elements
constexpr double kWidestLine = 4;
constexpr double kFilmSeconds = 12;  // as long as frames are not too fast or too slow for that
constexpr double kShortestFrame = 0.1;
constexpr double kLongestFrame = 0.6;

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      default: safe += c;
    }
  }
  return safe;
}

int y_of(std::int64_t token) {
  return kTop + static_cast<int>(token) * kRow + kRow / 2;
}

int tokens_bottom(const HeadLook& look) {
  return kTop +
         static_cast<int>(std::max<std::int64_t>(static_cast<std::int64_t>(look.queries.size()), look.keys)) * kRow;
}

std::string label_at(const TokenLabels& labels, std::int64_t token) {
  const auto at = static_cast<std::size_t>(token);
  return at < labels.texts.size() ? escaped(labels.texts[at]) : std::to_string(token);
}

std::string labels_of(const HeadLook& look) {
  std::string svg;
  auto out = std::back_inserter(svg);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(look.queries.size()); ++i) {
    fmt::format_to(out, R"(<text x="{}" y="{}" text-anchor="end">{}</text>)", kColumn - 8, y_of(i) + 4,
                   label_at(look.query_labels, i));
  }
  for (std::int64_t i = 0; i < look.keys; ++i) {
    fmt::format_to(out, R"(<text x="{}" y="{}">{}</text>)", kWidth - kColumn + 8, y_of(i) + 4,
                   label_at(look.key_labels, i));
  }
  return svg;
}

// From 1 to kLevels; 0: too light to be seen, or no number.
std::size_t level_of(float weight) {
  if (!(weight > 0)) return 0;
  const double level = std::round(static_cast<double>(weight) * static_cast<double>(kLevels));
  return static_cast<std::size_t>(std::min(level, static_cast<double>(kLevels)));
}

// A path for each level, light ones first.
std::string lines_of(const HeadLook& look) {
  std::array<std::string, kLevels + 1> paths;
  for (std::size_t i = 0; i < look.weights.size(); ++i) {
    const std::size_t level = level_of(look.weights[i]);
    if (level == 0) continue;
    const auto query = static_cast<std::int64_t>(i) / look.keys, key = static_cast<std::int64_t>(i) % look.keys;
    fmt::format_to(std::back_inserter(paths[level]), "M{} {}L{} {}", kColumn, y_of(query), kWidth - kColumn, y_of(key));
  }
  std::string svg;
  for (std::size_t level = 1; level <= kLevels; ++level) {
    if (paths[level].empty()) continue;
    const double part = static_cast<double>(level) / static_cast<double>(kLevels);
    fmt::format_to(std::back_inserter(svg), R"(<path d="{}" stroke-width="{:.2g}" stroke-opacity="{:.2g}"/>)",
                   paths[level], kWidestLine * part, std::sqrt(part));
  }
  return svg;
}

// Each frame is visible for its part of the film: the same animation for all, begun so much earlier.
std::string style_of(std::size_t frames, double seconds) {
  return fmt::format(
      "<style>.f{{visibility:hidden;animation:film {:.3g}s step-end infinite}}.f:last-of-type{{visibility:visible}}"
      "@keyframes film{{0%{{visibility:visible}}{:.6g}%{{visibility:hidden}}100%{{visibility:hidden}}}}"
      "@media(prefers-reduced-motion:reduce){{.f{{animation:none}}}}</style>",
      seconds * static_cast<double>(frames), 100.0 / static_cast<double>(frames));
}

std::string frame_of(const HeadLook& look, std::size_t number, std::size_t frames, double seconds, bool has_labels) {
  const int bottom = tokens_bottom(look) + kRow / 2;
  return fmt::format(
      R"(<g class="f" style="animation-delay:-{:.4g}s"><text x="{}" y="{}" text-anchor="middle">step {} ({} {})</text>{})"
      R"(<g stroke="#0072b2" fill="none">{}</g><rect x="{}" y="{}" width="{:.1f}" height="4" fill="#0072b2"/></g>)",
      seconds * static_cast<double>(frames - number), kWidth / 2, kTop - 8, look.place.step, name(look.place.mode),
      look.place.mode_step, has_labels ? labels_of(look) : "", lines_of(look), kColumn, bottom,
      static_cast<double>(kWidth - 2 * kColumn) * static_cast<double>(number + 1) / static_cast<double>(frames));
}

std::string draw(const std::vector<HeadLook>& looks, const std::string& title) {
  const std::size_t frames = looks.size();
  const double seconds = std::clamp(kFilmSeconds / static_cast<double>(frames), kShortestFrame, kLongestFrame);
  const std::string labels = labels_of(looks.front());
  const bool same_labels =
      std::all_of(looks.begin(), looks.end(), [&](const HeadLook& look) { return labels_of(look) == labels; });
  int height = 0;
  for (const HeadLook& look : looks) height = std::max(height, tokens_bottom(look) + kRow);
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img" )"
      R"(font-family="system-ui, sans-serif" font-size="12" fill="#16202a"><title>{2}</title>{3})"
      R"(<rect width="100%" height="100%" fill="#ffffff"/><text x="8" y="16">{2}</text>{4})",
      kWidth, height, escaped(title), style_of(frames, seconds), same_labels ? labels : "");
  for (std::size_t i = 0; i < frames; ++i) svg += frame_of(looks[i], i, frames, seconds, !same_labels);
  return svg + "</svg>\n";
}

// Those at which the layer is there; why there is none.
Result<std::vector<HeadLook>> looks_over_steps(const RunAttention& attention, const FilmQuestion& question,
                                               std::span<const std::int64_t> steps) {
  std::vector<HeadLook> looks;
  Status missing(Code::kOutOfRange, "no step has attention");
  for (const std::int64_t step : steps) {
    auto look = look_at_heads(attention, {.layer = question.layer,
                                          .heads = {question.head},
                                          .step = step,
                                          .item = question.item,
                                          .first = question.first});
    if (look.ok()) {
      looks.push_back(*std::move(look));
    } else if (look.status().code() == Code::kOutOfRange) {
      missing = look.status();
    } else {
      return look.status();
    }
  }
  if (looks.empty()) return missing;
  return looks;
}

}  // namespace

Result<HeadFilm> film_of_head(const RunAttention& attention, const FilmQuestion& question) {
  if (question.first > kMostFilmTokens) {
    return Status(Code::kInvalidArgument, fmt::format("{} tokens are too many for a film: expected at most {}; ask for "
                                                      "the first ones",
                                                      question.first, kMostFilmTokens));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const LayerMap layer, attention.layer(question.layer));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto steps, attention.steps(question.mode));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto looks,
                               looks_over_steps(attention, question, thinned_steps(steps, kMostFilmSteps)));
  HeadFilm film;
  for (const HeadLook& look : looks) film.steps.push_back(look.place.step);
  film.svg = draw(looks, fmt::format("{}, layer {} ({}), head {}", attention.run().name(), question.layer, layer.name,
                                     question.head));
  return film;
}

}  // namespace trainwarden::views::attention
