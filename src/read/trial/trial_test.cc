// Trial over runs that are really written, in memory.
#include "trainwarden/trial.h"

#include <chrono>
#include <cmath>
#include <thread>

#include <gtest/gtest.h>

#include "core/base/bytes.h"
#include "core/base/folder_testing.h"
#include "data/format/run_event.h"
#include "read/trial/run_testing.h"
#include "read/trial/trial_access.h"
#include "store/storage/local_storage.h"

namespace trainwarden {
namespace {

using Steps = std::vector<std::int64_t>;
using Names = std::vector<std::string>;
using std::chrono::milliseconds;

bool contains(const Status& status, std::string_view part) {
  return status.message().find(part) != std::string::npos;
}

TEST(Trial, OpensAnEmptyRun) {
  TestRun run(2);
  const auto trial = run.open();
  EXPECT_EQ(trial->run_id(), run.info().id);
  EXPECT_EQ(trial->world_size(), 2);
  EXPECT_EQ(trial->state(), RunState::kRunning);
  EXPECT_EQ(trial->last_complete_step(), -1);
  EXPECT_EQ(trial->last_unix_ns(), 0);
  EXPECT_TRUE(trial->workers().empty());
  EXPECT_TRUE(trial->tensor_names()->empty());
}

TEST(Trial, ARunThatWasMadeAgainInItsFolderIsAnother) {
  TestRun run;
  const auto trial = run.open();
  EXPECT_EQ(TrialAccess::identity(*trial), run.info().id);
  EXPECT_TRUE(TrialAccess::check_same_run(*trial).ok());
  journal::RunInfo next = run.info();
  next.id = "0123456789abcdef0123456789abcdef";
  run.storage()->set_content(journal::kRunFile, journal::encode_run_info(next));
  EXPECT_EQ(TrialAccess::check_same_run(*trial).code(), Code::kFailedPrecondition);
  EXPECT_EQ(TrialAccess::identity(*trial), run.info().id) << "an open trial stays the one it was";
}

TEST(Trial, ThereIsNoRun) {
  const auto trial = TrialAccess::open(std::shared_ptr(storage::create_memory_storage()));
  EXPECT_EQ(trial.status().code(), Code::kNotFound);
}

TEST(Trial, OpensAFolder) {
  TestRun run;
  run.add({.step = 3, .tensors = {kept("w", {1, 2})}});
  run.end();
  const TestFolder folder;
  const auto local = storage::open_local_storage(folder.path());
  ASSERT_TRUE(local->create_folder("journal/rank-00000").ok());
  const std::string segment = "journal/rank-00000/" + run.storage()->list("journal/rank-00000")->front();
  for (const std::string& path : {std::string(journal::kRunFile), segment}) {
    ASSERT_TRUE(local->put_if_absent(path, as_bytes(run.storage()->content(path))).ok());
  }
  const auto trial = Trial::open(folder.path());
  ASSERT_TRUE(trial.ok()) << trial.status().to_string();
  EXPECT_EQ((*trial)->path(), folder.path());
  EXPECT_EQ((*trial)->state(), RunState::kCompleted);
  EXPECT_EQ((*trial)->value("w", 3)->to_doubles(), (std::vector<double>{1, 2}));
  EXPECT_EQ(Trial::open(folder.path() / "none").status().code(), Code::kNotFound);
}

TEST(Trial, ADamagedRunFileIsDataLoss) {
  TestRun run;
  run.storage()->set_content(journal::kRunFile, "{\"id\": 1");
  EXPECT_EQ(TrialAccess::open(run.storage()).status().code(), Code::kDataLoss);
  journal::RunInfo info = run.info();
  info.world_size = 1 << 30;
  run.storage()->set_content(journal::kRunFile, journal::encode_run_info(info));
  EXPECT_EQ(TrialAccess::open(run.storage()).status().code(), Code::kDataLoss);
}

TEST(Trial, ReadsEachForm) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {kept("w", {3, -4}), reduced("g", {3, -4}), scalar("loss", 0.5F), shape_only("x", {1, 2, 3}),
                       strings("words", {"a", "", "b"})}});
  const auto trial = run.open();
  EXPECT_EQ(trial->value("w", 0)->to_doubles(), (std::vector<double>{3, -4}));
  EXPECT_EQ(trial->value("words", 0)->strings, (Names{"a", "", "b"}));
  EXPECT_EQ(trial->scalar("loss", 0).value(), 0.5);
  EXPECT_EQ(trial->shape("x", 0)->to_string(), "[3]");
  EXPECT_EQ(trial->shape("w", 0)->to_string(), "[2]");
  EXPECT_EQ(trial->shape("loss", 0)->to_string(), "[]");
  for (const char* tensor : {"w", "g"}) {
    EXPECT_EQ(trial->reduction(tensor, 0, Reduction::kL2).value(), 5) << tensor;
    EXPECT_EQ(trial->reduction(tensor, 0, Reduction::kMean, true).value(), 3.5) << tensor;
    EXPECT_EQ(trial->statistics(tensor, 0)->count, 2u) << tensor;
  }
  EXPECT_EQ(trial->reduction("loss", 0, Reduction::kMean).value(), 0.5);
}

