#include "hook/capture/budget/bill.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "hook/capture/capture_testing.h"

namespace trainwarden::capture {
namespace {

// Steps of 10 ms whose statistics cost 1 ms, as often as the budget allows.
class BillTest : public testing::Test {
 protected:
  BillTest() : bill_(0.01, clock_) {
    bill_.count_beside([this](std::int64_t) { return beside_ns_; });
  }

  void train_for(std::int64_t ns) {
    for (const std::int64_t end = clock_.steady_ns() + ns; clock_.steady_ns() < end; ++step_) {
      const std::int64_t factor = bill_.restraint(Mode::kTrain).interval_factor;
      StepDemand demand{.forms = kStatisticsBit};
      demand.wanted = step_ % factor == 0;
      clock_.advance_ns(10 * kMillisecond);
      if (demand.wanted) {
        const Bill::Timer timer(bill_);
        clock_.advance_ns(kMillisecond);
      }
      static_cast<void>(bill_.end_step({step_, Mode::kTrain, step_}, demand));
    }
  }
  // Until what the start may cost is spent.
  void train_through_the_grace() {
    while (bill_.inside_ns() <= Bill::kGraceNs) train_for(10 * kMillisecond);
  }
  std::int64_t factor() const { return bill_.restraint(Mode::kTrain).interval_factor; }

  FakeClock clock_;
  Bill bill_;
  std::int64_t beside_ns_ = 0;
  std::int64_t step_ = 0;
};

TEST_F(BillTest, WhatFollowsFromTheFirstStepsIsNotPaidOff) {
  train_through_the_grace();
  beside_ns_ += 400 * kMillisecond;
  train_for(1'900 * kMillisecond);
  EXPECT_LE(factor(), 64) << "1 ms, of 30 us a step";
  EXPECT_GE(bill_.report(Mode::kTrain).capture_ns, 500 * kMillisecond) << "it is on the bill";
}

TEST_F(BillTest, WhatIsSpentBesideLaterIsPaidOff) {
  train_through_the_grace();
  train_for(5'000 * kMillisecond);
  beside_ns_ += 400 * kMillisecond;
  train_for(5'000 * kMillisecond);
  EXPECT_GE(factor(), 1024);
}

}  // namespace
}  // namespace trainwarden::capture
