// The black box from the hook's public side: what it holds comes out of a dump bit for bit, and what it could not hold
// is reported.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <thread>

#include "core/base/await_testing.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "data/format/control_record.h"
#include "data/format/json.h"
#include "hook/capture/black_box/box_slot.h"
#include "hook/capture/capture_testing.h"
#include "hook/capture/open_hook.h"
#include "store/storage/faulty_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::capture {
namespace {

using Names = std::vector<std::string>;

// A folder of another storage as a storage of its own: a dump is a run.
class SubFolder {
 public:
  SubFolder(const storage::Storage& from, const std::string& folder) { copy(from, folder, ""); }
  const storage::Storage& storage() const { return *storage_; }

 private:
  void copy(const storage::Storage& from, const std::string& source, const std::string& target) {
    const auto names = from.list(source);
    ASSERT_TRUE(names.ok()) << names.status().to_string();
    for (const std::string& name : *names) {
      const std::string path = source + "/" + name;
      const std::string own = target.empty() ? name : target + "/" + name;
      if (from.list(path).ok()) {
        ASSERT_TRUE(storage_->create_folder(own).ok());
        copy(from, path, own);
      } else {
        const auto text = from.read(path, 1u << 30);
        ASSERT_TRUE(text.ok());
        ASSERT_TRUE(storage_->put_if_absent(own, as_bytes(*text)).ok());
      }
    }
  }

  const std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
};

HookOptions options_with_box(int steps) {
  HookOptions options;
  options.black_box.steps = steps;
  return options;
}

std::vector<float> values_of_step(std::size_t count, std::int64_t step) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), static_cast<float>(step) * 1000);
  return values;
}

class BlackBoxTest : public testing::Test {
 protected:
  void SetUp() override {
    set_log_sink([](LogLevel, std::string_view) {});
  }
  void TearDown() override { set_log_sink(nullptr); }

  std::unique_ptr<Hook> open(HookOptions options) { return open_hook_on(*storage_, std::move(options)); }

  // Saves into the open step what values_of_step makes of it.
  static void fill_step(Hook& hook, std::size_t count = 100) {
    const std::vector<float> values = values_of_step(count, hook.global_step());
    hook.save_tensor("fc.weight", view_of(values));
    hook.save_tensor("gradient/fc.weight", view_of(values));
  }
  static void train_step(Hook& hook, std::size_t count = 100) {
    fill_step(hook, count);
    hook.end_step();
  }

  std::string only_dump(Hook& hook) {
    EXPECT_TRUE(hook.flush().ok());
    const Names dumps = hook.report().black_box.dumps;
    EXPECT_EQ(dumps.size(), 1u);
    return dumps.empty() ? "" : dumps.front();
  }
  ReadRun read_dump(const std::string& dump) { return read_run(SubFolder(*storage_, dump).storage()); }
  format::Json replay_of(const std::string& dump) {
    const auto text = storage_->read(dump + "/replay.json");
    EXPECT_TRUE(text.ok()) << text.status().to_string();
    const auto json = format::parse_json_object(*text, "replay.json");
    EXPECT_TRUE(json.ok()) << json.status().to_string();
    return *json;
  }

  const std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
};

