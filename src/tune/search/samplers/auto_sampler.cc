#include "tune/search/samplers/auto_sampler.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "tune/search/samplers/all.h"

namespace trainwarden::tune {
namespace {

// Where a Gaussian process is the better one by far, and where its matrices and distances are at home.
constexpr std::size_t kMaxModelParameters = 20;
constexpr std::size_t kMaxModelTrials = 300;
constexpr std::size_t kMaxUnorderedChoices = 8;

bool has_many_choices(const Space& space) {
  return std::any_of(space.parameters().begin(), space.parameters().end(), [](const Hyperparameter& parameter) {
    return !parameter.is_number() && !parameter.ordered && parameter.choices.size() > kMaxUnorderedChoices;
  });
}

class AutoSampler final : public TrialSampler {
 public:
  std::string_view name() const override { return "auto"; }
  Result<Suggestion> suggest(const History& history, std::int64_t number) override {
    auto& sampler = made_[choose_sampler(history).name];
    if (sampler == nullptr) {
      TRAINWARDEN_ASSIGN_OR_RETURN(sampler, make_sampler(choose_sampler(history).name));
    }
    return sampler->suggest(history, number);
  }

 private:
  std::map<std::string_view, std::unique_ptr<TrialSampler>> made_;
};

}  // namespace

SamplerChoice choose_sampler(const History& history) {
  const Space& space = history.space;
  if (history.objectives().size() > 1) return {"tpe", "there are several objectives"};
  if (space.has_optional())
    return {"tpe", "trials may be without a parameter, which a Gaussian process sees as a distance alone"};
  if (space.has_conditions())
    return {"tpe", "parameters have conditions, which a Gaussian process sees as a distance alone"};
  if (space.size() > kMaxModelParameters) {
    return {"tpe", fmt::format("there are {} parameters, more than the {} that a Gaussian process is good for",
                               space.size(), kMaxModelParameters)};
  }
  if (has_many_choices(space)) {
    return {"tpe", fmt::format("a choice has more than {} values without an order", kMaxUnorderedChoices)};
  }
  if (history.trials.size() >= kMaxModelTrials) {
    return {"tpe", fmt::format("there are {} trials, with which a Gaussian process takes long", history.trials.size())};
  }
  return {"gp", "there are few parameters and trials, where a Gaussian process finds most"};
}

std::unique_ptr<TrialSampler> make_auto() {
  return std::make_unique<AutoSampler>();
}

}  // namespace trainwarden::tune
