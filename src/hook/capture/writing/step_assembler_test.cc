#include "hook/capture/writing/step_assembler.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace trainwarden::capture {
namespace {

class StepAssemblerTest : public testing::Test {
 protected:
  TensorEntry& entry(std::string_view name) {
    return *tensors_.add(name,
                         [&](std::string_view tensor) -> const Membership& { return plan_->membership_of(tensor); });
  }
  void keep(TensorEntry& target, std::string_view text) {
    auto slot = assembler_.claim(text.size());
    ASSERT_TRUE(slot.has_value());
    std::memcpy(slot->memory().data(), text.data(), text.size());
    assembler_.add_tensor(*std::move(slot), target, StagedTensor());
  }

  std::vector<std::string> names_in(const StagedStep& step) const {
    std::vector<std::string> names;
    for (const StagedTensor& tensor : step.tensors) names.push_back(tensors_.find(TensorId{tensor.id})->name);
    return names;
  }

  const std::unique_ptr<StagingArea> staging_ = *StagingArea::create(std::size_t{1} << 20);
  const std::unique_ptr<CapturePlan> plan_ = *CapturePlan::resolve(HookOptions());
  TensorTable tensors_;
  StepAssembler assembler_{*staging_, tensors_, *plan_};
};

TEST_F(StepAssemblerTest, AStepWithNothingInItIsNone) {
  EXPECT_TRUE(assembler_.step_is_empty());
  EXPECT_EQ(assembler_.end(StepId()), nullptr);
}

TEST_F(StepAssemblerTest, GathersWhatWasSaved) {
  keep(entry("a"), "hello");
  EXPECT_EQ(assembler_.add_scalar(entry("s"), 2.5), StepAssembler::Added::kYes);
  journal::StatisticsRow row;
  row.shape_only = true;
  EXPECT_EQ(assembler_.add_statistics(entry("w"), row), StepAssembler::Added::kYes);
  assembler_.add_loss(LossCause::kUnsupported, 1, 7, [] { return std::string("why"); });
  EXPECT_FALSE(assembler_.step_is_empty());

  const auto step = assembler_.end({.global_step = 9, .mode = Mode::kEval, .mode_step = 4});
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->id.global_step, 9);
  EXPECT_EQ(step->id.mode, Mode::kEval);
  EXPECT_EQ(step->id.mode_step, 4);
  ASSERT_EQ(step->tensors.size(), 1u);
  EXPECT_EQ(as_text(step->tensors[0].data), "hello");
  EXPECT_EQ(step->tensors[0].id, entry("a").id);
  EXPECT_EQ(step->statistics.at(0).id, entry("w").id);
  EXPECT_EQ(step->scalars.at(0).value, 2.5);
  EXPECT_EQ(step->losses.count(), 1u);
  EXPECT_EQ(step->item_count(), 3u);
  EXPECT_EQ(step->tensor_bytes(), 5u);
  EXPECT_TRUE(assembler_.step_is_empty());
}

TEST_F(StepAssemblerTest, NamesAreToldOnceAndAgainWhenTheirCollectionsChange) {
  TensorEntry& a = entry("a.weight");
  keep(a, "1");
  auto step = assembler_.end(StepId());
  ASSERT_EQ(step->new_names.size(), 1u);
  EXPECT_EQ(step->new_names[0].name, "a.weight");
  EXPECT_EQ(step->new_names[0].collections, (std::vector<std::string>{"all", "weights"}));
  keep(a, "2");
  EXPECT_TRUE(assembler_.end(StepId())->new_names.empty());

  const std::string_view mine[] = {"mine"};
  a.membership = &plan_->with_collections(*a.membership, mine);
  keep(a, "3");
  step = assembler_.end(StepId());
  ASSERT_EQ(step->new_names.size(), 1u);
  EXPECT_EQ(step->new_names[0].collections, (std::vector<std::string>{"all", "mine", "weights"}));
}

TEST_F(StepAssemblerTest, ANameSavedTwiceInAStepGetsTheFreeSuffix) {
  for (const char* name : {"a", "a#2", "a", "a"}) keep(entry(name), "x");
  EXPECT_EQ(names_in(*assembler_.end(StepId())), (std::vector<std::string>{"a", "a#2", "a#1", "a#3"}));
  for (const char* name : {"a", "a"}) keep(entry(name), "x");
  EXPECT_EQ(names_in(*assembler_.end(StepId())), (std::vector<std::string>{"a", "a#1"}));
}