TEST(Trial, AFormThatWasNotKeptSaysWhatWas) {
  TestRun run;
  run.add(
      {.step = 0, .tensors = {reduced("g", {1}), shape_only("x", {1}), strings("words", {"a"}), kept("w", {1, 2})}});
  const auto trial = run.open();
  EXPECT_EQ(trial->value("g", 0).status().code(), Code::kOutOfRange);
  EXPECT_TRUE(contains(trial->value("g", 0).status(), "only its statistics"));
  EXPECT_EQ(trial->statistics("x", 0).status().code(), Code::kOutOfRange);
  EXPECT_EQ(trial->statistics("words", 0).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(trial->scalar("w", 0).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(trial->scalar("words", 0).status().code(), Code::kInvalidArgument);
}

TEST(Trial, ASingleReductionIsPreferredToWhatCouldBeComputed) {
  TestRun run;
  run.add({.step = 0, .tensors = {single_reductions("w", {{Reduction::kStd, false, 7}}), kept("w", {3, -4})}});
  const auto trial = run.open();
  EXPECT_EQ(trial->reduction("w", 0, Reduction::kStd).value(), 7);
  EXPECT_EQ(trial->reduction("w", 0, Reduction::kStd, true).value(), 0.5);
  EXPECT_EQ(trial->reduction("w", 0, Reduction::kProd).value(), -12);
  EXPECT_EQ(trial->reduction("w", 0, Reduction::kProd, true).value(), 12);
  EXPECT_EQ(trial->saved_reductions("w", 0).value(), (std::vector<SavedReduction>{{Reduction::kStd, false, 7}}));
  const auto info = trial->tensor_info("w");
  EXPECT_TRUE(info->has_shape);
  EXPECT_EQ(info->reductions, 1u);
  EXPECT_EQ(info->values, 1u);
}

TEST(Trial, OfSingleReductionsOnlyThoseCanBeRead) {
  TestRun run;
  const std::vector<SavedReduction> saved = {{Reduction::kMean, true, 2}, {Reduction::kMax, false, 5}};
  run.add({.step = 0, .tensors = {single_reductions("g", saved)}});
  const auto trial = run.open();
  EXPECT_EQ(trial->saved_reductions("g", 0).value(), saved);
  EXPECT_EQ(trial->reduction("g", 0, Reduction::kMean, true).value(), 2);
  for (const Status& status :
       {trial->reduction("g", 0, Reduction::kMean).status(), trial->reduction("g", 0, Reduction::kProd).status(),
        trial->value("g", 0).status(), trial->statistics("g", 0).status(), trial->scalar("g", 0).status(),
        trial->shape("g", 0).status()}) {
    EXPECT_EQ(status.code(), Code::kOutOfRange);
    EXPECT_TRUE(contains(status, "only its abs mean and its max")) << status.to_string();
  }
  EXPECT_TRUE(contains(trial->reduction("g", 0, Reduction::kMean).status(), "its mean was not kept"));
  EXPECT_FALSE(trial->tensor_info("g")->has_shape);
}

TEST(Trial, SavedStatisticsGiveTheirReductionsAndNoProduct) {
  TestRun run;
  run.add({.step = 0, .tensors = {reduced("g", {3, -4}), kept("w", {1}), scalar("loss", 0.5F), strings("t", {"a"})}});
  const auto trial = run.open();
  const auto saved = trial->saved_reductions("g", 0);
  ASSERT_EQ(saved->size(), 2u * kStatisticsReductionCount);
  EXPECT_EQ(saved->at(0), (SavedReduction{Reduction::kMin, false, -4}));
  EXPECT_EQ(saved->at(1), (SavedReduction{Reduction::kMin, true, 3}));
  EXPECT_EQ(trial->reduction("g", 0, Reduction::kProd).status().code(), Code::kOutOfRange);
  EXPECT_EQ(trial->saved_reductions("w", 0).status().code(), Code::kOutOfRange);
  EXPECT_EQ(trial->reduction("loss", 0, Reduction::kProd).value(), 0.5);
  EXPECT_EQ(trial->reduction("t", 0, Reduction::kProd).status().code(), Code::kOutOfRange);
}

TEST(Trial, AValueOfOneElementIsAScalar) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("loss", {0.25F})}});
  EXPECT_EQ(run.open()->scalar("loss", 0).value(), 0.25);
}