TEST_F(BlackBoxTest, HoldsTheLastStepsAndTheOpenOneWholeAndNothingOfThemIsInTheRun) {
  const auto hook = open(options_with_box(3));
  hook->set_mode(Mode::kTrain);
  for (int i = 0; i < 10; ++i) train_step(*hook);
  fill_step(*hook);
  ASSERT_TRUE(hook->dump_black_box({.kind = "request", .message = "for the test"}));
  const std::string dump = only_dump(*hook);
  EXPECT_EQ(dump, "blackbox/step-000010-rank-00000");

  const ReadRun run = read_dump(dump);
  ASSERT_EQ(run.steps.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const ReadStep& step = run.steps[i];
    EXPECT_EQ(step.entry.global_step, static_cast<std::int64_t>(7 + i));
    EXPECT_EQ(step.entry.mode, Mode::kTrain);
    EXPECT_EQ(step.entry.mode_step, static_cast<std::int64_t>(7 + i));
    ASSERT_EQ(step.values.size(), 2u);
    EXPECT_EQ(floats_of(step.values.at("fc.weight")), values_of_step(100, step.entry.global_step));
    EXPECT_EQ(floats_of(step.values.at("gradient/fc.weight")), values_of_step(100, step.entry.global_step));
  }
  EXPECT_EQ(run.collections_of.at("gradient/fc.weight"), (Names{"all", "gradients"}));
  ASSERT_EQ(run.events.size(), 1u) << "the run's end: it is not alive";

  ASSERT_TRUE(hook->close().ok());
  for (const ReadStep& step : read_run(*storage_).steps) EXPECT_TRUE(step.values.empty() && step.statistics.empty());
}

TEST_F(BlackBoxTest, EveryKindOfTensorComesBackAsItWas) {
  const auto hook = open(options_with_box(1));
  const std::vector<std::uint8_t> bytes = {1, 2, 3};
  const std::vector<double> doubles = {1.5, -2.5, 1e300, 4};
  const std::vector<std::int64_t> matrix = {1, 2, 3, 4, 5, 6};
  const std::vector<std::uint16_t> halves = {0x3c00, 0x7e00};
  hook->remember("bytes", TensorView::of(bytes.data(), DType::kUInt8, Shape({3})));
  hook->remember("complex", TensorView::of(doubles.data(), DType::kComplex128, Shape({2})));
  hook->remember("nothing", TensorView::of(nullptr, DType::kFloat32, Shape({0, 7})));
  hook->remember("half", TensorView::of(halves.data(), DType::kFloat16, Shape({2})));
  const std::int64_t sizes[] = {3, 2};
  const std::int64_t strides[] = {1, 3};
  hook->remember("transposed \"%\n", *TensorView::strided(matrix.data(), DType::kInt64, sizes, strides));
  hook->save_scalar("accuracy", 0.25);
  ASSERT_TRUE(hook->dump_black_box({}));
  const ReadRun run = read_dump(only_dump(*hook));
  ASSERT_EQ(run.steps.size(), 1u);
  const auto& values = run.steps[0].values;
  ASSERT_EQ(values.size(), 6u);
  const auto same = [&](const std::string& name, const void* data, std::size_t size) {
    const TensorValue& value = values.at(name);
    return value.data.size() == size && (size == 0 || std::memcmp(value.data.data(), data, size) == 0);
  };
  EXPECT_TRUE(same("bytes", bytes.data(), 3));
  EXPECT_TRUE(same("complex", doubles.data(), 32));
  EXPECT_EQ(values.at("complex").dtype, DType::kComplex128);
  EXPECT_EQ(values.at("complex").shape, Shape({2}));
  EXPECT_TRUE(same("nothing", nullptr, 0));
  EXPECT_EQ(values.at("nothing").shape, Shape({0, 7}));
  EXPECT_TRUE(same("half", halves.data(), 4));
  const std::vector<std::int64_t> transposed = {1, 4, 2, 5, 3, 6};
  EXPECT_TRUE(same("transposed \"%\n", transposed.data(), 48));
  const double accuracy = 0.25;
  EXPECT_TRUE(same("accuracy", &accuracy, sizeof accuracy));
}

TEST_F(BlackBoxTest, ANameThatIsSavedTwiceGetsTheSuffixThatIsFree) {
  const auto hook = open(options_with_box(1));
  const std::vector<float> a = {1}, b = {2}, c = {3};
  hook->remember("x#1", view_of(c));
  hook->remember("x", view_of(a));
  hook->remember("x", view_of(b));
  ASSERT_TRUE(hook->dump_black_box({}));
  const ReadRun run = read_dump(only_dump(*hook));
  const auto& values = run.steps[0].values;
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(floats_of(values.at("x")), a);
  EXPECT_EQ(floats_of(values.at("x#1")), c);
  EXPECT_EQ(floats_of(values.at("x#2")), b);
}

