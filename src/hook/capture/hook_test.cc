// The hook from its public side, on a storage in memory: what goes in comes out of the run.
#include "trainwarden/hook.h"

#include <gtest/gtest.h>

#include <test_paths.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <thread>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "data/format/run_event.h"
#include "hook/capture/capture_testing.h"
#include "hook/capture/open_hook.h"
#include "hook/capture/staging/spare_memory.h"

namespace trainwarden::capture {
namespace {

using Names = std::vector<std::string>;

class HookTest : public testing::Test {
 protected:
  std::unique_ptr<Hook> open(HookOptions options) { return open_hook_on(*storage_, std::move(options)); }
  ReadRun read() { return read_run(*storage_); }

  const std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
};

std::vector<float> ramp(std::size_t count, float first = 0) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST_F(HookTest, ValuesAreThereAsSoonAsTheStepIsFlushed) {
  const auto hook = open(keep_all_of("^x"));
  std::vector<float> values = ramp(100);
  hook->save_tensor("x", view_of(values));
  hook->save_tensor("y", view_of(values));
  std::fill(values.begin(), values.end(), -1.0f);  // the memory is the caller's again
  const StepEnd end = hook->end_step();
  EXPECT_EQ(end.global_step, 0);
  EXPECT_FALSE(end.stop_requested);
  ASSERT_TRUE(hook->flush().ok());

  const ReadRun run = read();
  ASSERT_EQ(run.steps.size(), 1u);
  ASSERT_EQ(run.steps[0].values.size(), 1u) << "y was not wanted";
  EXPECT_EQ(floats_of(run.steps[0].values.at("x")), ramp(100));
  EXPECT_EQ(run.steps[0].values.at("x").shape, Shape({100}));
}

// The example of the specification: 2 train steps, 1 eval, 2 train.
TEST_F(HookTest, StepsCountGloballyAndInEachMode) {
  const auto hook = open(keep_all_of("x"));
  const Mode modes[] = {Mode::kTrain, Mode::kTrain, Mode::kEval, Mode::kTrain, Mode::kTrain};
  for (std::int64_t i = 0; i < 5; ++i) {
    hook->set_mode(modes[i]);
    hook->save_scalar("s", static_cast<double>(i));
    EXPECT_EQ(hook->global_step(), i);
    EXPECT_EQ(hook->end_step().global_step, i);
  }
  EXPECT_EQ(hook->mode(), Mode::kTrain);
  EXPECT_EQ(hook->mode_step(), 4);
  ASSERT_TRUE(hook->close().ok());
  const ReadRun run = read();
  ASSERT_EQ(run.steps.size(), 5u);
  const std::int64_t mode_steps[] = {0, 1, 0, 2, 3};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(run.steps[i].entry.global_step, static_cast<std::int64_t>(i));
    EXPECT_EQ(run.steps[i].entry.mode, modes[i]);
    EXPECT_EQ(run.steps[i].entry.mode_step, mode_steps[i]);
    EXPECT_EQ(run.steps[i].scalars.at("s"), static_cast<double>(i));
  }
}

TEST_F(HookTest, WithoutAModeThereAreOnlyGlobalSteps) {
  const auto hook = open(keep_all_of("x"));
  hook->end_step();
  hook->end_step();
  EXPECT_EQ(hook->mode(), Mode::kGlobal);
  EXPECT_EQ(hook->mode_step(), 2);
}

TEST_F(HookTest, SwitchingTheModeEndsAStepInWhichSomethingWasSaved) {
  const auto hook = open(keep_all_of("x"));
  hook->set_mode(Mode::kTrain);
  hook->save_scalar("s", 1);
  hook->set_mode(Mode::kTrain);
  EXPECT_EQ(hook->global_step(), 0) << "no switch";
  hook->set_mode(Mode::kEval);
  EXPECT_EQ(hook->global_step(), 1);
  hook->set_mode(Mode::kTrain);
  EXPECT_EQ(hook->global_step(), 1) << "nothing was saved in eval";
  EXPECT_EQ(hook->mode_step(), 1);
}

TEST_F(HookTest, StepsInWhichNothingWasSavedAreNotWritten) {
  HookOptions options = keep_all_of("x");
  options.save = SavePolicy::every(3);
  const auto hook = open(options);
  const std::vector<float> values = ramp(4);
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(hook->wants("x"), i % 3 == 0);
    hook->save_tensor("x", view_of(values));
    hook->end_step();
  }
  ASSERT_TRUE(hook->close().ok());
  std::vector<std::int64_t> steps;
  for (const ReadStep& step : read().steps) steps.push_back(step.entry.global_step);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{0, 3, 6}));
}

