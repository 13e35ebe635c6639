// NonFiniteSearch: which reductions say it, and what.
#include "judge/rules/builtin/tensors/non_finite_search.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace trainwarden::rules {
namespace {

using Saved = std::vector<SavedReduction>;

constexpr Reduction kSums[] = {Reduction::kMean, Reduction::kSum,  Reduction::kL1,      Reduction::kL2,
                               Reduction::kStd,  Reduction::kProd, Reduction::kVariance};

TEST(NonFiniteSearch, AFiniteSumSpeaksForAllElements) {
  for (const Reduction reduction : kSums) {
    const NonFiniteSearch search = search_non_finite(Saved{{reduction, false, 1}}, false);
    EXPECT_TRUE(search.decided) << name(reduction);
    EXPECT_FALSE(search.found) << name(reduction);
  }
}

TEST(NonFiniteSearch, OneEndAloneSaysNothingOfTheOther) {
  EXPECT_FALSE(search_non_finite(Saved{{Reduction::kMin, false, 1}}, false).decided);
  EXPECT_FALSE(search_non_finite(Saved{{Reduction::kMax, false, 1}}, false).decided);
  EXPECT_FALSE(search_non_finite(Saved{{Reduction::kMin, true, 1}}, false).decided);
  EXPECT_TRUE(search_non_finite(Saved{{Reduction::kMax, true, 1}}, false).decided);
  EXPECT_TRUE(search_non_finite(Saved{{Reduction::kMin, false, 1}, {Reduction::kMax, false, 1}}, false).decided);
  EXPECT_FALSE(search_non_finite({}, false).decided);
}

TEST(NonFiniteSearch, AnyReductionThatIsNotFiniteIsFound) {
  for (int i = 0; i < kReductionCount; ++i) {
    for (const double value : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
      const auto search = search_non_finite(Saved{{static_cast<Reduction>(i), false, value}}, false);
      EXPECT_TRUE(search.decided && search.found) << i << " " << value;
    }
  }
}

TEST(NonFiniteSearch, OnlyNanAsksThoseThatInfinitiesDoNotSpoil) {
  EXPECT_FALSE(search_non_finite(Saved{{Reduction::kMean, false, NAN}}, true).decided);
  EXPECT_FALSE(search_non_finite(Saved{{Reduction::kStd, true, NAN}}, true).decided);
  EXPECT_TRUE(search_non_finite(Saved{{Reduction::kMean, true, NAN}}, true).found);
  EXPECT_TRUE(search_non_finite(Saved{{Reduction::kMin, false, NAN}}, true).found);
  const auto infinite = search_non_finite(Saved{{Reduction::kL2, false, HUGE_VAL}}, true);
  EXPECT_TRUE(infinite.decided);
  EXPECT_FALSE(infinite.found);
}

TEST(NonFiniteSearch, TheReductionHasAName) {
  EXPECT_EQ(identifier({Reduction::kMean, true, 0}), "abs_mean");
  EXPECT_EQ(identifier({Reduction::kL2, false, 0}), "l2");
}

}  // namespace
}  // namespace trainwarden::rules
