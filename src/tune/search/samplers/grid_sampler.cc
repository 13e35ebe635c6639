#include "tune/search/samplers/grid_sampler.h"

#include <numeric>

#include <fmt/format.h>

#include "tune/search/samplers/lattice.h"
#include "tune/search/samplers/untried.h"

namespace trainwarden::tune {
namespace {

constexpr std::uint64_t kShuffleStream = 0x6d1d000000000000;  // far from those of trials

std::vector<std::uint32_t> shuffled(std::uint64_t size, std::uint64_t seed) {
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0u);
  Random random(seed, kShuffleStream);
  for (std::uint64_t i = size; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

class GridSampler final : public TrialSampler {
 public:
  explicit GridSampler(const GridOptions& options) : options_(options) {}
  std::string_view name() const override { return "grid"; }

  Result<Suggestion> suggest(const History& history, std::int64_t number) override {
    const Lattice lattice(history.space, options_.positions);
    if (lattice.size() == 0 || lattice.size() > kMaxGrid) {
      return Status(Code::kFailedPrecondition,
                    fmt::format("expected at most {} combinations, found {}: say how many positions of each number to "
                                "try, or use sobol",
                                kMaxGrid, lattice.size() == 0 ? "a continuum or far more" : "more"));
    }
    const TriedPoints tried(history, number);
    for (const std::uint32_t index : shuffled(lattice.size(), history.seed)) {
      auto point = lattice.point(index);
      if (point && !tried.contains(*point)) return Suggestion{*std::move(point), {}};
    }
    return Status(Code::kResourceExhausted, "every combination of the grid has been tried");
  }

 private:
  GridOptions options_;
};

}  // namespace

std::unique_ptr<TrialSampler> make_grid_sampler(const GridOptions& options) {
  return std::make_unique<GridSampler>(options);
}

}  // namespace trainwarden::tune