TEST(Trial, WhatIsNotThereSaysWhatIs) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("conv0.weight", {1})}});
  run.add({.step = 5});
  run.add({.step = 10, .tensors = {kept("conv0.weight", {1})}});
  const auto trial = run.open();
  const Status unknown = trial->value("conv0.wieght", 0).status();
  EXPECT_EQ(unknown.code(), Code::kNotFound);
  EXPECT_TRUE(contains(unknown, "conv0.weight")) << unknown.message();
  const Status not_here = trial->value("conv0.weight", 5).status();
  EXPECT_EQ(not_here.code(), Code::kOutOfRange);
  EXPECT_TRUE(contains(not_here, "0, 10")) << not_here.message();
  EXPECT_EQ(trial->value("conv0.weight", 7).status().code(), Code::kOutOfRange);
  EXPECT_EQ(trial->value("conv0.weight", 0, Mode::kTrain).status().code(), Code::kOutOfRange);
  const Status worker = trial->value("conv0.weight", 0, Mode::kGlobal, "rank-00007").status();
  EXPECT_EQ(worker.code(), Code::kNotFound);
  EXPECT_TRUE(contains(worker, "rank-00000")) << worker.message();
}

void add_modes(TestRun& run) {
  std::int64_t global_step = 0;
  for (const std::int64_t step : {0, 1}) {
    run.add({.step = global_step++,
             .tensors = {kept("w", {1}), scalar("loss", 1)},
             .mode = Mode::kTrain,
             .mode_step = step});
  }
  run.add({.step = global_step++, .tensors = {scalar("loss", 2)}, .mode = Mode::kEval, .mode_step = 0});
  for (const std::int64_t step : {2, 3}) {
    run.add({.step = global_step++, .tensors = {scalar("loss", 3)}, .mode = Mode::kTrain, .mode_step = step});
  }
}

TEST(Trial, StepsOfModes) {
  TestRun run;
  add_modes(run);
  const auto trial = run.open();
  EXPECT_EQ(trial->modes(), (std::vector<Mode>{Mode::kTrain, Mode::kEval}));
  EXPECT_EQ(trial->steps(), (Steps{0, 1, 2, 3, 4}));
  EXPECT_EQ(trial->steps(Mode::kTrain), (Steps{0, 1, 2, 3}));
  EXPECT_EQ(trial->steps(Mode::kEval), (Steps{0}));
  EXPECT_EQ(trial->global_step(Mode::kTrain, 2), 3);
  EXPECT_EQ(trial->global_step(Mode::kEval, 1), std::nullopt);
  EXPECT_EQ(trial->mode_of(2), Mode::kEval);
  EXPECT_EQ(trial->mode_step_of(4), 3);
  EXPECT_EQ(trial->mode_of(9), std::nullopt);
  EXPECT_EQ(trial->steps_of("loss", Mode::kTrain), (Steps{0, 1, 2, 3}));
  EXPECT_EQ(trial->steps_of("w"), (Steps{0, 1}));
  EXPECT_EQ(trial->scalar("loss", 2, Mode::kTrain).value(), 3);
  EXPECT_EQ(trial->scalar("loss", 2).value(), 2);
  EXPECT_EQ(trial->last_unix_ns(), run.clock().unix_ns() - 1'000'000);
}

