#include "tune/search/samplers/sobol_sampler.h"

#include <set>

#include "tune/search/samplers/sampler_trials.h"

namespace trainwarden::tune {
namespace {

// 256 points have one in each of 256 equal intervals of each dimension, and in the first two dimensions one in each of
// the 16 by 16 squares: scrambling keeps it.
TEST(SobolSamplerTest, FillsTheSpaceEvenly) {
  for (const std::uint64_t seed : {1u, 2u}) {
    const ScrambledSobol sobol(5, seed);
    std::vector<std::set<int>> intervals(5);
    std::set<int> squares;
    for (std::uint32_t i = 0; i < 256; ++i) {
      const std::vector<double> point = sobol(i + 255);  // Boost leaves out the first point, zero
      for (std::size_t d = 0; d < 5; ++d) {
        ASSERT_TRUE(point[d] >= 0 && point[d] < 1);
        intervals[d].insert(static_cast<int>(point[d] * 256));
      }
      squares.insert(static_cast<int>(point[0] * 16) * 16 + static_cast<int>(point[1] * 16));
    }
    for (const std::set<int>& each : intervals) EXPECT_EQ(each.size(), 256u);
    EXPECT_EQ(squares.size(), 256u);
  }
}

TEST(SobolSamplerTest, SeedsScrambleDifferently) {
  const ScrambledSobol one(3, 1), other(3, 2);
  std::set<double> values, differences;
  for (std::uint32_t i = 0; i < 64; ++i) {
    values.insert(one(i)[1]);
    differences.insert(one(i)[1] - other(i)[1]);
  }
  EXPECT_EQ(values.size(), 64u);
  EXPECT_GE(differences.size(), 16u);  // not a shift alone
}

TEST(SobolSamplerTest, SkipsWhatMissesAConstraint) {
  const Space space =
      *Space::make({number_between("x", 0, 1), number_between("y", 0, 1)}, {{{{"x", 1}, {"y", 1}}, 0.5}});
  History history{.space = space, .metrics = {{.name = "loss"}}, .seed = 1};
  search(*make_sobol_sampler(), history, 20, [](const Point&) { return std::vector<double>{0}; });
  double last = -1, skipped = 0;
  for (const StudyTrial& trial : history.trials) {
    const double index = trial.notes.at("sobol");
    EXPECT_GT(index, last);
    skipped += index - last - 1;
    last = index;
  }
  EXPECT_GE(skipped, 80);  // seven eighths
}

}  // namespace
}  // namespace trainwarden::tune
