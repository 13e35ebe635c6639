// Norms, clipping, accumulation.
#include "training/gradients.h"

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>

#include "training/determinism.h"

namespace bert {
namespace {

TEST(GradientsTest, NormIsOfAllTogetherWithAnyNumberOfThreads) {
  seed_all(3);
  const std::vector<at::Tensor> tensors{at::randn({100003}), at::randn({7, 5}), at::randn({9}).to(at::kBFloat16)};
  double expected = 0;
  for (const at::Tensor& tensor : tensors) expected += tensor.to(at::kDouble).square().sum().item<double>();
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const double alone = norm_of(tensors);
  at::set_num_threads(2);
  const double together = norm_of(tensors);
  at::set_num_threads(threads);
  EXPECT_NEAR(alone / std::sqrt(expected), 1, 1e-12);
  EXPECT_EQ(alone, together);
}

TEST(GradientsTest, SparseRowsCountOnceWhereTheyRepeat) {
  const at::Tensor sparse = at::sparse_coo_tensor(at::zeros({1, 2}, at::kLong), at::ones({2, 1}), {4, 1});
  EXPECT_DOUBLE_EQ(norm_of({sparse}), 2);  // row 0 is 1 + 1
}

TEST(GradientsTest, ClippingLimitsTheNorm) {
  EXPECT_EQ(clipping(0.5, 1).factor, 1);
  EXPECT_NEAR(clipping(4, 1).factor, 0.25, 1e-6);
  EXPECT_EQ(clipping(4, 0).factor, 1);
  EXPECT_THROW(clipping(4, -1), std::runtime_error);
}

TEST(GradientsTest, OneNumberThatIsNotFiniteIsSeen) {
  at::Tensor parameter = at::ones({50000}).requires_grad_(true);
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    parameter.mutable_grad() = at::ones({50000});
    parameter.mutable_grad()[43210] = bad;
    const Clipping found = clipping(gradient_norm({{"w", parameter}}), 1);
    EXPECT_FALSE(found.finite);
    EXPECT_EQ(found.factor, 1);
  }
}

TEST(GradientsTest, ScaleReachesEachGradient) {
  at::Tensor parameter = at::ones({3}).requires_grad_(true);
  parameter.mutable_grad() = at::full({3}, 4.0);
  scale_gradients({{"w", parameter}, {"none", at::ones({1}).requires_grad_(true)}}, 0.5);
  EXPECT_TRUE(at::equal(parameter.grad(), at::full({3}, 2.0)));
}

TEST(GradientsTest, AccumulationAsksForAStepAfterItsBatchesAndAtTheEnd) {
  Accumulation accumulation(3);
  EXPECT_FALSE(accumulation.next_is_last());
  EXPECT_FALSE(accumulation.add());
  EXPECT_FALSE(accumulation.add());
  EXPECT_TRUE(accumulation.next_is_last());
  EXPECT_TRUE(accumulation.add());
  EXPECT_DOUBLE_EQ(accumulation.factor(), 1.0 / 3);
  accumulation.reset();
  EXPECT_FALSE(accumulation.add());
  EXPECT_TRUE(accumulation.add(/*end=*/true));
  EXPECT_DOUBLE_EQ(accumulation.factor(), 0.5);
  EXPECT_THROW(Accumulation(0), std::runtime_error);
}

}  // namespace
}  // namespace bert
