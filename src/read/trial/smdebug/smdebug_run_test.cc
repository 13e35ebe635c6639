// Folders of smdebug's as they are found: whole, damaged, unfinished, and while they are written.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "data/foreign/smdebug_layout.h"
#include "read/trial/smdebug/smdebug_testing.h"
#include "read/trial/trial_access.h"
#include "store/storage/faulty_storage.h"

namespace trainwarden {
namespace {

namespace fs = std::filesystem;
using Steps = std::vector<std::int64_t>;
using Names = std::vector<std::string>;
using Doubles = std::vector<double>;

std::string reduction_tag(Reduction reduction, bool abs, std::string_view tensor) {
  return foreign::smdebug_reduction_tag({reduction, abs, tensor});
}

foreign::SmdebugCollection collection(std::string name, std::vector<std::string> include,
                                      std::vector<std::string> tensors = {}) {
  foreign::SmdebugCollection collection;
  collection.collection.name = std::move(name);
  collection.collection.include = std::move(include);
  collection.collection.tensor_names = std::move(tensors);
  return collection;
}

bool says(const Status& status, std::string_view text) {
  return status.message().find(text) != std::string::npos;
}

TEST(SmdebugRun, ReadsValuesReductionsAndShapes) {
  SmdebugTestRun run;
  run.add({.step = 3,
           .tensors = {{"w", {1, 2}},
                       {reduction_tag(Reduction::kL2, false, "g"), {5}},
                       {reduction_tag(Reduction::kMean, true, "g"), {0.25}},
                       {reduction_tag(Reduction::kMax, false, "w"), {2}}},
           .shapes = {{"x", "original/x", Shape{4, 5}}}});
  const auto trial = run.open();
  EXPECT_EQ(*trial->tensor_names(), (Names{"g", "w", "x"}));
  EXPECT_EQ(trial->value("w", 3)->to_doubles(), (Doubles{1, 2}));
  EXPECT_EQ(trial->reduction("w", 3, Reduction::kMax).value_or(0), 2);
  EXPECT_EQ(*trial->saved_reductions("g", 3),
            (std::vector<SavedReduction>{{Reduction::kL2, false, 5}, {Reduction::kMean, true, 0.25}}));
  EXPECT_EQ(trial->reduction("g", 3, Reduction::kMean, true).value_or(0), 0.25);
  EXPECT_EQ(trial->shape("x", 3).value_or({}), (Shape{4, 5}));
  EXPECT_EQ(trial->shape("w", 3).value_or({}), (Shape{2}));
  EXPECT_EQ(trial->value("x", 3).status().code(), Code::kOutOfRange);
  EXPECT_EQ(trial->value("g", 3).status().code(), Code::kOutOfRange);
}

TEST(SmdebugRun, TheLaterEntryOfANameWins) {
  SmdebugTestRun run;
  const std::string tag = reduction_tag(Reduction::kMin, false, "g");
  run.add({.tensors = {{"w", {1}}, {tag, {3}}, {"w", {2}}, {tag, {4}}}});
  const auto trial = run.open();
  EXPECT_EQ(trial->value("w", 0)->to_doubles(), Doubles{2});
  EXPECT_EQ(*trial->saved_reductions("g", 0), (std::vector<SavedReduction>{{Reduction::kMin, false, 4}}));
  EXPECT_EQ(trial->tensor_info("w")->values, 1u);
}

TEST(SmdebugRun, TakesBothFooters) {
  SmdebugTestRun run;
  SmdebugTestFiles files = smdebug_files({.step = 0}, foreign::RecordFooter::kPayloadCrc);
  run.put(files.index.event_file, files.events);
  run.put(foreign::smdebug_index_file(0, "worker_0"), foreign::encode_smdebug_index(files.index));
  run.add({.step = 1});
  const auto trial = run.open();
  EXPECT_EQ(trial->value("loss", 0)->to_doubles(), Doubles{1});
  EXPECT_EQ(trial->value("loss", 1)->to_doubles(), Doubles{1});
}

TEST(SmdebugRun, TakesCsvIndexesAndTellsStepAndWorkerByTheName) {
  SmdebugTestRun run(0);
  SmdebugTestFiles files = smdebug_files({.step = 5, .worker = "algo-1"});
  run.put(files.index.event_file, files.events);
  run.put("index/000000000/000000000005_algo-1.csv", foreign::encode_smdebug_index(files.index));
  run.add({.step = 6, .worker = "/job:worker/replica:0"});
  const auto trial = run.open();
  EXPECT_EQ(trial->workers(), (Names{"/job:worker/replica:0", "algo-1"}));
  EXPECT_EQ(trial->value("loss", 5, Mode::kGlobal, "algo-1")->to_doubles(), Doubles{1});
  EXPECT_EQ(trial->workers_of("loss", 6), Names{"/job:worker/replica:0"});
}

TEST(SmdebugRun, GradientsMayBeNamedEitherWay) {
  SmdebugTestRun run(1, {collection("gradients", {"^gradient"})});
  run.add({.tensors = {{"gradient/w", {1}}, {"gradients/w", {2}}, {"w", {3}}}});
  EXPECT_EQ(*run.open()->tensor_names({.collection = "gradients"}), (Names{"gradient/w", "gradients/w"}));
}

TEST(SmdebugRun, IgnoresWhatWasNotCommitted) {
  SmdebugTestRun run;
  run.add({.step = 0});
  const SmdebugTestFiles files = smdebug_files({.step = 1});
  run.put(files.index.event_file, files.events);  // the index never came
  run.put(foreign::smdebug_index_file(1, "worker_0") + ".tmp", foreign::encode_smdebug_index(files.index));
  run.put("collections/000000000/worker_1_collections.json.tmp", "{");
  run.put("index/000000000/notes.txt", "");
  run.put("claim.smd", "");
  const auto trial = run.open();
  EXPECT_EQ(trial->steps(Mode::kGlobal, true), Steps{0});
  EXPECT_EQ(trial->workers(), Names{"worker_0"});
  EXPECT_TRUE(trial->losses().empty());
}

TEST(SmdebugRun, AnEventFileMayStillCome) {
  SmdebugTestRun run;
  const SmdebugTestFiles files = smdebug_files({.step = 0});
  run.put(foreign::smdebug_index_file(0, "worker_0"), foreign::encode_smdebug_index(files.index));
  const auto trial = run.open();
  const Status missing = trial->value("loss", 0).status();
  EXPECT_EQ(missing.code(), Code::kUnavailable);
  EXPECT_TRUE(says(missing, "event file missing")) << missing.message();
  EXPECT_EQ(trial->last_unix_ns(), 0);

  run.put(files.index.event_file, files.events);
  EXPECT_TRUE(trial->value("loss", 0).ok());
  EXPECT_EQ(trial->last_unix_ns(), 1'600'000'000'000'000'000);
}

TEST(SmdebugRun, AnEventFileThatNeverCame) {
  SmdebugTestRun run;
  run.put(foreign::smdebug_index_file(0, "worker_0"), foreign::encode_smdebug_index(smdebug_files({.step = 0}).index));
  run.add({.step = 1});
  const auto trial = run.open();
  const Status missing = trial->value("loss", 0).status();
  EXPECT_EQ(missing.code(), Code::kOutOfRange) << "a later step is there";
  EXPECT_TRUE(says(missing, "event file missing")) << missing.message();
  EXPECT_TRUE(trial->value("loss", 1).ok());
}

TEST(SmdebugRun, DamageIsOneRecordsAffair) {
  SmdebugTestRun run;
  run.add({.step = 0, .tensors = {{"a", {1}}, {"b", {2}}}});
  const std::string path = foreign::smdebug_event_file(0, "worker_0");
  std::string events = run.storage()->content(path);
  events[3] = static_cast<char>(events[3] ^ 1);  // in the length of the first record
  run.put(path, events);
  const auto trial = run.open();
  const Status damage = trial->value("a", 0).status();
  EXPECT_EQ(damage.code(), Code::kDataLoss);
  EXPECT_TRUE(says(damage, path)) << damage.message();
  EXPECT_EQ(trial->value("b", 0)->to_doubles(), Doubles{2});
  run.put(path, events.substr(0, 40));
  EXPECT_EQ(trial->value("b", 0).status().code(), Code::kDataLoss);
}

TEST(SmdebugRun, AFileThatWasWrittenAgainIsNotTakenForTheOldOne) {
  SmdebugTestRun run;
  run.add({.step = 0, .tensors = {{"a", {1}}}});
  const auto trial = run.open();
  run.add({.step = 0, .tensors = {{"b", {1}}}});
  EXPECT_EQ(trial->value("a", 0).status().code(), Code::kDataLoss);
}

TEST(SmdebugRun, ABadIndexFileIsALossUntilItIsGood) {
  SmdebugTestRun run;
  run.add_steps(0, 2);
  const std::string path = foreign::smdebug_index_file(1, "worker_0");
  const std::string good = run.storage()->content(path);
  run.put(path, good.substr(0, good.size() / 2));
  const auto trial = run.open();
  EXPECT_EQ(trial->steps(), (Steps{0, 2}));
  ASSERT_EQ(trial->losses().size(), 1u);
  EXPECT_EQ(trial->losses()[0].where, path);
  EXPECT_NE(trial->losses()[0].cause.find("unusable index file"), std::string::npos);
  EXPECT_FALSE(trial->losses()[0].by_writer);

  run.put(path, good);
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->steps(), (Steps{0, 1, 2}));
  EXPECT_TRUE(trial->losses().empty());
  EXPECT_TRUE(trial->value("loss", 1).ok());
}

TEST(SmdebugRun, WithoutManifestsTheWorkersAreThoseThatWrote) {
  SmdebugTestRun run(0);
  run.add({.step = 0});
  const auto trial = run.open();
  EXPECT_EQ(trial->world_size(), 1);
  EXPECT_EQ(trial->last_complete_step(), 0);
  run.add({.step = 1});
  run.add({.step = 1, .worker = "worker_1"});
  run.add({.step = 2});
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->world_size(), 2);
  EXPECT_EQ(trial->workers(), (Names{"worker_0", "worker_1"}));
  EXPECT_EQ(trial->last_complete_step(), 1) << "the second worker is waited for from now on";
}

