// A request for a checkpoint on its way from the control folder to the training and back into the run.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>

#include "core/base/folder_testing.h"
#include "core/base/log.h"
#include "data/format/checkpoint_events.h"
#include "data/format/control_record.h"
#include "data/format/run_event.h"
#include "hook/capture/capture_testing.h"
#include "store/storage/faulty_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::capture {
namespace {

namespace fs = std::filesystem;
using format::CheckpointEvent;
using format::CheckpointState;

void request(storage::Storage& storage, const std::string& key, std::int64_t unix_ns = 1) {
  const format::CheckpointRequestRecord request{.key = key,
                                                .reason = "because " + key,
                                                .rule = "NaNLoss",
                                                .global_step = 3,
                                                .requested_by = "watch-0",
                                                .unix_ns = unix_ns};
  ASSERT_TRUE(storage.create_folder(format::kControlFolder).ok());
  ASSERT_TRUE(
      storage.put_if_absent(format::checkpoint_request_path(key), as_bytes(format::encode_checkpoint_request(request)))
          .ok());
}

void request_stop(storage::Storage& storage) {
  const format::StopRequest stop{.key = "s", .reason = "enough", .requested_by = "user", .unix_ns = 1};
  ASSERT_TRUE(storage.put_if_absent(format::stop_request_path("s"), as_bytes(format::encode_stop_request(stop))).ok());
}

std::vector<CheckpointEvent> answers(const storage::Storage& storage, int rank = 0) {
  std::vector<CheckpointEvent> found;
  for (const std::string& json : read_run(storage, rank).events) {
    const auto event = format::decode_checkpoint_event(json);
    EXPECT_TRUE(event.ok()) << event.status().to_string();
    if (event.ok() && event->has_value()) found.push_back(**event);
  }
  return found;
}

// Steps until `done`; the writer thread looks every few milliseconds.
StepEnd train_until(Hook& hook, const std::function<bool(const StepEnd&)>& done) {
  for (;;) {
    hook.save_scalar("s", 1);
    const StepEnd end = hook.end_step();
    if (done(end)) return end;
    EXPECT_TRUE(hook.flush().ok());
  }
}
StepEnd train_until_asked(Hook& hook) {
  return train_until(hook, [](const StepEnd& end) { return end.checkpoint_requested; });
}

Status write_text(const fs::path& file, std::string_view text) {
  std::ofstream(file) << text;
  return Status();
}
std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

class HookCheckpoint : public testing::Test {
 protected:
  HookCheckpoint() {
    set_log_sink([](LogLevel, std::string_view) {});
  }
  ~HookCheckpoint() override { set_log_sink(nullptr); }

  std::unique_ptr<Hook> open(int rank = 0, int world_size = 1) { return open_on(*storage_, rank, world_size); }
  std::unique_ptr<Hook> open_on(storage::Storage& storage, int rank = 0, int world_size = 1) {
    HookOptions options = keep_all_of("x");
    options.run_dir = folder_.path();
    options.rank = rank;
    options.world_size = world_size;
    return open_hook_on(storage, options);
  }
  fs::path in_run(const std::string& path) const { return folder_.path() / path; }

