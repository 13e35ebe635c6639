// What is captured is changed while the training goes on: requests, an edited configuration, answers, and the run.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/clock.h"
#include "core/base/folder_testing.h"
#include "core/base/log.h"
#include "data/format/capture_events.h"
#include "data/format/control_record.h"
#include "hook/capture/capture_testing.h"
#include "hook/capture/config/config_source.h"
#include "hook/capture/open_hook.h"
#include "store/storage/faulty_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::capture {
namespace {

const std::vector<float> kValues = {1, 2, 3};

class HookChange : public testing::Test {
 protected:
  HookChange() {
    set_log_sink([](LogLevel, std::string_view) {});
  }
  ~HookChange() override { set_log_sink(nullptr); }

  void open(HookOptions options = {}) {
    options.save = SavePolicy::every(1);
    options.staging_bytes = std::size_t{4} << 20;
    options.when_full = WhenFull::kBlock;
    hook_ = open_hook_on(*storage_, std::move(options));
  }

  void ask(const std::string& key, const std::string& options, bool only = false) {
    const format::CaptureRequest request{
        .key = key, .options = options, .only = only, .requested_by = "test", .unix_ns = ++asked_};
    ASSERT_TRUE(storage_->create_folder(format::kControlFolder).ok());
    ASSERT_TRUE(
        storage_->put_if_absent(format::capture_request_path(key), as_bytes(format::encode_capture_request(request)))
            .ok());
  }

  void train_a_step() {
    for (const char* name : {"conv.weight", "gradient/conv.weight", "relu_output_0"}) {
      hook_->save_tensor(name, view_of(kValues));
    }
    hook_->save_scalar("s", 1);
    hook_->end_step();
    ASSERT_TRUE(hook_->flush().ok());
  }

  // Trains until the run has the answer to the request.
  format::CaptureAnswer train_until_answered(const std::string& key) {
    for (;;) {
      train_a_step();
      for (const std::string& event : read_run(*storage_).events) {
        const auto answer = format::decode_capture_answer(event);
        if (answer.ok() && *answer && (*answer)->key == key) return **answer;
      }
    }
  }

  std::vector<std::int64_t> steps_with(const std::string& tensor) {
    std::vector<std::int64_t> steps;
    for (const ReadStep& step : read_run(*storage_).steps) {
      if (step.values.contains(tensor) || step.statistics.contains(tensor)) steps.push_back(step.entry.global_step);
    }
    return steps;
  }