// As smdebug counts: two programs that each believed to be alone write under two names.
TEST(SmdebugRun, HowManyWorkersThereAreIsWhatTheManifestSays) {
  SmdebugTestRun run(1);
  run.add_steps(0, 1, {"worker_0", "worker_7"});
  run.add({.step = 2, .worker = "worker_7"});
  const auto trial = run.open();
  EXPECT_EQ(trial->world_size(), 1);
  EXPECT_EQ(trial->workers(), (Names{"worker_0", "worker_7"}));
  EXPECT_EQ(trial->steps(), (Steps{0, 1, 2})) << "one worker has ended it, and there is one";
  EXPECT_EQ(trial->workers_of("loss", 1), (Names{"worker_0", "worker_7"}));
}

TEST(SmdebugRun, AnIndexWithoutAnEventFileIsAStep) {
  SmdebugTestRun run;
  run.put("index/000000000/000000000000_worker_0.json",
          R"({"meta":{"mode":"TRAIN","mode_step":0,"event_file_name":""},)"
          R"("tensor_payload":[{"tensorname":"gradient/dummy","start_idx":0,"length":1}]})");
  run.add({.step = 1, .mode = Mode::kTrain});
  const auto trial = run.open();
  EXPECT_EQ(trial->steps(), (Steps{0, 1}));
  EXPECT_EQ(*trial->tensor_names({.step = 0}), Names{"gradient/dummy"});
  EXPECT_TRUE(trial->losses().empty());
  EXPECT_GT(trial->created_unix_ns(), 0) << "from the step that has values";
  const Status status = trial->value("gradient/dummy", 0).status();
  EXPECT_EQ(status.code(), Code::kOutOfRange);
  EXPECT_TRUE(says(status, "the index of step 0 names no event file")) << status.message();
}