TEST_F(BlackBoxTest, SaysWhyWhichBatchesToSkipAndWhichStatesToReplayFrom) {
  const auto hook = open(options_with_box(2));
  hook->set_mode(Mode::kTrain);
  for (std::int64_t step = 0; step < 5; ++step) {
    const std::vector<std::int64_t> indices = {step * 2, step * 2 + 1};
    const std::vector<std::uint8_t> state = {7, 7};
    hook->save_scalar("trainwarden/batch/epoch", 1);
    hook->save_scalar("trainwarden/batch/number", static_cast<double>(step));
    hook->remember("trainwarden/batch/indices", TensorView::of(indices.data(), DType::kInt64, Shape({1})));
    hook->remember("trainwarden/batch/indices", TensorView::of(indices.data(), DType::kInt64, Shape({2})));
    hook->remember("trainwarden/rng/torch", TensorView::of(state.data(), DType::kUInt8, Shape({2})));
    hook->end_step();
  }
  ASSERT_TRUE(hook->dump_black_box({.kind = "rule", .message = "it is NaN", .rule = "NaNLoss", .failing_step = 3}));
  const std::string dump = only_dump(*hook);
  EXPECT_EQ(dump, "blackbox/step-000003-rank-00000");
  const format::Json replay = replay_of(dump);
  EXPECT_EQ(replay["why"],
            format::Json::parse(R"({"kind":"rule","message":"it is NaN","rule":"NaNLoss","signal":null})"));
  EXPECT_EQ(replay["failing_step"], 3);
  EXPECT_EQ(replay["failing_step_held"], true);
  EXPECT_EQ(replay["skip"], format::Json::parse(R"([{"global_step":3,"epoch":1,"number":3,"indices":[6,7]}])"));
  EXPECT_EQ(replay["generator_states"], format::Json::parse(R"(["trainwarden/rng/torch"])"));
  ASSERT_EQ(replay["steps"].size(), 2u);
  EXPECT_EQ(replay["steps"][1]["global_step"], 4);
  EXPECT_EQ(replay["steps"][1]["batch"]["indices"], format::Json::parse("[8,9]"));
  EXPECT_EQ(replay["rank"], 0);
}

TEST_F(BlackBoxTest, AStepThatIsNotHeldAnyMoreIsSaid) {
  const auto hook = open(options_with_box(2));
  for (int i = 0; i < 6; ++i) train_step(*hook);
  ASSERT_TRUE(hook->dump_black_box({.kind = "rule", .message = "late", .rule = "R", .failing_step = 1}));
  const format::Json replay = replay_of(only_dump(*hook));
  EXPECT_EQ(replay["failing_step"], 1);
  EXPECT_EQ(replay["failing_step_held"], false);
  EXPECT_TRUE(replay["skip"].empty());
}