  const std::unique_ptr<storage::Storage> storage_ = storage::create_memory_storage();
  const TestFolder folder_;
};

TEST_F(HookCheckpoint, IsHeardSavedAndTold) {
  const auto hook = open();
  hook->offer_checkpoints();
  EXPECT_FALSE(hook->end_step().checkpoint_requested);
  EXPECT_FALSE(hook->take_checkpoint_request().has_value());
  request(*storage_, "loss");
  const StepEnd end = train_until_asked(*hook);
  EXPECT_FALSE(end.stop_requested);
  const auto wanted = hook->take_checkpoint_request();
  ASSERT_TRUE(wanted.has_value());
  EXPECT_EQ(wanted->key, "loss");
  EXPECT_EQ(wanted->reason, "because loss");
  EXPECT_EQ(wanted->rule, "NaNLoss");
  EXPECT_EQ(wanted->global_step, 3);
  EXPECT_EQ(wanted->requested_by, "watch-0");
  EXPECT_FALSE(hook->take_checkpoint_request().has_value()) << "taken once";

  const auto file = hook->write_checkpoint(".pt", [](const fs::path& path) { return write_text(path, "weights"); });
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  hook->answer_checkpoint(*wanted, file);
  EXPECT_FALSE(hook->end_step().checkpoint_requested);
  ASSERT_TRUE(hook->close().ok());

  const auto said = answers(*storage_);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0].state, CheckpointState::kAccepted);
  EXPECT_EQ(said[0].global_step, end.global_step);
  const CheckpointEvent& saved = said[1];
  EXPECT_EQ(saved.state, CheckpointState::kSaved);
  EXPECT_EQ(saved.key, "loss");
  EXPECT_EQ(saved.reason, "because loss");
  EXPECT_EQ(saved.requested_by, "watch-0");
  EXPECT_EQ(saved.global_step, end.global_step);
  EXPECT_EQ(saved.bytes, 7);
  EXPECT_GT(saved.duration_ns, 0);
  char name[64];
  std::snprintf(name, sizeof name, "checkpoints/step-%06d-rank-00000.pt", static_cast<int>(end.global_step));
  EXPECT_EQ(saved.path, name);
  EXPECT_EQ(text_of(in_run(saved.path)), "weights");
  EXPECT_EQ(std::distance(fs::directory_iterator(in_run("checkpoints")), {}), 1) << "nothing lies beside it";
}

TEST_F(HookCheckpoint, OneAnswersAllThatWait) {
  request(*storage_, "b", 2);
  request(*storage_, "a", 7);
  request(*storage_, "c", 1);
  const auto hook = open();
  hook->offer_checkpoints();
  train_until_asked(*hook);
  const auto wanted = hook->take_checkpoint_request();
  ASSERT_TRUE(wanted.has_value());
  EXPECT_EQ(wanted->key, "c") << "the oldest";
  hook->answer_checkpoint(*wanted, fs::path("s3://bucket/a.pt"));
  ASSERT_TRUE(hook->close().ok());
  const auto said = answers(*storage_);
  ASSERT_EQ(said.size(), 6u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(said[3 + i].state, CheckpointState::kSaved);
    EXPECT_EQ(said[3 + i].path, "s3://bucket/a.pt");
    EXPECT_EQ(said[3 + i].bytes, 0);
  }
}

TEST_F(HookCheckpoint, AnswersSayWhereItLies) {
  const auto hook = open();
  hook->offer_checkpoints();
  const TestFolder elsewhere;
  fs::create_directories(elsewhere.path() / "sharded/deep");
  ASSERT_TRUE(write_text(elsewhere.path() / "sharded/a", "12").ok());
  ASSERT_TRUE(write_text(elsewhere.path() / "sharded/deep/b", "345").ok());
  ASSERT_TRUE(write_text(in_run("mine.bin"), "1").ok());
  const std::vector<fs::path> places = {elsewhere.path() / "sharded", in_run("x/../mine.bin"), fs::path(),
                                        in_run("no-such-file")};
  for (std::size_t i = 0; i < places.size(); ++i) {
    request(*storage_, "k" + std::to_string(i));
    train_until_asked(*hook);
    hook->answer_checkpoint(*hook->take_checkpoint_request(), places[i]);
  }
  ASSERT_TRUE(hook->close().ok());
  const auto said = answers(*storage_);
  ASSERT_EQ(said.size(), 8u);
  EXPECT_EQ(said[1].path, (elsewhere.path() / "sharded").string());
  EXPECT_EQ(said[1].bytes, 5);
  EXPECT_EQ(said[3].path, "mine.bin");
  EXPECT_EQ(said[5].state, CheckpointState::kSaved);
  EXPECT_EQ(said[5].path, "");
  EXPECT_EQ(said[7].state, CheckpointState::kRefused);
  EXPECT_NE(said[7].error.find("no such file"), std::string::npos) << said[7].error;
}

TEST_F(HookCheckpoint, NothingIsEverOverwritten) {
  const auto hook = open();
  hook->end_step();
  std::vector<std::string> names;
  for (const char* text : {"first", "second", "third"}) {
    const auto file = hook->write_checkpoint(".pt", [&](const fs::path& path) { return write_text(path, text); });
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(text_of(*file), text);
    names.push_back(file->filename().string());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"step-000000-rank-00000.pt", "step-000000-rank-00000-1.pt",
                                             "step-000000-rank-00000-2.pt"}));
  EXPECT_EQ(text_of(in_run("checkpoints/step-000000-rank-00000.pt")), "first");
}