// What rules add: statistics at steps at which the user's own collections are not saved.
TEST(Trial, StepsByWhatWasKept) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {1}), scalar("loss", 1), reduced("g", {1})}, .mode = Mode::kTrain});
  run.add({.step = 1, .tensors = {reduced("w", {2}), reduced("loss", {2}), reduced("g", {1})}, .mode = Mode::kTrain});
  run.add({.step = 2, .tensors = {reduced("w", {3})}, .mode = Mode::kEval, .mode_step = 0});
  run.add({.step = 3, .tensors = {kept("w", {4}), shape_only("w", {4})}, .mode = Mode::kTrain, .mode_step = 2});
  const auto trial = run.open();
  EXPECT_EQ(trial->steps_of("w"), (Steps{0, 3}));
  EXPECT_EQ(trial->steps_of("w", Mode::kTrain), (Steps{0, 2}));
  EXPECT_EQ(trial->steps_of("w", Mode::kEval), (Steps{}));  // other modes hold it whole
  EXPECT_EQ(trial->steps_of("w", Mode::kGlobal, Kept::kAny), (Steps{0, 1, 2, 3}));
  EXPECT_EQ(trial->steps_of("w", Mode::kGlobal, Kept::kStatistics), (Steps{1, 2}));
  EXPECT_EQ(trial->steps_of("w", Mode::kGlobal, Kept::kShape), (Steps{3}));
  EXPECT_EQ(trial->steps_of("w", Mode::kGlobal, Kept::kScalar), (Steps{}));
  EXPECT_EQ(trial->steps_of("loss"), (Steps{0}));
  EXPECT_EQ(trial->steps_of("loss", Mode::kGlobal, Kept::kStatistics | Kept::kScalar), (Steps{0, 1}));
  EXPECT_EQ(trial->steps_of("g"), (Steps{0, 1}));  // of which there is nothing but statistics
  EXPECT_EQ(trial->steps_of("g", Mode::kGlobal, Kept::kValue), (Steps{}));
  for (const std::int64_t step : trial->steps_of("w")) EXPECT_TRUE(trial->value("w", step).ok()) << step;
}

TEST(Trial, StepsWithAnyTensorKeptSo) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {1}), reduced("g", {1})}});
  run.add({.step = 1, .tensors = {reduced("w", {1}), scalar("loss", 1)}});
  run.add({.step = 2, .tensors = {reduced("w", {1})}});
  run.add_steps(3, 3);
  const auto trial = run.open();
  EXPECT_EQ(trial->steps(), (Steps{0, 1, 2, 3}));
  EXPECT_EQ(trial->steps_with(Kept::kValue), (Steps{0}));
  EXPECT_EQ(trial->steps_with(Kept::kStatistics), (Steps{0, 1, 2}));
  EXPECT_EQ(trial->steps_with(Kept::kFullest), (Steps{0, 1}));
  EXPECT_EQ(trial->steps_with(Kept::kAny), (Steps{0, 1, 2}));
}

TEST(Trial, AValueThatWasNotKeptIsToldWithTheStepsThatHaveOne) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {1})}});
  run.add({.step = 1, .tensors = {reduced("w", {1})}});
  run.add({.step = 2, .tensors = {kept("w", {1})}});
  const Status status = run.open()->value("w", 1).status();
  EXPECT_EQ(status.code(), Code::kOutOfRange);
  EXPECT_TRUE(contains(status, "only its statistics; the nearest steps that have it: 0, 2")) << status.message();
}

TEST(Trial, AProgramWithoutModesIsInGlobal) {
  TestRun run;
  run.add_steps(0, 1);
  EXPECT_EQ(run.open()->modes(), (std::vector<Mode>{Mode::kGlobal}));
}