TEST_F(HookTest, EveryForm) {
  HookOptions options = keep_all_of("^none$");
  options.collections = {
      {.name = "reduced", .include = {"^r"}, .keep = KeepForm::reduced()},
      {.name = "full",
       .include = {"^f"},
       .keep = KeepForm{.values = true, .statistics = true, .histogram = true, .hash = true}},
      {.name = "shaped", .include = {"^s"}, .keep = KeepForm{.values = false, .shape = true}},
  };
  const auto hook = open(options);
  const std::vector<float> values = ramp(10, 1);
  for (const char* name : {"r", "f", "s"}) hook->save_tensor(name, view_of(values));
  hook->end_step();
  ASSERT_TRUE(hook->close().ok());
  const ReadRun run = read();
  ASSERT_EQ(run.steps.size(), 1u);
  const ReadStep& step = run.steps[0];
  EXPECT_EQ(step.values.size(), 1u);
  EXPECT_EQ(floats_of(step.values.at("f")), values);
  ASSERT_EQ(step.statistics.size(), 3u);
  const journal::StatisticsRow& reduced = step.statistics.at("r");
  EXPECT_EQ(reduced.statistics.count, 10u);
  EXPECT_EQ(reduced.statistics.max, 10.0);
  EXPECT_FALSE(reduced.statistics.has_hash);
  EXPECT_FALSE(reduced.shape_only);
  const journal::StatisticsRow& full = step.statistics.at("f");
  EXPECT_EQ(full.statistics.min, 1.0);
  EXPECT_TRUE(full.statistics.has_hash);
  EXPECT_TRUE(full.statistics.has_histogram);
  EXPECT_TRUE(step.statistics.at("s").shape_only);
  EXPECT_EQ(step.statistics.at("s").shape, Shape({10}));
  const HookReport report = hook->report();
  EXPECT_EQ(report.kept_tensors, 1u);
  EXPECT_EQ(report.kept_bytes, 40u);
  EXPECT_EQ(report.statistics, 3u);
  EXPECT_GT(report.training_thread_ns, 0);
}