TEST_F(StepAssemblerTest, SuffixesBeginAnewWithEachStepAndHoldForAllForms) {
  TensorEntry& a = entry("a");
  keep(a, "1");
  keep(a, "2");
  assembler_.end(StepId());
  keep(a, "3");
  EXPECT_EQ(assembler_.add_scalar(a, 4), StepAssembler::Added::kYes);
  const auto step = assembler_.end(StepId());
  EXPECT_EQ(names_in(*step), std::vector<std::string>{"a"});
  EXPECT_EQ(tensors_.find(TensorId{step->scalars.at(0).id})->name, "a#1");
}

TEST_F(StepAssemblerTest, SuffixedTensorsBelongWhereTheFirstDoes) {
  TensorEntry& a = entry("a.weight");
  keep(a, "1");
  keep(a, "2");
  EXPECT_EQ(tensors_.find("a.weight#1")->membership.load(), a.membership.load());
}

TEST_F(StepAssemblerTest, FullMemoryIsSaid) {
  auto slot = assembler_.claim(staging_->capacity_bytes());
  ASSERT_TRUE(slot.has_value());
  EXPECT_FALSE(assembler_.claim(1).has_value());
}

TEST_F(StepAssemblerTest, RowsCannotGrowWithoutEnd) {
  std::size_t rows = 0;
  while (assembler_.add_scalar(entry("s"), 1) == StepAssembler::Added::kYes) ++rows;
  EXPECT_EQ(rows, staging_->account_bytes() / sizeof(journal::ScalarRow));
  journal::StatisticsRow row;
  EXPECT_EQ(assembler_.add_statistics(entry("w"), row), StepAssembler::Added::kNoRoom);
}

TEST_F(StepAssemblerTest, AStepEndsWhenItsCopiesAreDone) {
  auto slot = assembler_.claim(5);
  ASSERT_TRUE(slot.has_value());
  TensorEntry& a = entry("a");
  std::unique_ptr<StagedStep> step;
  {
    const std::jthread driver([&] { step = assembler_.end(StepId()); });
    std::memcpy(slot->memory().data(), "hello", 5);
    assembler_.add_tensor(*std::move(slot), a, StagedTensor());
    slot.reset();
  }
  // The driver may have ended the step before or after the copy began to count, but never with half of it.
  if (step == nullptr) step = assembler_.end(StepId());
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(as_text(step->tensors.at(0).data), "hello");
}

TEST_F(StepAssemblerTest, AClaimThatIsGivenUpDoesNotHoldTheStep) {
  {
    auto slot = assembler_.claim(5);
    ASSERT_TRUE(slot.has_value());
  }
  EXPECT_EQ(assembler_.end(StepId()), nullptr);
}

TEST_F(StepAssemblerTest, AStepThatCannotBeHandedOnIsLostWithTheNext) {
  keep(entry("a"), "12345");
  assembler_.add_loss(LossCause::kTooLarge, 1, 10, [] { return std::string(); });
  auto lost = assembler_.end({.global_step = 3});
  assembler_.lose(*lost);
  lost.reset();
  const auto next = assembler_.end({.global_step = 4});
  ASSERT_NE(next, nullptr);
  EXPECT_TRUE(next->tensors.empty());
  ASSERT_EQ(next->new_names.size(), 1u);
  EXPECT_EQ(next->new_names[0].name, "a");
  const auto losses = next->losses.losses();
  ASSERT_EQ(losses.size(), 2u);
  EXPECT_EQ(losses[0].cause, LossCause::kStagingFull);
  EXPECT_EQ(losses[0].bytes, 5u);
  EXPECT_EQ(losses[1].cause, LossCause::kTooLarge);
}

TEST_F(StepAssemblerTest, ManyThreadsSaveIntoOneStep) {
  constexpr int kThreads = 4;
  constexpr int kTensors = 200;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kTensors; ++i) {
          const std::string name = std::to_string(t) + "/" + std::to_string(i);
          keep(entry(name), name);
        }
      });
    }
  }
  const auto step = assembler_.end(StepId());
  ASSERT_NE(step, nullptr);
  ASSERT_EQ(step->tensors.size(), std::size_t{kThreads * kTensors});
  for (const StagedTensor& tensor : step->tensors) {
    EXPECT_EQ(as_text(tensor.data), tensors_.find(TensorId{tensor.id})->name);
  }
}

}  // namespace
}  // namespace trainwarden::capture