TEST_F(HookCheckpoint, WhatGoesWrongWhileSavingIsRefusedAndLeavesNothing) {
  const auto hook = open();
  hook->offer_checkpoints();
  const std::vector<std::pair<std::function<Status(const fs::path&)>, std::string>> faults = {
      {[](const fs::path& path) {
         std::ofstream(path) << "half";
         return Status(Code::kResourceExhausted, "disk full");
       },
       "disk full"},
      {[](const fs::path& path) -> Status {
         std::ofstream(path) << "half";
         throw std::runtime_error("a fault of the program");
       },
       "a fault of the program"},
      {[](const fs::path&) -> Status { throw 7; }, "no std::exception"},
      {[](const fs::path&) { return Status(); }, "there is no file"},
  };
  for (std::size_t i = 0; i < faults.size(); ++i) {
    request(*storage_, "k" + std::to_string(i));
    train_until_asked(*hook);
    const auto wanted = hook->take_checkpoint_request();
    hook->answer_checkpoint(*wanted, hook->write_checkpoint(".pt", faults[i].first));
  }
  EXPECT_TRUE(hook->report().on) << "the training goes on, and so does capture";
  ASSERT_TRUE(hook->close().ok());
  EXPECT_TRUE(fs::is_empty(in_run("checkpoints")));
  const auto said = answers(*storage_);
  ASSERT_EQ(said.size(), 2 * faults.size());
  for (std::size_t i = 0; i < faults.size(); ++i) {
    EXPECT_EQ(said[2 * i + 1].state, CheckpointState::kRefused);
    EXPECT_NE(said[2 * i + 1].error.find(faults[i].second), std::string::npos) << said[2 * i + 1].error;
  }
}

TEST_F(HookCheckpoint, AProgramThatDoesNotOfferHasThemRefused) {
  request(*storage_, "k");
  const auto hook = open();
  train_until(*hook, [&](const StepEnd& end) {
    EXPECT_FALSE(end.checkpoint_requested);
    return !answers(*storage_).empty();
  });
  const auto said = answers(*storage_);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].state, CheckpointState::kRefused);
  EXPECT_NE(said[0].error.find("offer_checkpoints"), std::string::npos) << said[0].error;
}

TEST_F(HookCheckpoint, CanBeSwitchedOff) {
  request(*storage_, "k");
  HookOptions options = keep_all_of("x");
  options.checkpoint_on_request = false;
  const auto hook = open_hook_on(*storage_, options);
  hook->offer_checkpoints();
  train_until(*hook, [&](const StepEnd& end) {
    EXPECT_FALSE(end.checkpoint_requested);
    return !answers(*storage_).empty();
  });
  EXPECT_NE(answers(*storage_)[0].error.find("checkpoint_on_request"), std::string::npos);
}

TEST_F(HookCheckpoint, WhatIsNotAnsweredIsRefusedAtTheEnd) {
  const auto hook = open();
  hook->offer_checkpoints();
  request(*storage_, "taken");
  train_until_asked(*hook);
  ASSERT_TRUE(hook->take_checkpoint_request().has_value());
  request(*storage_, "late");
  ASSERT_TRUE(hook->close().ok());
  const auto said = answers(*storage_);
  ASSERT_EQ(said.size(), 3u);
  EXPECT_EQ(said[0].state, CheckpointState::kAccepted);
  for (int i : {1, 2}) {
    EXPECT_EQ(said[i].state, CheckpointState::kRefused);
    EXPECT_NE(said[i].error.find("ended"), std::string::npos) << said[i].error;
  }
}

