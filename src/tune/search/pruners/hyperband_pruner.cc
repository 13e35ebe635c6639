#include "tune/search/pruners/hyperband_pruner.h"

#include <fmt/format.h>

#include "tune/search/pruners/curve.h"
#include "tune/search/pruners/fidelity.h"
#include "tune/search/pruners/promotion.h"
#include "tune/search/pruners/rungs.h"
#include "tune/search/random.h"

namespace trainwarden::tune {
namespace {

constexpr std::uint64_t kBracketSeed = 0x6272'6163'6b65'7400;  // so that no sampler draws the same numbers

class HyperbandPruner final : public TrialPruner {
 public:
  explicit HyperbandPruner(const HyperbandOptions& options) : options_(options), trusted_(options.check_fidelity) {}
  std::string_view name() const override { return "hyperband"; }

  PruneAnswer judge(const History& history, std::size_t trial) override {
    const auto metric = first_objective(history);
    if (!metric) return {};
    const Brackets brackets = brackets_of(history, *metric);
    if (brackets.shares.empty()) return judge_newest(history, trial, *metric);
    const std::size_t own = brackets.of(history, trial);
    const auto judge = options_.pause ? judge_arrival : judge_at_rung;
    PruneAnswer answer = judge(history, trial, *metric, brackets.rungs_of(own), trusted_.of(history),
                               [&](std::size_t i) { return brackets.of(history, i) == own; });
    if (answer.prune || answer.pause) answer.why += fmt::format(" (bracket {} of {})", own + 1, brackets.shares.size());
    return answer;
  }

  bool pauses() const override { return options_.pause; }
  std::optional<Promotion> next_promotion(const History& history, bool is_last) override {
    const auto metric = first_objective(history);
    if (!options_.pause || !metric) return {};
    const Brackets brackets = brackets_of(history, *metric);
    std::vector<RungGroup> groups;
    for (std::size_t each = 0; each < brackets.shares.size(); ++each) {
      groups.push_back({brackets.rungs_of(each), [&, each](std::size_t i) { return brackets.of(history, i) == each; }});
    }
    return best_promotion(history, *metric, groups, is_last);
  }

 private:
  struct Brackets {
    Rungs rungs;                        // of the first one
    std::vector<std::uint64_t> shares;  // empty: what they need is not known yet

    std::size_t of(const History& history, std::size_t trial) const {
      return bracket_of(shares, history.seed, history.trials[trial].number);
    }
    Rungs rungs_of(std::size_t bracket) const { return rungs.without(static_cast<std::int64_t>(bracket)); }
  };

  Brackets brackets_of(const History& history, std::size_t metric) const {
    const auto longest = longest_complete(history, metric);
    const auto first = options_.min_resource ? options_.min_resource : least_rung(history, metric);
    if (!first || (!longest && !options_.max_resource)) return {};
    const std::int64_t last = options_.max_resource ? *options_.max_resource : *longest + 1;
    return {{*first, options_.reduction_factor}, bracket_shares(*first, last, options_.reduction_factor)};
  }

  HyperbandOptions options_;
  TrustedStep trusted_;
};

}  // namespace

std::vector<std::uint64_t> bracket_shares(std::int64_t min_resource, std::int64_t max_resource,
                                          std::int64_t reduction_factor) {
  std::vector<std::uint64_t> powers = {1};  // eta^s
  for (std::int64_t rest = max_resource / min_resource; rest >= reduction_factor; rest /= reduction_factor) {
    powers.push_back(powers.back() * static_cast<std::uint64_t>(reduction_factor));
  }
  std::vector<std::uint64_t> shares;
  for (std::size_t s = powers.size(); s-- > 0;) {
    const double share =
        static_cast<double>(powers.size()) * static_cast<double>(powers[s]) / static_cast<double>(s + 1);
    shares.push_back(static_cast<std::uint64_t>(share) +
                     (share > static_cast<double>(static_cast<std::uint64_t>(share))));
  }
  return shares;
}

std::size_t bracket_of(const std::vector<std::uint64_t>& shares, std::uint64_t seed, std::int64_t number) {
  std::uint64_t total = 0;
  for (const std::uint64_t share : shares) total += share;
  std::uint64_t place = Random(seed ^ kBracketSeed, static_cast<std::uint64_t>(number)).below(total);
  for (std::size_t bracket = 0; bracket < shares.size(); ++bracket) {
    if (place < shares[bracket]) return bracket;
    place -= shares[bracket];
  }
  return 0;  // there are no shares
}

std::unique_ptr<TrialPruner> make_hyperband_pruner(const HyperbandOptions& options) {
  return std::make_unique<HyperbandPruner>(options);
}

}  // namespace trainwarden::tune