  const std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
  std::unique_ptr<Hook> hook_;
  std::int64_t asked_ = 0;
};

TEST_F(HookChange, TakesEffectAtTheStepThatTheAnswerNames) {
  open({.include_collections = {"weights"}});
  const TensorId gradient = hook_->declare("gradient/conv.weight");
  train_a_step();
  EXPECT_FALSE(hook_->wants(gradient));
  ask("more", R"({"include_collections": ["gradients"], "keep": {"values": false, "statistics": true}})");
  const format::CaptureAnswer answer = train_until_answered("more");
  EXPECT_TRUE(answer.accepted);
  EXPECT_EQ(answer.source, "control/capture-more.json");
  EXPECT_TRUE(hook_->wants(gradient)) << "ids stay";
  EXPECT_EQ(hook_->declare("gradient/conv.weight"), gradient);
  train_a_step();
  ASSERT_TRUE(hook_->close().ok());

  EXPECT_EQ(steps_with("gradient/conv.weight").front(), answer.global_step);
  EXPECT_EQ(steps_with("conv.weight").front(), 0);
  const ReadRun run = read_run(*storage_);
  EXPECT_TRUE(run.steps.back().statistics.contains("conv.weight"));
  EXPECT_FALSE(run.steps.back().values.contains("conv.weight"));
  for (const Collection& collection : run.collections) {
    const bool saved = collection.save.has_value();
    const bool expected = collection.name == "gradients" || collection.name == "weights" ||
                          collection.name == "losses" || collection.name == "scalars";
    EXPECT_EQ(saved, expected) << collection.name << ": the run says what is captured now";
  }
}

TEST_F(HookChange, ANewCollectionGetsTheTensorsThatAreKnown) {
  open();
  train_a_step();
  ask("relu", R"({"collections": [{"name": "activations", "include": ["relu"]}]})");
  train_until_answered("relu");
  train_a_step();
  ASSERT_TRUE(hook_->close().ok());
  EXPECT_FALSE(steps_with("relu_output_0").empty());
  EXPECT_EQ(read_run(*storage_).collections_of.at("relu_output_0"),
            (std::vector<std::string>{"activations", "all", "outputs"}));
}

TEST_F(HookChange, OnlyTakesDeclaredCollectionsToo) {
  open({.include_collections = {"weights"}});
  const std::string_view mine[] = {"mine"};
  const TensorId tensor = hook_->declare("a tensor", mine);
  EXPECT_TRUE(hook_->wants(tensor));
  ask("only", R"({"include_collections": ["gradients"]})", true);
  train_until_answered("only");
  EXPECT_FALSE(hook_->wants(tensor));
  EXPECT_FALSE(hook_->wants("conv.weight"));
  EXPECT_TRUE(hook_->wants("gradient/conv.weight"));
  EXPECT_TRUE(hook_->wants("loss_output_0"));
  ask("again", R"({"collections": [{"name": "mine"}]})");
  EXPECT_FALSE(train_until_answered("again").accepted) << "it has no members of its own";
}

TEST_F(HookChange, ARefusalSaysWhyAndChangesNothing) {
  open({.include_collections = {"weights"}});
  ask("wrong", R"({"include": ["conv("]})");
  const format::CaptureAnswer answer = train_until_answered("wrong");
  EXPECT_FALSE(answer.accepted);
  EXPECT_NE(answer.error.find("pattern \"conv(\" does not compile"), std::string::npos) << answer.error;
  EXPECT_TRUE(hook_->wants("conv.weight"));
  EXPECT_FALSE(hook_->wants("relu_output_0"));
}

TEST_F(HookChange, RequestsStillHoldAfterARestartAndAreAnsweredOnce) {
  const auto faulty = storage::create_faulty_storage(*storage_);
  hook_ = open_hook_on(*faulty, HookOptions{.save = SavePolicy::every(1)});
  ask("more", R"({"include_collections": ["gradients"]})");
  train_until_answered("more");
  faulty->set_plan({.fail_call = 0, .fail_all_after = true});  // dies without a word
  hook_.reset();

  open();
  EXPECT_TRUE(hook_->wants("gradient/conv.weight"));
  train_a_step();
  ASSERT_TRUE(hook_->close().ok());
  int answers = 0;
  for (const std::string& event : read_run(*storage_).events) {
    const auto answer = format::decode_capture_answer(event);
    if (answer.ok() && *answer) ++answers;
  }
  EXPECT_EQ(answers, 1);
}

TEST_F(HookChange, AWorkerThatComesLateFindsTheRequest) {
  ask("early", R"({"include_collections": ["gradients"]})");
  open();
  EXPECT_TRUE(hook_->wants("gradient/conv.weight")) << "from its first step on";
  EXPECT_EQ(train_until_answered("early").global_step, 0);
}

TEST_F(HookChange, ABudgetMayBeSet) {
  open();
  ask("budget", R"({"budget": "1%"})");
  train_until_answered("budget");
  EXPECT_EQ(hook_->report().bill.budget, 0.01);
}

// Threads save while what is wanted changes under them: nothing that is kept is torn, and everything settles.
TEST_F(HookChange, ManyChangesWhileManyThreadsSave) {
  open({.include_collections = {"weights"}});
  constexpr int kChanges = 40;
  std::atomic<bool> done = false;
  const auto save = [&](std::string_view kind) {
    for (std::int64_t step = -1; !done; step = hook_->global_step()) {
      for (int layer = 0; layer < 20; ++layer) {
        const std::string name = "layer" + std::to_string(layer) + std::string(kind);
        hook_->save_tensor(name, view_of(kValues));
        static_cast<void>(hook_->wants_collection("outputs"));
        static_cast<void>(hook_->next_wanted_step(hook_->declare(name)));
      }
      hook_->save_tensor("shared.output", view_of(kValues));
      while (!done && hook_->global_step() == step) std::this_thread::yield();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (const char* kind : {".weight", ".output", ".weight.output"}) threads.emplace_back(save, kind);
    for (int i = 0; i < kChanges; ++i) {
      const bool outputs = i % 2 == 0;
      ask(std::to_string(i), outputs ? R"({"include": ["output"]})" : R"({"include_collections": ["weights"]})", true);
      while (hook_->wants("layer1.output") != outputs || hook_->wants("layer2.weight") == outputs) hook_->end_step();
    }
    done = true;
  }
  ASSERT_TRUE(hook_->close().ok());
  EXPECT_TRUE(hook_->report().losses.empty());
  for (const ReadStep& step : read_run(*storage_).steps) {
    for (const auto& [name, value] : step.values) EXPECT_EQ(floats_of(value), kValues) << name;
  }
}

TEST(ConfigWatch, TellsOfAnEditOnceItHasSettled) {
  const TestFolder folder;
  const std::filesystem::path file = folder.path() / "config.json";
  const auto write = [&](const char* text) { std::ofstream(file, std::ios::trunc) << text; };
  write("{}");
  auto source = std::make_shared<ConfigSource>();
  source->file = file;
  source->text = "{}";
  ConfigWatch watch(source);
  EXPECT_EQ(watch.look(), std::nullopt);
  write(R"({"budget")");
  EXPECT_EQ(watch.look(), std::nullopt) << "an editor may be at it";
  write(R"({"budget": 0.1})");
  EXPECT_EQ(watch.look(), std::nullopt);
  EXPECT_EQ(watch.look(), R"({"budget": 0.1})");
  EXPECT_EQ(watch.look(), std::nullopt) << "once";
  std::filesystem::remove(file);
  EXPECT_EQ(watch.look(), std::nullopt) << "a file that is gone changes nothing";
}

}  // namespace
}  // namespace trainwarden::capture
