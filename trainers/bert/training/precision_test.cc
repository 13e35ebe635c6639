// Autocast scopes and seeds.
#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include "training/autocast.h"
#include "training/determinism.h"

namespace bert {
namespace {

TEST(AutocastTest, ProductsAreOfTheHalfTypeInsideOnly) {
  const at::Tensor a = at::ones({4, 4});
  {
    const AutocastScope outer(at::kCPU, at::kBFloat16);
    EXPECT_EQ(at::matmul(a, a).scalar_type(), at::kBFloat16);
    {
      const AutocastScope none(at::kCPU, at::kFloat);
      EXPECT_EQ(at::matmul(a, a).scalar_type(), at::kBFloat16);
    }
  }
  EXPECT_EQ(at::matmul(a, a).scalar_type(), at::kFloat);
}

TEST(AutocastTest, AWeightThatChangedIsCastAnew) {
  at::Tensor weight = at::ones({2, 2}).requires_grad_(true);
  const auto product = [&] {
    const AutocastScope scope(at::kCPU, at::kBFloat16);
    return at::matmul(at::ones({2, 2}), weight)[0][0].item<double>();
  };
  EXPECT_EQ(product(), 2);
  weight.data().fill_(3);
  EXPECT_EQ(product(), 6);
}

TEST(AutocastTest, SaysWhatThereIsNot) {
  EXPECT_THROW(AutocastScope(at::kCPU, at::kHalf), std::runtime_error);
  EXPECT_THROW(AutocastScope(at::kCPU, at::kDouble), std::runtime_error);
  EXPECT_THROW(AutocastScope(at::kHIP, at::kBFloat16), std::runtime_error);
}

TEST(DeterminismTest, AStepDrawsTheSameWheneverItIsMade) {
  const auto drawn = [](std::uint64_t seed, std::int64_t step, int rank) {
    seed_step(seed, step, rank);
    return at::randn({100});
  };
  const at::Tensor expected = drawn(5, 7, 1);
  EXPECT_FALSE(at::equal(drawn(6, 7, 1), expected));
  EXPECT_FALSE(at::equal(drawn(5, 8, 1), expected));
  EXPECT_FALSE(at::equal(drawn(5, 7, 0), expected));
  EXPECT_TRUE(at::equal(drawn(5, 7, 1), expected));
}

TEST(DeterminismTest, DeterministicAlgorithmsAreOn) {
  be_deterministic(0);
  EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
  at::globalContext().setDeterministicAlgorithms(false, false);
}

}  // namespace
}  // namespace bert