// What is too much for the box: outputs go first, then weights, then gradients; what they left behind is reported.
TEST_F(BlackBoxTest, GivesUpItsBiggestCollectionsAndTellsWhatIsMissing) {
  HookOptions options = options_with_box(1);
  options.black_box.bytes = 64 << 10;  // 32 KiB for each of two steps
  const auto hook = open(options);
  const std::vector<float> big(5000, 1.0f);  // 20 KB
  const std::vector<float> small(10, 2.0f);
  const auto train = [&] {
    hook->save_tensor("net_output_0", view_of(big));
    hook->save_tensor("gradient/w", view_of(big));
    hook->save_tensor("w.weight", view_of(small));
    hook->remember("trainwarden/batch/indices", view_of(small));
  };
  train();
  hook->end_step();
  EXPECT_EQ(hook->report().black_box.missing, 1u) << "the gradient found no room";
  EXPECT_EQ(hook->report().black_box.given_up, Names{"outputs"});
  EXPECT_FALSE(hook->wants("net_output_0"));
  train();
  ASSERT_TRUE(hook->dump_black_box({}));
  const std::string dump = only_dump(*hook);
  const ReadRun run = read_dump(dump);
  ASSERT_EQ(run.steps.size(), 2u);
  EXPECT_EQ(run.steps[0].values.size(), 3u);
  EXPECT_EQ(run.lost("staging_full"), 1u);
  EXPECT_EQ(run.steps[1].values.size(), 3u);
  EXPECT_TRUE(run.steps[1].values.contains("gradient/w"));
  const format::Json replay = replay_of(dump);
  EXPECT_EQ(replay["given_up"], format::Json::parse(R"(["outputs"])"));
  EXPECT_EQ(replay["steps"][0]["missing_tensors"], 1);
  EXPECT_EQ(replay["steps"][0]["missing_bytes"], 20000);
  EXPECT_EQ(replay["steps"][1]["missing_tensors"], 0);
}

TEST_F(BlackBoxTest, NeverHoldsMoreThanItsBytes) {
  HookOptions options = options_with_box(3);
  options.black_box.bytes = 64 << 10;
  const auto hook = open(options);
  for (int i = 0; i < 50; ++i) train_step(*hook, 400);
  EXPECT_EQ(hook->report().black_box.bytes, 64u << 10);
  ASSERT_TRUE(hook->dump_black_box({}));
  std::size_t bytes = 0;
  for (const ReadStep& step : read_dump(only_dump(*hook)).steps) {
    for (const auto& [name, value] : step.values) bytes += value.data.size();
  }
  EXPECT_EQ(bytes, 3u * 2 * 1600);
}

TEST_F(BlackBoxTest, OffItWantsRemembersAndWritesNothing) {
  const auto hook = open(HookOptions());
  EXPECT_FALSE(hook->remembers());
  EXPECT_FALSE(hook->wants("fc.weight"));
  const std::vector<float> values = {1};
  hook->remember("x", view_of(values));
  EXPECT_FALSE(hook->dump_black_box({}));
  EXPECT_FALSE(hook->report().black_box.on);
  EXPECT_FALSE(storage_->exists("blackbox"));
}

TEST_F(BlackBoxTest, OnItWantsItsCollectionsAtEveryStep) {
  const auto hook = open(options_with_box(2));
  EXPECT_TRUE(hook->remembers());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(hook->wants_anything());
    EXPECT_TRUE(hook->wants_collection("gradients"));
    EXPECT_TRUE(hook->wants("fc.weight"));
    EXPECT_EQ(hook->next_wanted_step(hook->declare("fc.weight")), hook->mode_step());
    EXPECT_FALSE(hook->wants_collection("optimizer_state"));
    EXPECT_FALSE(hook->wants("something else"));
    hook->end_step();
  }
}

TEST_F(BlackBoxTest, BadOptionsAreRefused) {
  const auto message = [&](const HookOptions& options) {
    const auto storage = storage::create_memory_storage();
    const auto hook = HookOpener::open(options, borrowed(*storage), system_clock());
    return hook.status().message();
  };
  HookOptions options = options_with_box(65);
  EXPECT_NE(message(options).find("steps must be from 1 to 64, not 65"), std::string::npos) << message(options);
  options = options_with_box(3);
  options.black_box.bytes = 4096;
  EXPECT_NE(message(options).find("4.0 KiB for 3 steps is too little"), std::string::npos) << message(options);
  options = options_with_box(3);
  options.black_box.collections = {"wights"};
  EXPECT_NE(message(options).find("black_box: names collection \"wights\""), std::string::npos) << message(options);
}

