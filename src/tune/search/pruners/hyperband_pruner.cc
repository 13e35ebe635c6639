#include "tune/search/pruners/hyperband_pruner.h"

#include <fmt/format.h>

#include "tune/search/pruners/curve.h"
#include "tune/search/pruners/fidelity.h"
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
    const auto longest = longest_complete(history, *metric);
    const auto first = options_.min_resource ? options_.min_resource : least_rung(history, *metric);
    if (!first || (!longest && !options_.max_resource)) return judge_newest(history, trial, *metric);
    const std::int64_t last = options_.max_resource ? *options_.max_resource : *longest + 1;
    const auto shares = bracket_shares(*first, last, options_.reduction_factor);
    const auto bracket = [&](std::size_t i) { return bracket_of(shares, history.seed, history.trials[i].number); };
    const std::size_t own = bracket(trial);
    const Rungs rungs = Rungs{*first, options_.reduction_factor}.without(static_cast<std::int64_t>(own));
    PruneAnswer answer = judge_at_rung(history, trial, *metric, rungs, trusted_.of(history),
                                       [&](std::size_t i) { return bracket(i) == own; });
    if (answer.prune) answer.why += fmt::format(" (bracket {} of {})", own + 1, shares.size());
    return answer;
  }

 private:
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
