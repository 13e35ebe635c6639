#include "judge/rules/builtin/activations/inactive_units.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/needs.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace {

constexpr std::int64_t kMost = 1'000'000'000;

class InactiveUnits final : public Rule {
 public:
  InactiveUnits(std::vector<WatchedKind> kinds, const ActivityLimits& limits, InactiveWords words)
      : kinds_(std::move(kinds)), limits_(limits), words_(std::move(words)) {}

  Verdict evaluate(const StepWindow& window) override {
    Tally tally;
    for (const WatchedKind& kind : kinds_) {
      JudgingGaps gaps = visit_tensors(kind.selection, window,
                                       [&](const TensorSpot& spot) { return look_at(spot, kind, window, tally); });
      if (tally.gaps.first_unfit.ok()) tally.gaps.first_unfit = std::move(gaps.first_unfit);
      if (tally.gaps.first_damage.ok()) tally.gaps.first_damage = std::move(gaps.first_damage);
    }
    if (!tally.inactive.empty()) return too_many(std::move(tally), window);
    if (tally.fine > 0) return Verdict::ok();
    if (tally.unconfirmed > 0) {
      return Verdict::insufficient_data(
          fmt::format("more than {:g} % {} in a layer at {}; it must be so in {} windows in a row",
                      limits_.layer_percent, words_.units, describe_step(window), limits_.patience));
    }
    if (tally.undecided > 0) {
      return Verdict::insufficient_data(
          fmt::format("statistics do not show it for any {} at {}; values will, when they are captured", words_.tensor,
                      describe_step(window)));
    }
    if (tally.collecting > 0) {
      return Verdict::insufficient_data(fmt::format("{} samples of each unit are needed, {} does not complete them",
                                                    limits_.min_samples, describe_step(window)));
    }
    return nothing_to_judge(tally.gaps, words_.tensor, window);
  }

  // Statistics at every step; the values, which tell the units apart, now and then.
  std::vector<Collection> needs() const override {
    std::vector<Collection> all;
    for (const WatchedKind& kind : kinds_) {
      const KeepForm cheap{.values = false, .statistics = true, .histogram = kind.needs_histogram};
      for (const auto& [form, interval] :
           {std::pair(cheap, std::int64_t{1}), std::pair(KeepForm::whole(), kValueInterval)}) {
        auto some = needs_of(kind.selection, words_.needs, form, interval);
        for (Collection& need : some) {
          if (std::find(all.begin(), all.end(), need) == all.end()) all.push_back(std::move(need));
        }
      }
    }
    return all;
  }

 private:
  using Key = std::pair<std::string, std::string>;  // tensor, worker
  struct Tally {
    std::set<Key> seen;
    std::vector<Evidence> inactive;
    std::map<Key, LayerActivity> activities;  // of those
    std::size_t fine = 0;
    std::size_t unconfirmed = 0;
    std::size_t undecided = 0;
    std::size_t collecting = 0;
    JudgingGaps gaps;
  };

  Status look_at(const TensorSpot& spot, const WatchedKind& kind, const StepWindow& window, Tally& tally) {
    if (lower(spot.tensor).find(kind.name_part) == std::string::npos) {
      return Status(Code::kOutOfRange, fmt::format("\"{}\" does not have {} in its name", spot.tensor, kind.name_part));
    }
    const Key key{spot.tensor, spot.worker};
    if (!tally.seen.insert(key).second) return {};
    TRAINWARDEN_ASSIGN_OR_RETURN(const LayerActivity activity, watches_[key].add(spot, window, kind.range, limits_));
    switch (activity.state) {
      case LayerActivity::State::kCollecting: ++tally.collecting; break;
      case LayerActivity::State::kUndecided: ++tally.undecided; break;
      case LayerActivity::State::kUnconfirmed: ++tally.unconfirmed; break;
      case LayerActivity::State::kFine: ++tally.fine; break;
      case LayerActivity::State::kTooManyInactive:
        tally.activities[{spot.tensor, spot.shown_worker}] = activity;
        tally.inactive.push_back({spot.tensor, spot.shown_worker, words_.quantity, activity.inactive_percent,
                                  limits_.layer_percent, window.global_step()});
    }
    return {};
  }

  Verdict too_many(Tally tally, const StepWindow& window) const {
    std::stable_sort(tally.inactive.begin(), tally.inactive.end(),
                     [](const Evidence& a, const Evidence& b) { return a.value > b.value; });
    const Evidence& worst = tally.inactive.front();
    const LayerActivity& activity = tally.activities.at({worst.tensor, worst.worker});
    std::string text = fmt::format(
        "In {} of {} layers more than {:g} % {} at {}: in \"{}\" {}{:.4g} %, {} in less than {:g} % of {} samples.",
        tally.inactive.size(), tally.inactive.size() + tally.fine + tally.unconfirmed + tally.undecided,
        limits_.layer_percent, words_.units, describe_step(window), worst.tensor, activity.at_least ? "at least " : "",
        worst.value, words_.unit_is, limits_.inactivity_percent, activity.samples);
    return fired(std::move(text), words_.advice, std::move(tally.inactive));
  }

  const std::vector<WatchedKind> kinds_;
  const ActivityLimits limits_;
  const InactiveWords words_;
  std::map<Key, LayerWatch> watches_;
};

}  // namespace

std::unique_ptr<Rule> inactive_units_rule(std::vector<WatchedKind> kinds, const ActivityLimits& limits,
                                          InactiveWords words) {
  return std::make_unique<InactiveUnits>(std::move(kinds), limits, std::move(words));
}

std::vector<RuleParameter> with_activity_limits(std::vector<RuleParameter> own) {
  const std::vector<RuleParameter> limits = {
      {"threshold_inactivity", "1.0", "a unit counts when it is active in less than this share of its samples, in %"},
      {"threshold_layer", "50.0", "the share of such units in a layer above which it fires, in %"},
      {"unit", "auto",
       "what a unit is: element (of all axes but the first, the batch), channel (axis 1), or auto: channel where there "
       "are four dimensions or more, else element"},
      {"num_steps", "1", "captured steps over which samples are gathered, at least"},
      {"min_samples", "64", "samples of each unit that are gathered before a layer is judged, at least"},
      {"patience", "2", "times in a row that a layer must be found so before it fires"}};
  own.insert(own.end(), limits.begin(), limits.end());
  return own;
}

ActivityLimits read_activity_limits(ParameterReader& read) {
  ActivityLimits limits;
  limits.inactivity_percent = read.number("threshold_inactivity", 0, 100);
  limits.layer_percent = read.number("threshold_layer", 0, 100);
  limits.unit = static_cast<UnitKind>(read.choice("unit", {"auto", "element", "channel"}));
  limits.num_steps = read.integer("num_steps", 1, kMost);
  limits.min_samples = read.integer("min_samples", 1, kMost);
  limits.patience = read.integer("patience", 1, kMost);
  return limits;
}

}  // namespace trainwarden::rules
