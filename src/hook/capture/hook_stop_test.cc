// A stop request on its way from the control folder to the training and back into the run.
#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "data/format/control_record.h"
#include "data/format/run_event.h"
#include "hook/capture/capture_testing.h"
#include "hook/capture/open_hook.h"
#include "store/storage/faulty_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::capture {
namespace {

void request_stop(storage::Storage& storage, const std::string& key) {
  const format::StopRequest request{.key = key, .reason = "because " + key, .requested_by = "watch-0", .unix_ns = 1};
  ASSERT_TRUE(
      storage.put_if_absent(format::stop_request_path(key), as_bytes(format::encode_stop_request(request))).ok());
}

// Trains until the hook says stop; the writer thread looks every few milliseconds.
StepEnd train_until_stopped(Hook& hook) {
  for (;;) {
    hook.save_scalar("s", 1);
    const StepEnd end = hook.end_step();
    if (end.stop_requested) return end;
    EXPECT_TRUE(hook.flush().ok());
  }
}

TEST(HookStop, IsSeenAcknowledgedAndEndsTheRunAsStopped) {
  const auto storage = storage::create_memory_storage();
  const auto hook = open_hook_on(*storage, keep_all_of("x"));
  EXPECT_FALSE(hook->end_step().stop_requested);
  request_stop(*storage, "vanishing");
  const StepEnd end = train_until_stopped(*hook);
  EXPECT_EQ(end.stop_reason, "because vanishing");
  EXPECT_TRUE(hook->end_step().stop_requested) << "it stays";
  ASSERT_TRUE(hook->close().ok());

  const ReadRun run = read_run(*storage);
  ASSERT_EQ(run.events.size(), 3u);
  EXPECT_NE(run.events[0].find(R"("type":"stop_accepted","key":"vanishing")"), std::string::npos);
  const auto run_end = format::decode_run_end(run.events.back());
  ASSERT_TRUE(run_end.ok() && run_end->has_value());
  EXPECT_TRUE((*run_end)->stopped);
  EXPECT_EQ((*run_end)->reason, "because vanishing");
}

TEST(HookStop, ARequestFromBeforeTheHookIsHonoured) {
  const auto storage = storage::create_memory_storage();
  ASSERT_TRUE(storage->create_folder(format::kControlFolder).ok());
  request_stop(*storage, "early");
  const auto hook = open_hook_on(*storage, keep_all_of("x"));
  EXPECT_EQ(train_until_stopped(*hook).stop_reason, "because early");
}

// A process that was killed after it had accepted: its successor must be free to train.
TEST(HookStop, WhatAnEarlierProcessAcceptedDoesNotStopTheNext) {
  set_log_sink([](LogLevel, std::string_view) {});
  const auto storage = storage::create_memory_storage();
  {
    const auto faulty = storage::create_faulty_storage(*storage);
    const auto hook = open_hook_on(*faulty, keep_all_of("x"));
    request_stop(*storage, "old");
    train_until_stopped(*hook);
    while (read_run(*storage).events.empty()) {
      hook->save_scalar("s", 1);
      hook->end_step();
      ASSERT_TRUE(hook->flush().ok());
    }
    faulty->set_plan({.fail_call = 0, .fail_all_after = true});  // dies without a word
  }
  set_log_sink(nullptr);
  const auto hook = open_hook_on(*storage, keep_all_of("x"));
  request_stop(*storage, "new");
  EXPECT_EQ(train_until_stopped(*hook).stop_reason, "because new");
}

}  // namespace
}  // namespace trainwarden::capture
