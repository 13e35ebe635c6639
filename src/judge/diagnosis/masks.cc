// Masks: whom an attention leaves out. One that is turned around shows what it should hide.
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

constexpr double kNearlyAll = 0.95, kHardlyAny = 0.05;

// Padding is alike in all samples, and what is not padding differs: which of the two does the mask hide?
void look_for_reversed_key_mask(const Case& seen, Findings& findings) {
  const double share = median_of(seen.history, "mask_keys", 0), hidden = median_of(seen.history, "mask_keys", 1),
               shown = median_of(seen.history, "mask_keys", 2);
  if (!(share > 0.02) || !(share < 0.98) || !(shown < kHardlyAny * hidden)) return;
  findings.push_back(
      {"attention_mask",
       0.9,
       "The mask of an attention's keys is turned around: it hides what differs between samples, and shows padding",
       {fmt::format("{:.0f} % of the places are hidden; samples vary by {} there, and by {} at those that are shown",
                    100 * share, number(hidden), number(shown)),
        "in key_padding_mask, True hides a place"},
       {},
       0,
       seen.place("backward")});
}

struct Filled {
  bool is_of_keys = false;
  double first = 0, second = 0, third = 0;
};

std::optional<Filled> filled_by(const GraphNode& node) {
  const auto at = [&](std::string_view key) {
    const auto found = node.settings.find(key);
    return found == node.settings.end() ? std::nan("") : found->second;
  };
  if (node.operation != "MaskedFill" || !std::isfinite(at("filled/0"))) return std::nullopt;
  return Filled{at("filled/0") > 0.5, at("filled/1"), at("filled/2"), at("filled/3")};
}

std::optional<CauseFinding> reversed(const Filled& filled) {
  const auto percent = [](double share) { return fmt::format("{:.0f} %", 100 * share); };
  if (filled.is_of_keys) {
    const double padding = filled.first, others = filled.second;
    if (!(padding < kHardlyAny) || !(others > kNearlyAll)) return std::nullopt;
    return CauseFinding{"attention_mask",
                        0.92,
                        "The mask of an attention is turned around: it hides the tokens, and shows the padding",
                        {fmt::format("{} of the tokens are hidden, and {} of the padding that rows end with",
                                     percent(others), percent(padding))}};
  }
  const double above = filled.first, own = filled.second, below = filled.third;
  if (above < kHardlyAny && below > kNearlyAll) {
    return CauseFinding{"attention_mask",
                        0.9,
                        "The causal mask of an attention is turned around: each place sees what follows, not what was",
                        {fmt::format("{} of the pairs are hidden where a key comes before its query, {} where it comes "
                                     "after",
                                     percent(below), percent(above))}};
  }
  const double others = (above + below) / 2;
  if (own > kNearlyAll && others > 0.02 && others < 0.6) {
    return CauseFinding{"attention_mask",
                        0.65,
                        "The mask of an attention may be turned around: it hides each place from itself, and most "
                        "others it shows",
                        {fmt::format("hidden are {} of the places from themselves, and {} of all other pairs",
                                     percent(own), percent(others))}};
  }
  return std::nullopt;
}

void look_for_reversed_fill(const Case& seen, Findings& findings) {
  if (seen.graph() == nullptr) return;
  for (const GraphNode& node : seen.graph()->nodes) {
    const auto filled = filled_by(node);
    auto finding = filled ? reversed(*filled) : std::nullopt;
    if (!finding) continue;
    finding->place = seen.place("backward");
    findings.push_back(*std::move(finding));
    return;
  }
}

}  // namespace

void look_at_masks(const Case& seen, Findings& findings) {
  look_for_reversed_key_mask(seen, findings);
  look_for_reversed_fill(seen, findings);
}

}  // namespace trainwarden::diagnosis
