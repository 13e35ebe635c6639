#include "actions/by_verdict/action.h"

#include <gtest/gtest.h>

namespace trainwarden::actions::by_verdict {
namespace {

TEST(IdempotencyKey, IsTheSameForTheSameRuleAndStep) {
  const FiredVerdict fired{"VanishingGradient-2", 120, "step 120", {}};
  EXPECT_EQ(idempotency_key(fired), "vanishinggradient-2-120");
}

TEST(IdempotencyKey, IsFitForAFileName) {
  const FiredVerdict fired{"../my rule\xff", 0, "step 0", {}};
  EXPECT_EQ(idempotency_key(fired), "---my-rule--0");
}

}  // namespace
}  // namespace trainwarden::actions::by_verdict