TEST(Trial, TensorNamesByQuery) {
  Collection weights;
  weights.name = "weights";
  weights.include = {"^(?!gradient).*weight"};
  TestRun run(1, {weights});
  run.add({.step = 0,
           .tensors = {kept("a.weight", {1}), kept("gradient/a.weight", {1}, {"gradients"})},
           .mode = Mode::kTrain});
  run.add({.step = 1, .tensors = {scalar("loss", 1, {"losses"})}, .mode = Mode::kEval, .mode_step = 0});
  const auto trial = run.open();
  EXPECT_EQ(trial->tensor_names().value(), (Names{"a.weight", "gradient/a.weight", "loss"}));
  EXPECT_EQ(trial->tensor_names({.include = {"weight$"}}).value(), (Names{"a.weight", "gradient/a.weight"}));
  EXPECT_EQ(trial->tensor_names({.include = {"loss", "^a"}}).value(), (Names{"a.weight", "loss"}));
  EXPECT_EQ(trial->tensor_names({.collection = "weights"}).value(), (Names{"a.weight"}));
  EXPECT_EQ(trial->tensor_names({.collection = "gradients"}).value(), (Names{"gradient/a.weight"}));
  EXPECT_EQ(trial->tensor_names({.mode = Mode::kEval}).value(), (Names{"loss"}));
  EXPECT_EQ(trial->tensor_names({.step = 0}).value(), (Names{"a.weight", "gradient/a.weight"}));
  EXPECT_EQ(trial->tensor_names({.mode = Mode::kEval, .step = 0}).value(), (Names{"loss"}));
  EXPECT_EQ(trial->collections(), (Names{"gradients", "losses", "weights"}));
  EXPECT_EQ(trial->collection("weights")->tensor_names, (Names{"a.weight"}));
}

TEST(Trial, BadQueries) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {1}, {"weights"})}});
  const auto trial = run.open();
  EXPECT_EQ(trial->tensor_names({.include = {"("}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(trial->tensor_names({.collection = "wieghts"}).status().code(), Code::kNotFound);
  EXPECT_EQ(trial->tensor_names({.step = 3}).status().code(), Code::kNotFound);
  EXPECT_EQ(trial->tensor_info("v").status().code(), Code::kNotFound);
  EXPECT_EQ(trial->collection("none").status().code(), Code::kNotFound);
}

TEST(Trial, TensorInfoCountsForms) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {1, 2}, {"weights"}), reduced("w", {1, 2})}});
  run.add({.step = 1, .tensors = {reduced("w", {1, 2, 3}), scalar("loss", 1)}});
  const auto trial = run.open();
  const auto info = trial->tensor_info("w");
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->values, 1u);
  EXPECT_EQ(info->statistics, 2u);
  EXPECT_EQ(info->scalars, 0u);
  EXPECT_EQ(info->shape.to_string(), "[3]");
  EXPECT_EQ(info->dtype, DType::kFloat32);
  EXPECT_EQ(info->collections, (Names{"weights"}));
  EXPECT_EQ(trial->tensor_info("loss")->dtype, DType::kFloat64);
}

TEST(Trial, WorkersOfATensor) {
  TestRun run(2);
  run.add({.step = 0, .tensors = {kept("a", {1})}, .worker = 0});
  run.add({.step = 0, .tensors = {kept("a", {2}), kept("b", {3})}, .worker = 1});
  const auto trial = run.open();
  EXPECT_EQ(trial->workers(), (Names{"rank-00000", "rank-00001"}));
  EXPECT_EQ(trial->workers_of("a", 0), (Names{"rank-00000", "rank-00001"}));
  EXPECT_EQ(trial->workers_of("b", 0), (Names{"rank-00001"}));
  EXPECT_EQ(trial->value("a", 0)->to_doubles(), (std::vector<double>{1}));
  EXPECT_EQ(trial->value("a", 0, Mode::kGlobal, "rank-00001")->to_doubles(), (std::vector<double>{2}));
  EXPECT_EQ(trial->value("b", 0)->to_doubles(), (std::vector<double>{3}));
  EXPECT_EQ(trial->value("b", 0, Mode::kGlobal, "rank-00000").status().code(), Code::kOutOfRange);
}