TEST_F(HookCheckpoint, BeforeAStopIsHeardNoLaterThanTheStop) {
  const auto hook = open();
  hook->offer_checkpoints();
  request(*storage_, "k");
  request_stop(*storage_);
  bool asked = false;
  train_until(*hook, [&](const StepEnd& end) {
    asked = asked || end.checkpoint_requested;
    EXPECT_TRUE(asked || !end.stop_requested);
    return end.stop_requested;
  });
  const auto wanted = hook->take_checkpoint_request();
  ASSERT_TRUE(wanted.has_value());
  hook->answer_checkpoint(*wanted,
                          hook->write_checkpoint(".pt", [](const fs::path& path) { return write_text(path, "w"); }));
  ASSERT_TRUE(hook->close().ok());
  EXPECT_EQ(answers(*storage_).back().state, CheckpointState::kSaved);
  const auto run_end = format::decode_run_end(read_run(*storage_).events.back());
  ASSERT_TRUE(run_end.ok() && run_end->has_value());
  EXPECT_TRUE((*run_end)->stopped);
}

TEST_F(HookCheckpoint, EachWorkerAnswersForItself) {
  const auto first = open(0, 2);
  const auto second = open(1, 2);
  request(*storage_, "k");
  for (Hook* hook : {first.get(), second.get()}) {
    hook->offer_checkpoints();
    train_until_asked(*hook);
    const auto wanted = hook->take_checkpoint_request();
    hook->answer_checkpoint(*wanted,
                            hook->write_checkpoint(".pt", [](const fs::path& path) { return write_text(path, "w"); }));
    ASSERT_TRUE(hook->close().ok());
  }
  EXPECT_NE(answers(*storage_, 0).back().path.find("-rank-00000.pt"), std::string::npos);
  EXPECT_NE(answers(*storage_, 1).back().path.find("-rank-00001.pt"), std::string::npos);
}

// Of a process that dies without a word.
void kill(storage::FaultyStorage& storage) {
  storage.set_plan({.fail_call = 0, .fail_all_after = true});
}

TEST_F(HookCheckpoint, AProcessThatGoesOnSavesOnlyWhatWasNotAnswered) {
  {
    const auto faulty = storage::create_faulty_storage(*storage_);
    const auto hook = open_on(*faulty);
    hook->offer_checkpoints();
    request(*storage_, "old");
    train_until_asked(*hook);
    hook->answer_checkpoint(*hook->take_checkpoint_request(), fs::path());
    train_until(*hook, [&](const StepEnd&) { return answers(*storage_).size() == 2; });
    kill(*faulty);
  }
  request(*storage_, "new");
  const auto hook = open();
  hook->offer_checkpoints();
  train_until_asked(*hook);
  const auto wanted = hook->take_checkpoint_request();
  ASSERT_TRUE(wanted.has_value());
  EXPECT_EQ(wanted->key, "new");
  hook->answer_checkpoint(*wanted, fs::path());
  ASSERT_TRUE(hook->close().ok());
  const auto said = answers(*storage_);
  ASSERT_EQ(said.size(), 4u);
  EXPECT_EQ(said[2].key, "new");
  EXPECT_EQ(said[3].key, "new");
}

TEST_F(HookCheckpoint, WhatKillsTheProcessIsTriedTwice) {
  request(*storage_, "deadly");
  for (std::size_t life = 1; life <= 2; ++life) {
    const auto faulty = storage::create_faulty_storage(*storage_);
    const auto hook = open_on(*faulty);
    hook->offer_checkpoints();
    train_until_asked(*hook);
    ASSERT_TRUE(hook->take_checkpoint_request().has_value());
    train_until(*hook, [&](const StepEnd&) { return answers(*storage_).size() == life; });
    kill(*faulty);
  }
  const auto hook = open();
  hook->offer_checkpoints();
  train_until(*hook, [&](const StepEnd& end) {
    EXPECT_FALSE(end.checkpoint_requested);
    return answers(*storage_).size() == 3;
  });
  const auto said = answers(*storage_);
  EXPECT_EQ(said[2].state, CheckpointState::kRefused);
  EXPECT_NE(said[2].error.find("died twice"), std::string::npos) << said[2].error;
}

TEST_F(HookCheckpoint, HooksThatAreOffRefuse) {
  const auto hook = Hook::disabled();
  hook->offer_checkpoints();
  EXPECT_FALSE(hook->end_step().checkpoint_requested);
  EXPECT_FALSE(hook->take_checkpoint_request().has_value());
  bool called = false;
  const auto file = hook->write_checkpoint(".pt", [&](const fs::path&) {
    called = true;
    return Status();
  });
  EXPECT_EQ(file.status().code(), Code::kFailedPrecondition);
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace trainwarden::capture