TEST(SmdebugRun, ABadManifestLeavesTheOthers) {
  SmdebugTestRun run(2, {collection("c", {"^loss"})});
  run.put(foreign::smdebug_manifest_file("worker_1"), "{\"collections\":");
  run.add({.step = 0});
  const auto trial = run.open();
  EXPECT_EQ(trial->world_size(), 2);
  EXPECT_EQ(trial->workers(), (Names{"worker_0", "worker_1"}));
  EXPECT_EQ(*trial->tensor_names({.collection = "c"}), Names{"loss"});
  ASSERT_EQ(trial->losses().size(), 1u);
  EXPECT_NE(trial->losses()[0].cause.find("unusable manifest"), std::string::npos);
}

TEST(SmdebugRun, AManifestThatAnnouncesTooManyWorkersIsBad) {
  SmdebugTestRun run(0);
  foreign::SmdebugManifest manifest;
  manifest.num_workers = 2'000'000'000;
  run.manifest("worker_0", manifest);
  const auto trial = run.open();
  EXPECT_EQ(trial->world_size(), 1);
  EXPECT_EQ(trial->losses().size(), 1u);
}

TEST(SmdebugRun, ManifestsMayComeLaterAndChange) {
  SmdebugTestRun run(0);
  run.add({.tensors = {{"a", {1}}, {"b", {2}}}});
  const auto trial = run.open();
  EXPECT_TRUE(trial->collections().empty());
  foreign::SmdebugManifest manifest;
  manifest.num_workers = 3;
  manifest.collections = {collection("c", {}, {"a"})};
  run.manifest("worker_0", manifest);
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(*trial->tensor_names({.collection = "c"}), Names{"a"});
  EXPECT_EQ(trial->world_size(), 3);
  manifest.collections = {collection("c", {}, {"a", "b"})};
  run.manifest("worker_0", manifest);
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(*trial->tensor_names({.collection = "c"}), (Names{"a", "b"}));
}