TEST_F(BlackBoxTest, ARequestInTheControlFolderIsAnsweredAndTold) {
  const auto hook = open(options_with_box(3));
  train_step(*hook);
  train_step(*hook);
  const format::BlackBoxRequest request{
      .key = "nan-1", .reason = "NaNLoss fired", .rule = "NaNLoss", .global_step = 1, .requested_by = "watch-0"};
  ASSERT_TRUE(storage_
                  ->put_if_absent(format::black_box_request_path(request.key),
                                  as_bytes(format::encode_black_box_request(request)))
                  .ok());
  EXPECT_TRUE(await([&] { return !hook->report().black_box.dumps.empty(); }));
  const std::string dump = only_dump(*hook);
  EXPECT_EQ(dump, "blackbox/step-000001-rank-00000");
  EXPECT_EQ(replay_of(dump)["why"]["rule"], "NaNLoss");
  ASSERT_TRUE(hook->close().ok());
  const ReadRun run = read_run(*storage_);
  EXPECT_TRUE(std::any_of(run.events.begin(), run.events.end(), [](const std::string& event) {
    return event.find(R"("type":"black_box","path":"blackbox/step-000001-rank-00000")") != std::string::npos &&
           event.find(R"("key":"nan-1")") != std::string::npos;
  }));
}

TEST_F(BlackBoxTest, RulesThatFireForOneFailureGetOneDump) {
  const auto hook = open(options_with_box(3));
  for (int i = 0; i < 5; ++i) train_step(*hook);
  EXPECT_TRUE(hook->dump_black_box({.kind = "rule", .message = "a", .rule = "A", .failing_step = 3}));
  EXPECT_TRUE(hook->dump_black_box({.kind = "rule", .message = "b", .rule = "B", .failing_step = 4}));
  EXPECT_EQ(replay_of(only_dump(*hook))["why"]["rule"], "A");
  train_step(*hook);
  EXPECT_TRUE(hook->dump_black_box({.kind = "rule", .message = "c", .rule = "C", .failing_step = 5}));
  ASSERT_TRUE(hook->flush().ok());
  EXPECT_EQ(hook->report().black_box.dumps.size(), 2u);
}

TEST_F(BlackBoxTest, TheFirstLossThatIsNotFiniteIsWrittenByItself) {
  const auto hook = open(options_with_box(2));
  for (int i = 0; i < 6; ++i) {
    fill_step(*hook);
    const std::vector<float> loss = {i >= 3 ? std::nanf("") : 1.0f};
    hook->save_tensor("CrossEntropyLoss_output_0", view_of(loss));
    hook->end_step();
  }
  const std::string dump = only_dump(*hook);
  EXPECT_EQ(dump, "blackbox/step-000003-rank-00000");
  const format::Json replay = replay_of(dump);
  EXPECT_EQ(replay["why"]["kind"], "loss");
  EXPECT_EQ(replay["why"]["message"], "CrossEntropyLoss_output_0 is not a finite number");
  EXPECT_EQ(replay["failing_step"], 3);
  EXPECT_EQ(read_dump(dump).steps.back().values.size(), 3u);
}