// Of any mode, and of each, in one form and in several.
TEST(Trial, TheNewestStepIsTheLastOfAll) {
  TestRun run;
  run.add({.step = 0, .tensors = {scalar("loss", 1), kept("w", {1})}, .mode = Mode::kTrain, .mode_step = 0});
  run.add({.step = 1, .tensors = {scalar("loss", 2)}, .mode = Mode::kEval, .mode_step = 0});
  run.add({.step = 2, .tensors = {reduced("w", {2})}, .mode = Mode::kTrain, .mode_step = 1});
  const auto trial = run.open();
  const auto newest = [&](const char* tensor, Kept kept, Mode mode = Mode::kGlobal) {
    const auto step = TrialAccess::newest_step_of(*trial, tensor, kept, mode);
    const Steps all = trial->steps_of(tensor, Mode::kGlobal, kept);
    const auto last = all.empty() ? std::nullopt : std::optional(all.back());
    EXPECT_TRUE(mode != Mode::kGlobal || step == last) << tensor;
    return step;
  };
  EXPECT_EQ(newest("loss", Kept::kScalar), 1);
  EXPECT_EQ(newest("loss", Kept::kScalar, Mode::kTrain), 0);
  EXPECT_EQ(newest("loss", Kept::kScalar, Mode::kPredict), std::nullopt);
  EXPECT_EQ(newest("loss", Kept::kStatistics), std::nullopt);
  EXPECT_EQ(newest("w", Kept::kValue), 0);
  EXPECT_EQ(newest("w", Kept::kValue | Kept::kStatistics), 2);
  EXPECT_EQ(TrialAccess::newest_step_of(*trial, "unknown", Kept::kAny), std::nullopt);
}

// A program that went on from an earlier step: what was written last is not the last step.
TEST(Trial, TheNewestStepIsFoundWhereStepsComeAgain) {
  TestRun run;
  for (std::int64_t step = 0; step < 10; ++step) run.add({.step = step, .tensors = {scalar("loss", 1)}});
  run.add({.step = 5, .tensors = {scalar("loss", 2)}});
  run.add({.step = 9, .tensors = {kept("w", {1})}});  // in its place there is no loss any more
  const auto trial = run.open();
  EXPECT_EQ(TrialAccess::newest_step_of(*trial, "loss", Kept::kScalar), 8);
  EXPECT_EQ(trial->steps_of("loss").back(), 8);
}

TEST(Trial, FollowsAGrowingRun) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {1})}});
  const auto trial = run.open();
  EXPECT_EQ(trial->steps(), (Steps{0}));
  run.add({.step = 1, .tensors = {kept("w", {2}), kept("v", {3})}});
  EXPECT_EQ(trial->steps(), (Steps{0}));
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->steps(), (Steps{0, 1}));
  EXPECT_EQ(trial->complete_steps_after(0), (Steps{1}));
  EXPECT_EQ(trial->steps_of("w"), (Steps{0, 1}));
  run.add({.step = 2, .tensors = {kept("w", {4})}});
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->steps_of("w"), (Steps{0, 1, 2}));
  EXPECT_EQ(trial->value("v", 1)->to_doubles(), (std::vector<double>{3}));
  EXPECT_FALSE(trial->loaded_all_steps());
}

TEST(Trial, StateFollowsTheWriter) {
  TestRun run;
  run.add_steps(0, 2);
  const auto trial = run.open();
  EXPECT_EQ(trial->state(), RunState::kRunning);
  run.kill();
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->state(), RunState::kDied);
  EXPECT_TRUE(trial->loaded_all_steps());
  run.add_steps(3, 3);  // a new process goes on
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->state(), RunState::kRunning);
  EXPECT_EQ(trial->steps(), (Steps{0, 1, 2, 3}));
  run.end();
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->state(), RunState::kCompleted);
}