TEST(SmdebugRun, AWorkerThatFellSilentIsNotTakenForDead) {
  SmdebugTestRun run(2);
  run.add_steps(0, 1, {"worker_0", "worker_1"});
  run.add_steps(2, 3);
  const auto trial = run.open();
  EXPECT_EQ(trial->state(), RunState::kRunning);
  EXPECT_EQ(trial->last_complete_step(), 1);
  EXPECT_EQ(TrialAccess::living_workers(*trial), (Names{"worker_0", "worker_1"}));
  run.end();
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->state(), RunState::kCompleted);
  EXPECT_EQ(trial->last_complete_step(), 3);
  EXPECT_TRUE(TrialAccess::living_workers(*trial).empty());
}

TEST(SmdebugRun, AnAnnouncedWorkerThatNeverCameIsALossAtTheEnd) {
  SmdebugTestRun run(0);
  foreign::SmdebugManifest manifest;
  manifest.num_workers = 2;
  run.manifest("worker_0", manifest);
  run.add({.step = 0});
  const auto trial = run.open();
  EXPECT_TRUE(trial->losses().empty());
  run.end();
  ASSERT_TRUE(trial->refresh().ok());
  ASSERT_EQ(trial->losses().size(), 1u);
  EXPECT_EQ(trial->losses()[0].cause, "worker never started");
}

TEST(SmdebugRun, WhatTheWindowPassedByIsReadAtTheEnd) {
  SmdebugTestRun run(2);
  run.add_steps(0, 1999);
  const auto trial = run.open({.incomplete_step_window = 10});
  while (trial->last_complete_step() < 1500) ASSERT_TRUE(trial->refresh().ok());
  run.add({.step = 7, .worker = "worker_1"});
  run.end();
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->workers_of("loss", 7), (Names{"worker_0", "worker_1"}));
}

TEST(SmdebugRun, ReadsManyFilesInOrder) {
  SmdebugTestRun run(2);
  run.add_steps(0, 2499, {"worker_0", "worker_1"});
  run.add({.step = 2500, .tensors = {{"late", {7}}}});
  const auto trial = run.open();
  EXPECT_EQ(trial->steps().size(), 2500u);
  EXPECT_EQ(trial->steps_of("loss").size(), 2500u);
  EXPECT_EQ(trial->last_complete_step(), 2499);
  EXPECT_EQ(trial->value("late", 2500)->to_doubles(), Doubles{7});
}

