#include "tune/search/gp/gp_sampler.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "tune/search/gp/acquisition_search.h"
#include "tune/search/gp/observations.h"
#include "tune/search/gp/quasi_points.h"
#include "tune/search/gp/study_model.h"
#include "tune/search/samplers/startup.h"

namespace trainwarden::tune {
namespace {

constexpr std::size_t kMinStartup = 10;
constexpr std::uint64_t kStartupStream = std::numeric_limits<std::uint64_t>::max();  // of no trial
constexpr std::uint64_t kMaxSkippedPoints = 10'000;
constexpr std::size_t kMaxCandidates = 65'536;

Status check_study(const History& history) {
  if (history.objectives().empty() && history.constraints().empty()) {
    return Status(Code::kFailedPrecondition,
                  "expected a metric to optimise or to constrain, found none: name one, or use the sampler random");
  }
  if (history.space.size() == 0 || history.space.size() > kMaxGpParameters) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("the sampler gp expects 1 to {} parameters, found {}: use the sampler tpe",
                              kMaxGpParameters, history.space.size()));
  }
  return {};
}

// Of a sequence of the study, the point of this place among those that meet the constraints; the next one that is left.
Result<Point> quasi_startup_point(const History& history, std::int64_t number, const ExcludedPoints& tried,
                                  Random& random) {
  Random of_study(history.seed, kStartupStream);
  const QuasiPoints quasi(history.space, of_study);
  const auto place = static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0));
  for (std::uint64_t i = place; i < place + kMaxSkippedPoints; ++i) {
    Point point = quasi.point(i);
    if (history.space.meets_constraints(point) && !tried.contains(point)) return point;
  }
  if (history.space.count() == 0) return random_point(history.space, random);
  std::vector<Point> left = untried_points(history.space, tried, 1);
  if (!left.empty()) return std::move(left[0]);
  return nothing_left();
}

class GpSampler : public TrialSampler {
 public:
  explicit GpSampler(GpOptions options) : options_(options) {
    options_.candidates = std::clamp<std::size_t>(options_.candidates, 1, kMaxCandidates);
  }

  std::string_view name() const override { return "gp"; }

  Result<Suggestion> suggest(const History& history, std::int64_t number) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_study(history));
    const ExcludedPoints tried(history, number);
    if (auto first = first_point(history.space); first && !tried.contains(*first)) return Suggestion{*first, {}};
    Random random = random_of(history, number);
    if (observed_trials(history).size() < startup_of(history.space)) {
      TRAINWARDEN_ASSIGN_OR_RETURN(Point point, quasi_startup_point(history, number, tried, random));
      return Suggestion{std::move(point), {}};
    }
    const StudyModel model = model_study(history, number, options_.is_deterministic, fits_, random);
    const AcquisitionProblem problem{history.space, model.acquisition, tried, model.weights, model.incumbents};
    AcquisitionSearchOptions search;
    search.candidates = options_.candidates;
    TRAINWARDEN_ASSIGN_OR_RETURN(Point point, search_acquisition(problem, search, random));
    return Suggestion{std::move(point), {}};
  }

 private:
  std::size_t startup_of(const Space& space) const {
    return options_.startup > 0 ? options_.startup : std::max(kMinStartup, 2 * space.size());
  }

  GpOptions options_;
  KernelFits fits_;
};

}  // namespace

std::unique_ptr<TrialSampler> make_gp(GpOptions options) {
  return std::make_unique<GpSampler>(options);
}

}  // namespace trainwarden::tune
