#include "tune/search/pruners/joined_pruner.h"

#include <algorithm>
#include <utility>

namespace trainwarden::tune {
namespace {

class NoPruner final : public TrialPruner {
 public:
  std::string_view name() const override { return "none"; }
  PruneAnswer judge(const History& /*history*/, std::size_t /*trial*/) override { return {}; }
};

class JoinedPruner final : public TrialPruner {
 public:
  explicit JoinedPruner(std::vector<std::unique_ptr<TrialPruner>> pruners) : pruners_(std::move(pruners)) {
    for (const auto& each : pruners_) {
      if (!name_.empty()) name_ += '+';
      name_ += each->name();
    }
  }
  std::string_view name() const override { return name_; }

  PruneAnswer judge(const History& history, std::size_t trial) override {
    PruneAnswer kept;  // of the one that pauses: to be ended is more than to wait
    for (const auto& each : pruners_) {
      PruneAnswer answer = each->judge(history, trial);
      if (answer.prune) return answer;
      if (answer.pause || answer.rung > 0) kept = std::move(answer);
    }
    return kept;
  }

  bool pauses() const override {
    return std::any_of(pruners_.begin(), pruners_.end(), [](const auto& each) { return each->pauses(); });
  }
  std::optional<Promotion> next_promotion(const History& history, bool is_last) override {
    for (const auto& each : pruners_) {
      if (each->pauses()) return each->next_promotion(history, is_last);
    }
    return {};
  }

 private:
  std::vector<std::unique_ptr<TrialPruner>> pruners_;
  std::string name_;
};

}  // namespace

std::unique_ptr<TrialPruner> make_no_pruner() {
  return std::make_unique<NoPruner>();
}

std::unique_ptr<TrialPruner> make_joined_pruner(std::vector<std::unique_ptr<TrialPruner>> pruners) {
  if (pruners.size() == 1) return std::move(pruners[0]);
  return std::make_unique<JoinedPruner>(std::move(pruners));
}

}  // namespace trainwarden::tune