TEST(Trial, AStoppedRun) {
  TestRun run;
  run.add_steps(0, 0);
  run.event(R"({"type":"stop_accepted","key":"k"})");
  const auto running = run.open();
  EXPECT_TRUE(TrialAccess::stop_accepted(*running));
  run.end(0, true);
  EXPECT_EQ(run.open()->state(), RunState::kStopped);
}

TEST(Trial, AWorkerKnownToBeDeadIsNotWaitedFor) {
  TestRun run(3);
  for (const int worker : {0, 1, 2}) run.add_steps(0, 2, worker);
  run.add_steps(3, 6, 0);
  run.add_steps(3, 6, 2);
  const auto trial = run.open();
  EXPECT_EQ(trial->last_complete_step(), 2);
  EXPECT_EQ(trial->steps(Mode::kGlobal, true), (Steps{0, 1, 2, 3, 4, 5, 6}));
  run.kill(1);
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->last_complete_step(), 6);
  EXPECT_EQ(trial->state(), RunState::kRunning);
}

TEST(Trial, AWorkerThatHasNotStartedIsWaitedFor) {
  TestRun run(2);
  run.add_steps(0, 2, 0);
  const auto trial = run.open();
  EXPECT_EQ(trial->last_complete_step(), -1);
  EXPECT_EQ(trial->step_state(1), StepState::kNotYetAvailable);
  run.add_steps(0, 1, 1);
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->last_complete_step(), 1);
  EXPECT_EQ(trial->workers(), (Names{"rank-00000", "rank-00001"}));
}

TEST(Trial, AWorkerThatNeverStartedIsReported) {
  TestRun run(2);
  run.add_steps(0, 2, 0);
  run.end(0);
  const auto trial = run.open();
  EXPECT_EQ(trial->state(), RunState::kCompleted);
  EXPECT_EQ(trial->last_complete_step(), 2);
  ASSERT_EQ(trial->losses().size(), 1u);
  EXPECT_EQ(trial->losses()[0].where, "journal/rank-00001");
}

TEST(Trial, TheWindowPassesAStraggler) {
  TestRun run(2);
  run.start(1);
  run.add_steps(0, 19, 0);
  const auto trial = run.open({.incomplete_step_window = 10});
  EXPECT_EQ(trial->last_complete_step(), 4);
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->last_complete_step(), 9);
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->last_complete_step(), 9);
}

TEST(Trial, StepsOfATensorAreCompleteOnes) {  // scenario 17 of smdebug's step-state tests
  TestRun run(2);
  const auto tensors = [](std::int64_t step) -> std::vector<TestTensor> {
    return {step < 5 ? scalar("loss", 1) : reduced("gradient/w", {1})};
  };
  for (std::int64_t step = 0; step < 10; ++step) {
    run.add({.step = step, .tensors = tensors(step), .worker = 0});
    if (step != 3 && step != 4 && step < 8) run.add({.step = step, .tensors = tensors(step), .worker = 1});
  }
  const auto trial = run.open();
  EXPECT_EQ(trial->steps(), (Steps{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(trial->steps_of("loss"), (Steps{0, 1, 2, 3, 4}));
  EXPECT_EQ(trial->steps_of("gradient/w"), (Steps{5, 6, 7}));
}

TEST(Trial, AStepThatWasEndedAgainIsTheLaterOne) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {1})}});
  run.add({.step = 1, .tensors = {kept("w", {2}), kept("gone", {3})}});
  run.kill();
  run.add({.step = 1, .tensors = {kept("w", {5})}});
  const auto trial = run.open();
  EXPECT_EQ(trial->value("w", 1)->to_doubles(), (std::vector<double>{5}));
  EXPECT_EQ(trial->steps_of("w"), (Steps{0, 1}));
  EXPECT_TRUE(trial->steps_of("gone").empty());
  EXPECT_EQ(trial->tensor_info("w")->values, 2u);
}

TEST(TrialWait, ReturnsAtOnceWhenAllAreThere) {
  TestRun run;
  run.add_steps(0, 6);
  EXPECT_TRUE(run.open()->wait_for_steps(Steps{0, 1, 2, 3, 4, 5, 6}).ok());
}