TEST(SmdebugRun, WhatTheStorageRefusedIsReadAtTheNextRefresh) {
  SmdebugTestRun run(2, {collection("c", {"^loss"})});
  run.add_steps(0, 2, {"worker_0", "worker_1"});
  run.end();
  const std::shared_ptr<storage::FaultyStorage> faulty = storage::create_faulty_storage(*run.storage());
  std::int64_t fault = 0;
  do {
    SCOPED_TRACE(fault);
    faulty->set_plan({.fail_call = fault, .code = Code::kUnavailable});
    auto trial = TrialAccess::open(faulty);
    const bool all_calls_succeeded = faulty->calls() <= fault;
    faulty->set_plan({});
    if (!trial.ok()) trial = TrialAccess::open(faulty);
    ASSERT_TRUE(trial.ok()) << trial.status().to_string();
    ASSERT_TRUE((*trial)->refresh().ok());
    EXPECT_EQ((*trial)->steps(), (Steps{0, 1, 2}));
    EXPECT_EQ((*trial)->workers_of("loss", 1), (Names{"worker_0", "worker_1"}));
    EXPECT_EQ(*(*trial)->tensor_names({.collection = "c"}), Names{"loss"});
    EXPECT_EQ((*trial)->created_unix_ns(), 1'600'000'000'000'000'000);
    EXPECT_TRUE((*trial)->losses().empty());
    if (all_calls_succeeded) break;
  } while (++fault < 1000);
  EXPECT_GT(fault, 10);
  EXPECT_LT(fault, 1000);
}

TEST(SmdebugRun, FoldersWithLittleInThem) {
  EXPECT_EQ(TrialAccess::open(std::shared_ptr(storage::create_memory_storage())).status().code(), Code::kNotFound);
  SmdebugTestRun only_manifest;
  EXPECT_TRUE(only_manifest.open()->steps().empty());
  EXPECT_EQ(only_manifest.open()->workers(), Names{"worker_0"});
  SmdebugTestRun ended;
  ended.end();
  EXPECT_TRUE(ended.open()->loaded_all_steps());
  EXPECT_EQ(ended.open()->created_unix_ns(), 0);
}

TEST(SmdebugRun, TheIdIsTheFoldersOwn) {
  SmdebugTestRun run;
  run.add_steps(0, 1);
  const std::string id = run.open()->run_id();
  EXPECT_EQ(id.size(), 32u);
  EXPECT_EQ(run.open()->run_id(), id);
  EXPECT_EQ(run.open()->created_unix_ns(), 1'600'000'000'000'000'000);
  SmdebugTestRun other;
  EXPECT_TRUE(TrialAccess::check_same_run(*other.open()).ok());
  other.add_steps(1, 2);
  EXPECT_NE(other.open()->run_id(), id);
}

// Appears whole, as smdebug's files do.
void write_whole(const fs::path& path, const std::string& content) {
  fs::create_directories(path.parent_path());
  const fs::path temporary = path.string() + ".tmp";
  std::ofstream(temporary, std::ios::binary) << content;
  fs::rename(temporary, path);
}

TEST(SmdebugRun, IsReadWhileItIsWritten) {
  constexpr std::int64_t kSteps = 100;
  const TestFolder folder;
  fs::create_directories(folder.path() / "collections");
  const auto trial = Trial::open(folder.path());
  ASSERT_TRUE(trial.ok()) << trial.status().to_string();
  std::jthread writer([&] {
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const SmdebugTestFiles files = smdebug_files({.step = step, .tensors = {{"w", {static_cast<float>(step)}}}});
      write_whole(folder.path() / files.index.event_file, files.events);
      write_whole(folder.path() / foreign::smdebug_index_file(step, "worker_0"),
                  foreign::encode_smdebug_index(files.index));
    }
    write_whole(folder.path() / std::string(foreign::kSmdebugEndMarker), "");
  });
  std::int64_t seen = -1;
  while (!(*trial)->loaded_all_steps()) {
    ASSERT_TRUE((*trial)->refresh().ok());
    for (const std::int64_t step : (*trial)->complete_steps_after(seen)) {
      EXPECT_EQ(step, seen + 1) << "steps come in order, none is left out";
      EXPECT_EQ((*trial)->scalar("w", step).value_or(-1), static_cast<double>(step));
      seen = step;
    }
  }
  writer.join();
  EXPECT_EQ(seen, kSteps - 1);
}

}  // namespace
}  // namespace trainwarden
