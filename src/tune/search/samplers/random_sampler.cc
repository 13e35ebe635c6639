#include "tune/search/samplers/random_sampler.h"

#include "tune/search/samplers/startup.h"

namespace trainwarden::tune {
namespace {

class RandomSampler final : public TrialSampler {
 public:
  std::string_view name() const override { return "random"; }

  Result<Suggestion> suggest(const History& history, std::int64_t number) override {
    Random random = random_of(history, number);
    TRAINWARDEN_ASSIGN_OR_RETURN(Point point, startup_point(history.space, number, random));
    return Suggestion{std::move(point), {}};
  }
};

}  // namespace

std::unique_ptr<TrialSampler> make_random_sampler() {
  return std::make_unique<RandomSampler>();
}

}  // namespace trainwarden::tune