TEST(TrialWait, AHoleAndTheEndAreOutOfRange) {
  TestRun run;
  for (const std::int64_t step : {0, 1, 2, 3, 5, 6}) run.add_steps(step, step);
  run.end();
  const auto trial = run.open();
  EXPECT_TRUE(trial->wait_for_steps(Steps{0, 1, 2, 3, 5, 6}).ok());
  const Status hole = trial->wait_for_steps(Steps{3, 4, 5});
  EXPECT_EQ(hole.code(), Code::kOutOfRange);
  EXPECT_TRUE(contains(hole, "step 4 was not saved")) << hole.message();
  const Status end = trial->wait_for_steps(Steps{6, 7});
  EXPECT_EQ(end.code(), Code::kOutOfRange);
  EXPECT_TRUE(contains(end, "completed")) << end.message();
  EXPECT_TRUE(contains(end, "step 6")) << end.message();
}

TEST(TrialWait, TimesOut) {
  TestRun run;
  run.add_steps(0, 0);
  const Status status = run.open()->wait_for_steps(Steps{1}, Mode::kGlobal, milliseconds(3));
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
  EXPECT_TRUE(contains(status, "running")) << status.message();
}

TEST(TrialWait, SeesTheStepsOfAnotherThread) {
  TestRun run;
  run.start(0);
  const auto trial = run.open();
  std::thread writer([&] {
    for (std::int64_t step = 0; step < 3; ++step) run.add({.step = step, .mode = Mode::kTrain});
  });
  const Status status = trial->wait_for_steps(Steps{0, 1, 2}, Mode::kTrain);
  writer.join();
  EXPECT_TRUE(status.ok()) << status.to_string();
}

TEST(TrialDamage, OneDamagedBundleLeavesTheRestReadable) {
  TestRun run;
  for (std::int64_t step = 0; step < 3; ++step) run.add({.step = step, .tensors = {kept("w", {7, 7, 7, 7})}});
  run.end();
  const std::string path =
      journal::journal_folder("rank-00000") + "/" + run.storage()->list("journal/rank-00000")->front();
  std::string content = run.storage()->content(path);
  const std::string values(reinterpret_cast<const char*>(std::vector<float>{7, 7, 7, 7}.data()), 16);
  const std::size_t second = content.find(values, content.find(values) + 1);
  ASSERT_NE(second, std::string::npos);
  content[second] ^= 1;
  run.storage()->set_content(path, content);

  const auto trial = run.open();
  EXPECT_EQ(trial->steps(), (Steps{0, 1, 2}));
  EXPECT_TRUE(trial->value("w", 0).ok());
  EXPECT_EQ(trial->value("w", 1).status().code(), Code::kDataLoss);
  EXPECT_TRUE(trial->value("w", 2).ok());
}

TEST(TrialDamage, ATornTailOfADeadRunIsReported) {
  TestRun run;
  run.add_steps(0, 2);
  run.kill();
  const std::string path =
      journal::journal_folder("rank-00000") + "/" + run.storage()->list("journal/rank-00000")->front();
  const std::string content = run.storage()->content(path);
  run.storage()->set_content(path, content.substr(0, content.size() - 10));
  const auto trial = run.open();
  EXPECT_EQ(trial->steps(), (Steps{0, 1}));
  EXPECT_FALSE(trial->losses().empty());
}

TEST(TrialNames, OfStates) {
  EXPECT_EQ(name(StepState::kNotYetAvailable), "not yet available");
  EXPECT_EQ(name(RunState::kDied), "died");
}

TEST(TrialState, ARunThatEndedAndIsGoneOnWithRunsAgain) {
  TestRun run;
  run.add_steps(0, 1);
  run.end();
  EXPECT_EQ(run.open()->state(), RunState::kCompleted);
  run.event(format::encode_run_resume());
  run.add_steps(2, 3);
  const auto going_on = run.open();
  EXPECT_EQ(going_on->state(), RunState::kRunning);
  EXPECT_EQ(going_on->steps().size(), 4u);
  run.end();
  EXPECT_EQ(run.open()->state(), RunState::kCompleted);
}

}  // namespace
}  // namespace trainwarden