TEST_F(HookTest, StridedTensorsArePacked) {
  const auto hook = open(keep_all_of("x"));
  const std::vector<float> values = ramp(6);
  const std::int64_t shape[] = {3, 2};
  const std::int64_t strides[] = {1, 3};
  const auto transposed = TensorView::strided(values.data(), DType::kFloat32, shape, strides);
  ASSERT_TRUE(transposed.ok());
  hook->save_tensor("x", *transposed);
  hook->end_step();
  ASSERT_TRUE(hook->close().ok());
  EXPECT_EQ(floats_of(read().steps.at(0).values.at("x")), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST_F(HookTest, EmptyAndScalarTensors) {
  const auto hook = open(keep_all_of("."));
  const float one = 1.5f;
  hook->save_tensor("empty", TensorView::of(nullptr, DType::kFloat32, Shape({0, 3})));
  hook->save_tensor("scalar", TensorView::of(&one, DType::kFloat32, Shape()));
  hook->end_step();
  ASSERT_TRUE(hook->close().ok());
  const ReadRun run = read();
  EXPECT_EQ(run.steps.at(0).values.at("empty").shape, Shape({0, 3}));
  EXPECT_EQ(floats_of(run.steps.at(0).values.at("scalar")), (std::vector<float>{1.5f}));
}

TEST_F(HookTest, Strings) {
  HookOptions options = keep_all_of("^kept");
  options.collections = {{.name = "reduced", .include = {"^reduced"}, .keep = KeepForm::reduced()}};
  const auto hook = open(options);
  const std::string_view words[] = {"a", "", "\xff\x00z"};
  hook->save_strings("kept", words);
  hook->save_strings("unwanted", words);
  hook->save_strings("reduced", words);
  hook->save_tensor("kept/view", TensorView::of(words, DType::kString, Shape({1, 3})));
  hook->end_step();
  ASSERT_TRUE(hook->close().ok());
  const ReadStep step = read().steps.at(0);
  EXPECT_EQ(step.values.size(), 2u);
  EXPECT_EQ(step.values.at("kept").strings, (Names{words[0].data(), "", std::string(words[2])}));
  EXPECT_EQ(step.values.at("kept/view").shape, Shape({1, 3}));
  EXPECT_TRUE(step.statistics.at("reduced").shape_only) << "strings have no statistics";
}

TEST_F(HookTest, ScalarsAreWrittenAtEveryStep) {
  HookOptions options;
  options.save = SavePolicy::every(1000);
  const auto hook = open(options);
  for (int i = 0; i < 3; ++i) {
    hook->save_scalar("accuracy", i / 2.0);
    hook->end_step();
  }
  ASSERT_TRUE(hook->close().ok());
  const ReadRun run = read();
  ASSERT_EQ(run.steps.size(), 3u);
  EXPECT_EQ(run.steps[2].scalars.at("accuracy"), 1.0);
  const Names& collections = run.collections_of.at("accuracy");
  EXPECT_TRUE(std::binary_search(collections.begin(), collections.end(), "scalars"));
  EXPECT_EQ(hook->report().scalars, 3u);
}

TEST_F(HookTest, CountingGoesOnWhereACheckpointWas) {
  HookOptions options = keep_all_of("x");
  options.save = SavePolicy::every(2);
  options.first_global_step = 7;
  options.first_mode_steps[index_of(Mode::kTrain)] = 4;
  const auto hook = open(options);
  EXPECT_EQ(hook->mode_step(), 7) << "without a mode it is the global step";
  hook->set_mode(Mode::kTrain);
  const std::vector<float> values = {1};
  for (int step = 0; step < 3; ++step) {
    hook->save_tensor("x", view_of(values));
    hook->end_step();
  }
  hook->set_mode(Mode::kEval);
  EXPECT_EQ(hook->mode_step(), 0);
  ASSERT_TRUE(hook->close().ok());
  const ReadRun run = read();
  ASSERT_EQ(run.steps.size(), 2u);
  EXPECT_EQ(run.steps[0].entry.global_step, 7);
  EXPECT_EQ(run.steps[0].entry.mode_step, 4);
  EXPECT_EQ(run.steps[1].entry.global_step, 9);
  EXPECT_EQ(run.steps[1].entry.mode_step, 6);
}

TEST_F(HookTest, ANameTwiceInAStepGetsASuffix) {
  const auto hook = open(keep_all_of("relu"));
  const std::vector<float> first = {1};
  const std::vector<float> second = {2};
  for (int step = 0; step < 2; ++step) {
    hook->save_tensor("relu", view_of(first));
    hook->save_tensor("relu", view_of(second));
    hook->save_scalar("loss", 1);
    hook->save_scalar("loss", 2);
    hook->end_step();
  }
  ASSERT_TRUE(hook->close().ok());
  for (const ReadStep& step : read().steps) {
    EXPECT_EQ(floats_of(step.values.at("relu")), first);
    EXPECT_EQ(floats_of(step.values.at("relu#1")), second);
    EXPECT_EQ(step.scalars.at("loss"), 1);
    EXPECT_EQ(step.scalars.at("loss#1"), 2);
  }
}

TEST_F(HookTest, NamesMayHoldAnyBytes) {
  HookOptions options = keep_all_of(".");
  options.save_all = true;
  const auto hook = open(options);
  const std::vector<float> values = {1};
  const std::string names[] = {"__metadata__",          "100%",   "\xff\xfe", std::string("nul\0nul", 7), "line\nbreak",
                               "\xc3\xbc/\xe6\xbc\xa2", "a\"b\\c"};
  for (const std::string& name : names) hook->save_tensor(name, view_of(values));
  hook->end_step();
  ASSERT_TRUE(hook->close().ok());
  const ReadRun run = read();
  for (const std::string& name : names) EXPECT_TRUE(run.steps.at(0).values.contains(name)) << name;
}

TEST_F(HookTest, DeclaredTensorsBelongWhereTheyWereDeclared) {
  HookOptions options;
  options.save = SavePolicy::every(1);
  const auto hook = open(options);
  const TensorId plain = hook->declare("plain");
  const std::string_view mine[] = {"mine"};
  const TensorId declared = hook->declare("declared", mine);
  EXPECT_EQ(hook->declare("declared"), declared);
  EXPECT_FALSE(hook->wants(plain));
  EXPECT_TRUE(hook->wants(declared));
  EXPECT_TRUE(hook->wants_collection("mine"));
  const std::vector<float> values = {3};
  hook->save_tensor(plain, view_of(values));
  hook->save_tensor(declared, view_of(values));
  hook->end_step();
  ASSERT_TRUE(hook->close().ok());
  const ReadRun run = read();
  EXPECT_EQ(run.steps.at(0).values.size(), 1u);
  EXPECT_EQ(run.collections_of.at("declared"), (Names{"all", "mine"}));
}

TEST_F(HookTest, IdsThatWereNeverDeclaredAreLosses) {
  const auto hook = open(keep_all_of("x"));
  const std::vector<float> values = {3};
  hook->save_tensor(TensorId{77}, view_of(values));
  EXPECT_EQ(lost(hook->report(), LossCause::kUnsupported), 1u);
}

TEST_F(HookTest, WhatCannotBeReadHereIsUnsupported) {
  const auto hook = open(keep_all_of("x"));
  const std::vector<float> values = ramp(4);
  TensorView elsewhere = view_of(values);
  elsewhere.device.type = DeviceType::kRocm;
  hook->save_tensor("x", elsewhere);
  hook->save_tensor("x2", TensorView::of(nullptr, DType::kFloat32, Shape({4})));
  hook->end_step();
  ASSERT_TRUE(hook->close().ok());
  const HookReport report = hook->report();
  EXPECT_EQ(lost(report, LossCause::kUnsupported), 2u);
  EXPECT_NE(report.losses.at(0).first_message.find("x: tensors on devices of DLPack's type 10"), std::string::npos);
  EXPECT_EQ(read().lost("unsupported"), 2u);
}

TEST_F(HookTest, LongNamesAreLosses) {
  const auto hook = open(keep_all_of("x"));
  const std::vector<float> values = {1};
  hook->save_tensor(std::string(10000, 'x'), view_of(values));
  hook->save_scalar(std::string(10000, 'y'), 1);
  EXPECT_EQ(lost(hook->report(), LossCause::kUnsupported), 2u);
}

TEST_F(HookTest, TheManifestSaysWhatWasAskedFor) {
  HookOptions options = keep_all_of("conv");
  options.collections = {{.name = "mine", .include = {"fc"}, .keep = KeepForm::reduced()}};
  const auto hook = open(options);
  hook->save_scalar("s", 1);
  hook->end_step();
  ASSERT_TRUE(hook->close().ok());
  const ReadRun run = read();
  const auto mine = std::find_if(run.collections.begin(), run.collections.end(),
                                 [](const Collection& collection) { return collection.name == "mine"; });
  ASSERT_NE(mine, run.collections.end());
  EXPECT_EQ(*mine->keep, KeepForm::reduced());
  EXPECT_EQ((*mine->save)[Mode::kTrain]->save_interval, 1);
}

TEST_F(HookTest, RunJsonSaysWhoRan) {
  HookOptions options;
  options.world_size = 2;
  options.rank = 1;
  options.labels = {{"lr", "0.1"}};
  options.code_version = "abc";
  options.framework = "PyTorch 2.11.0";
  ASSERT_TRUE(open(options)->close().ok());
  const auto info = journal::read_run(*storage_);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->id.size(), 32u);
  EXPECT_EQ(info->world_size, 2);
  EXPECT_EQ(info->labels.at("lr"), "0.1");
  EXPECT_EQ(info->code_version, "abc");
  EXPECT_EQ(info->framework, "PyTorch 2.11.0");
  ASSERT_FALSE(info->command.empty());
  EXPECT_NE(info->command[0].find("capture_tests"), std::string::npos);
}

TEST_F(HookTest, CloseEndsTheOpenStepAndTheRun) {
  const auto hook = open(keep_all_of("x"));
  hook->save_scalar("s", 1);
  EXPECT_TRUE(hook->close().ok());
  EXPECT_TRUE(hook->close().ok()) << "again";
  const ReadRun run = read();
  EXPECT_EQ(run.steps.size(), 1u);
  ASSERT_EQ(run.events.size(), 2u) << "the bill, and the end";
  const auto end = format::decode_run_end(run.events[1]);
  ASSERT_TRUE(end.ok() && end->has_value());
  EXPECT_FALSE((*end)->stopped);
  EXPECT_FALSE(storage_->locked(journal::writer_lock("rank-00000")));
}

TEST_F(HookTest, TheDestructorCloses) {
  open(keep_all_of("x"))->save_scalar("s", 1);
  EXPECT_EQ(read().steps.size(), 1u);
  EXPECT_EQ(read().events.size(), 2u);
}

TEST_F(HookTest, WhatIsSavedAfterTheEndIsCounted) {
  const auto hook = open(keep_all_of("x"));
  ASSERT_TRUE(hook->close().ok());
  const std::vector<float> values = {1};
  hook->save_tensor("x", view_of(values));
  hook->save_scalar("s", 1);
  hook->end_step();
  EXPECT_EQ(lost(hook->report(), LossCause::kHookOff), 2u);
  EXPECT_FALSE(hook->report().on);
  EXPECT_EQ(hook->report().off_reason, "closed");
}

TEST_F(HookTest, AFinishedRunIsRefused) {
  ASSERT_TRUE(open(keep_all_of("x"))->close().ok());
  const auto again = HookOpener::open(HookOptions(), borrowed(*storage_), system_clock());
  EXPECT_EQ(again.status().code(), Code::kAlreadyExists);
  EXPECT_NE(again.status().message().find("finished run"), std::string::npos);
  EXPECT_NE(again.status().message().find("choose a new folder"), std::string::npos);
  EXPECT_FALSE(storage_->locked(journal::writer_lock("rank-00000"))) << "the attempt leaves no lock behind";
}

TEST_F(HookTest, AFinishedRunIsGoneOnWithWhenThatIsWanted) {
  const std::vector<float> values = {1};
  const auto step_of = [&](Hook& hook) {
    hook.save_tensor("x", view_of(values));
    hook.end_step();
  };
  const auto first = open(keep_all_of("x"));
  step_of(*first);
  ASSERT_TRUE(first->close().ok());
  HookOptions options = keep_all_of("x");
  options.resume = true;
  options.first_global_step = 1;
  const auto second = open(options);
  step_of(*second);
  EXPECT_EQ(second->report().off_reason, "");
  ASSERT_TRUE(second->close().ok());
  EXPECT_EQ(HookOpener::open(HookOptions(), borrowed(*storage_), system_clock()).status().code(), Code::kAlreadyExists)
      << "it has ended once more";
}

TEST_F(HookTest, TwoHooksOnOneRank) {
  const auto hook = open(keep_all_of("x"));
  const auto other = HookOpener::open(HookOptions(), borrowed(*storage_), system_clock());
  EXPECT_EQ(other.status().code(), Code::kAlreadyExists);
}

TEST_F(HookTest, RanksShareARunAndMustAgreeOnItsSize) {
  HookOptions options = keep_all_of("x");
  options.world_size = 2;
  const auto first = open(options);
  options.rank = 1;
  const auto second = open(options);
  second->save_scalar("s", 1);
  ASSERT_TRUE(second->close().ok());
  EXPECT_EQ(read_run(*storage_, 1).steps.size(), 1u);
  options.world_size = 3;
  options.rank = 2;
  const auto third = HookOpener::open(options, borrowed(*storage_), system_clock());
  EXPECT_EQ(third.status().code(), Code::kFailedPrecondition);
}

TEST_F(HookTest, FewerRanksGoOnWithARunAndTheOthersHaveLeftIt) {
  HookOptions options = keep_all_of("x");
  options.world_size = 2;
  ASSERT_TRUE(open(options)->close().ok());
  HookOptions fewer = keep_all_of("x");
  EXPECT_EQ(HookOpener::open(fewer, borrowed(*storage_), system_clock()).status().code(), Code::kFailedPrecondition);
  fewer.resume = true;
  const auto alone = open(fewer);
  ASSERT_EQ(alone->report().off_reason, "");
  const ReadRun absent = read_run(*storage_, 1);
  ASSERT_EQ(absent.events.size(), 1u);
  const auto end = format::decode_run_end(absent.events[0]);
  ASSERT_TRUE(end.ok() && *end);
  EXPECT_EQ((*end)->reason, "the run goes on with 1 of 2 workers");
}

TEST_F(HookTest, BadOptions) {
  const auto error_of = [&](auto change) {
    HookOptions options;
    change(options);
    const auto hook = HookOpener::open(options, borrowed(*storage_), system_clock());
    EXPECT_EQ(hook.status().code(), Code::kInvalidArgument);
    return hook.status().message();
  };
  EXPECT_EQ(error_of([](HookOptions& options) { options.rank = 1; }),
            "rank must be in [0, world_size = 1), not 1; set both");
  EXPECT_EQ(error_of([](HookOptions& options) { options.world_size = 0; }), "world_size must be at least 1, not 0");
  EXPECT_NE(error_of([](HookOptions& options) { options.staging_bytes = 100; }).find("staging_bytes (100)"),
            std::string::npos);
  EXPECT_NE(error_of([](HookOptions& options) { options.include = {"("}; }).find("does not compile"),
            std::string::npos);
  EXPECT_FALSE(storage_->exists(journal::kRunFile)) << "nothing is created for a hook that cannot be";
}

TEST_F(HookTest, ADryRunDecidesAndWritesNothing) {
  HookOptions options = keep_all_of("x");
  options.dry_run = true;
  const auto hook = open(options);
  const std::vector<float> values = ramp(8);
  EXPECT_TRUE(hook->wants("x"));
  hook->save_tensor("x", view_of(values));
  hook->end_step();
  EXPECT_TRUE(hook->flush().ok());
  EXPECT_EQ(hook->report().kept_tensors, 1u);
  EXPECT_TRUE(hook->close().ok());
  EXPECT_FALSE(storage_->exists(journal::kRunFile));
}

// A step larger than the area is at first arrives whole, unless the user has said how large the area is.
TEST_F(HookTest, TheStagingAreaGrowsForAStepThatNeedsIt) {
  constexpr std::size_t kTensorBytes = std::size_t{23} << 20;
  constexpr int kTensors = 20;  // 460 MiB, as an evaluation of 10,000 images that is one step
  if (spare_memory_bytes().value_or(0) < (std::uint64_t{2} << 30))
    GTEST_SKIP() << "this machine has no memory to spare";
  const std::vector<float> values = ramp(kTensorBytes / sizeof(float));
  for (const bool said : {false, true}) {
    HookOptions options = keep_all_of("conv0");
    options.dry_run = true;
    options.staging_bytes = said ? std::size_t{255} << 20 : HookOptions().staging_bytes;
    const auto hook = open(options);
    // Not by the thread that drives training, which hands parts of its step over.
    std::thread([&] {
      for (int i = 0; i < kTensors; ++i) hook->save_tensor(fmt::format("conv0_output_{}", i), view_of(values));
    }).join();
    hook->end_step();
    EXPECT_TRUE(hook->close().ok());
    const HookReport report = hook->report();
    EXPECT_EQ(report.kept_tensors, said ? 11u : 20u);
    EXPECT_EQ(report.losses.size(), said ? 1u : 0u);
  }
}

TEST(DisabledHook, EveryCallIsANoOpAndStepsAreCounted) {
  const auto hook = Hook::disabled();
  const std::vector<float> values = {1};
  EXPECT_EQ(hook->declare("x"), TensorId());
  EXPECT_FALSE(hook->wants("x"));
  EXPECT_FALSE(hook->wants_collection("losses"));
  hook->set_mode(Mode::kTrain);
  hook->save_tensor("x", view_of(values));
  hook->save_scalar("s", 1);
  EXPECT_EQ(hook->end_step().mode_step, 0);
  EXPECT_EQ(hook->end_step().mode_step, 1);
  EXPECT_EQ(hook->global_step(), 2);
  EXPECT_TRUE(hook->flush().ok());
  EXPECT_TRUE(hook->close().ok());
  EXPECT_FALSE(hook->report().on);
  EXPECT_EQ(hook->report().off_reason, "disabled");
}

class HookFolderTest : public testing::Test {
 protected:
  HookFolderTest() { std::filesystem::remove_all(folder_); }
  ~HookFolderTest() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path folder_ =
      std::filesystem::path(TW_BINARY_DIR) /
      (std::string("hook_test_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(HookFolderTest, OpensAFolderThatIsNotThereYet) {
  HookOptions options = keep_all_of("x");
  options.run_dir = folder_ / "deep" / "down";
  auto hook = Hook::open(options);
  ASSERT_TRUE(hook.ok()) << hook.status().to_string();
  EXPECT_TRUE(std::filesystem::exists(options.run_dir / "run.json"));
  EXPECT_EQ((*hook)->options().run_dir, options.run_dir);
}

TEST_F(HookFolderTest, ARunDirIsNeeded) {
  const auto hook = Hook::open(HookOptions());
  EXPECT_EQ(hook.status().code(), Code::kInvalidArgument);
  EXPECT_NE(hook.status().message().find("run_dir is not set"), std::string::npos);
}

TEST_F(HookFolderTest, ADryRunNeedsNoRunDir) {
  HookOptions options;
  options.dry_run = true;
  EXPECT_TRUE(Hook::open(options).ok());
}

TEST_F(HookFolderTest, AFolderThatCannotBeMadeIsAClearError) {
  HookOptions options;
  options.run_dir = "/proc/no_runs_here";
  const auto hook = Hook::open(options);
  ASSERT_FALSE(hook.ok());
  EXPECT_NE(hook.status().message().find("/proc/no_runs_here"), std::string::npos) << hook.status().to_string();
}

TEST_F(HookFolderTest, TheEnvironmentCanSwitchItOff) {
  ::setenv("TRAINWARDEN", "0", 1);
  const auto hook = Hook::open(HookOptions());
  ::unsetenv("TRAINWARDEN");
  ASSERT_TRUE(hook.ok());
  EXPECT_FALSE((*hook)->report().on);
}

}  // namespace
}  // namespace trainwarden::capture