TEST(BoxSlot, KnowsWhichElementsAreNotFinite) {
  const auto found = [](DType dtype, auto value) { return has_non_finite(dtype, std::as_bytes(std::span(&value, 1))); };
  EXPECT_TRUE(found(DType::kFloat64, std::nan("")));
  EXPECT_TRUE(found(DType::kFloat64, -std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(found(DType::kFloat64, std::numeric_limits<double>::max()));
  EXPECT_FALSE(found(DType::kFloat32, std::numeric_limits<float>::max()));
  EXPECT_TRUE(found(DType::kFloat32, std::numeric_limits<float>::infinity()));
  EXPECT_TRUE(found(DType::kFloat16, std::uint16_t{0x7e00}));
  EXPECT_FALSE(found(DType::kFloat16, std::uint16_t{0x7bff}));
  EXPECT_TRUE(found(DType::kBFloat16, std::uint16_t{0x7f80}));
  EXPECT_FALSE(found(DType::kInt32, std::int32_t{-1}));
}

TEST_F(BlackBoxTest, IsWrittenEightTimesAtMostEachInAFolderOfItsOwn) {
  const auto hook = open(options_with_box(1));
  train_step(*hook);
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(hook->dump_black_box({}));
    ASSERT_TRUE(hook->flush().ok());
  }
  EXPECT_FALSE(hook->dump_black_box({}));
  const Names dumps = hook->report().black_box.dumps;
  ASSERT_EQ(dumps.size(), 8u);
  EXPECT_EQ(dumps[1], "blackbox/step-000000-rank-00000-1");
  EXPECT_EQ(read_dump(dumps[7]).steps.size(), 1u);
}

TEST_F(BlackBoxTest, ADumpThatCannotBeWrittenIsToldAndTrainingGoesOn) {
  const auto faulty = storage::create_faulty_storage(*storage_);
  const auto hook = open_hook_on(*faulty, options_with_box(1));
  train_step(*hook);
  ASSERT_TRUE(hook->flush().ok());
  faulty->set_plan({.fail_call = 0, .fail_all_after = true});
  ASSERT_TRUE(hook->dump_black_box({}));
  EXPECT_FALSE(hook->flush().ok());
  faulty->set_plan({});
  EXPECT_TRUE(hook->report().black_box.dumps.empty());
  train_step(*hook);
  EXPECT_TRUE(hook->report().on);
  ASSERT_TRUE(hook->close().ok());
  const ReadRun run = read_run(*storage_);
  EXPECT_TRUE(std::any_of(run.events.begin(), run.events.end(), [](const std::string& event) {
    return event.find(R"("type":"black_box","path":"","error":")") != std::string::npos;
  }));
}

TEST_F(BlackBoxTest, WhatWasRememberedStaysWhenTheModeIsSwitched) {
  const auto hook = open(options_with_box(1));
  const std::vector<float> values = {4};
  hook->remember("state", view_of(values));
  hook->set_mode(Mode::kEval);
  EXPECT_EQ(hook->global_step(), 0) << "remembering begins no step";
  ASSERT_TRUE(hook->dump_black_box({}));
  const ReadRun run = read_dump(only_dump(*hook));
  ASSERT_EQ(run.steps.size(), 1u);
  EXPECT_EQ(run.steps[0].entry.mode, Mode::kEval);
  EXPECT_EQ(floats_of(run.steps[0].values.at("state")), values);
}

// Threads fill, the driver ends steps, dumps are taken and written: each dump is whole, and each step of it has what
// one step had.
TEST_F(BlackBoxTest, ManyThreadsFillItWhileItIsWritten) {
  HookOptions options = options_with_box(3);
  options.black_box.collections = {"weights"};
  const auto hook = open(options);
  std::atomic<bool> done = false;
  std::atomic<int> saved = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const std::string name = "t" + std::to_string(t) + ".weight";
      while (!done) {
        const std::vector<float> values(500, static_cast<float>(t));
        hook->save_tensor(name, view_of(values));
        ++saved;
        std::this_thread::yield();
      }
    });
  }
  for (int i = 0; i < 400; ++i) {
    for (const int before = saved; saved == before;) std::this_thread::yield();  // each step has something in it
    hook->end_step();
    if (i % 50 == 49) hook->dump_black_box({});  // false when the slots are all being written
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(hook->flush().ok());
  const Names dumps = hook->report().black_box.dumps;
  ASSERT_FALSE(dumps.empty());
  std::size_t seen = 0;
  for (const std::string& dump : dumps) {
    for (const ReadStep& step : read_dump(dump).steps) {
      for (const auto& [name, value] : step.values) {
        EXPECT_EQ(floats_of(value), std::vector<float>(500, static_cast<float>(name[1] - '0'))) << name;
        ++seen;
      }
    }
  }
  EXPECT_GT(seen, 0u);
}

}  // namespace
}  // namespace trainwarden::capture
