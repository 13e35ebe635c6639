#include "tune/search/samplers/sobol_sampler.h"

#include <algorithm>
#include <bit>
#include <limits>

#include <boost/random/sobol.hpp>

#include "tune/search/samplers/startup.h"

namespace trainwarden::tune {
namespace {

constexpr std::size_t kBits = 32;
constexpr std::uint64_t kScrambleStream = 0x5c7a3b1e00000000;  // far from those of trials
constexpr std::uint32_t kMaxSkipped = 1'000'000;

// The lowest index that no trial before this one has.
std::uint32_t next_index(const History& history, std::int64_t number) {
  double next = 0;
  for (const StudyTrial& trial : history.trials) {
    const auto note = trial.notes.find("sobol");
    if (trial.number < number && note != trial.notes.end()) next = std::max(next, note->second + 1);
  }
  return static_cast<std::uint32_t>(std::clamp(next, 0.0, 0x1p32 - 2));
}

Point point_at(const Space& space, const std::vector<double>& units) {
  Point point(space.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (space.is_active(point, i)) point[i] = space.from_unit(i, units[i]);
  }
  return point;
}

class SobolSampler final : public TrialSampler {
 public:
  std::string_view name() const override { return "sobol"; }

  Result<Suggestion> suggest(const History& history, std::int64_t number) override {
    if (number == 0) {
      if (auto first = first_point(history.space)) return Suggestion{*std::move(first), {}};
    }
    const ScrambledSobol sobol(history.space.size(), history.seed);
    const std::uint32_t start = next_index(history, number);
    for (std::uint32_t i = start; i - start < kMaxSkipped; ++i) {
      Point point = point_at(history.space, sobol(i));
      if (history.space.meets_constraints(point)) return Suggestion{std::move(point), {{"sobol", i}}};
    }
    return Status(
        Code::kResourceExhausted,
        "no point of a million meets the constraints between parameters: widen the ranges or drop a constraint");
  }
};

}  // namespace

ScrambledSobol::ScrambledSobol(std::size_t dimensions, std::uint64_t seed) : dimensions_(dimensions) {
  for (std::size_t d = 0; d < dimensions; ++d) {
    Random random(seed, kScrambleStream + d);
    for (std::size_t row = 0; row < kBits; ++row) {
      const std::uint32_t diagonal = std::uint32_t{1} << (kBits - 1 - row);
      const std::uint32_t above = ~(diagonal | (diagonal - 1));
      rows_.push_back((static_cast<std::uint32_t>(random.bits() >> 32) & above) | diagonal);
    }
    shifts_.push_back(random.bits() >> 11);
  }
}

std::vector<double> ScrambledSobol::operator()(std::uint32_t index) const {
  boost::random::sobol_engine<std::uint32_t, kBits> engine(dimensions_);
  engine.seed(index);
  std::vector<double> point;
  for (std::size_t d = 0; d < dimensions_; ++d) {
    const std::uint32_t plain = engine();
    std::uint64_t scrambled = 0;
    for (std::size_t row = 0; row < kBits; ++row) {
      scrambled = scrambled << 1 | static_cast<std::uint64_t>(std::popcount(rows_[d * kBits + row] & plain) & 1);
    }
    point.push_back(static_cast<double>((scrambled << 21) ^ shifts_[d]) * 0x1p-53);
  }
  return point;
}

std::unique_ptr<TrialSampler> make_sobol_sampler() {
  return std::make_unique<SobolSampler>();
}

}  // namespace trainwarden::tune
