// Which workers write.
#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "data/format/compression.h"
#include "hook/capture/capture_testing.h"
#include "hook/capture/open_hook.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::capture {
namespace {

HookOptions worker(int rank, IncludeWorkers include_workers) {
  HookOptions options = keep_all_of("x");
  options.rank = rank;
  options.world_size = 2;
  options.include_workers = include_workers;
  return options;
}

TEST(HookWorkers, EachWritesItsOwnJournal) {
  const auto storage = storage::create_memory_storage();
  for (const int rank : {1, 0}) {
    const auto hook = open_hook_on(*storage, worker(rank, IncludeWorkers::kAll));
    hook->save_scalar("s", rank);
  }
  EXPECT_EQ(journal::read_run(*storage).value_or({}).world_size, 2);
  for (const int rank : {0, 1}) EXPECT_EQ(read_run(*storage, rank).steps.at(0).scalars.at("s"), rank);
}

TEST(HookWorkers, WithOneOnlyTheFirstWritesAndTheRunSaysSo) {
  const auto storage = storage::create_memory_storage();
  const auto other = open_hook_on(*storage, worker(1, IncludeWorkers::kOne));
  EXPECT_FALSE(other->report().on);
  EXPECT_EQ(other->report().off_reason, "include_workers is \"one\", and this is rank 1");
  EXPECT_EQ(other->options().rank, 1);
  EXPECT_FALSE(other->wants_anything());
  EXPECT_FALSE(storage->exists(journal::kRunFile));

  const auto first = open_hook_on(*storage, worker(0, IncludeWorkers::kOne));
  first->save_scalar("s", 1);
  ASSERT_TRUE(first->close().ok());
  EXPECT_EQ(journal::read_run(*storage).value_or({}).world_size, 1);
  EXPECT_EQ(read_run(*storage).steps.size(), 1u);
}

std::size_t compressed_frames(const std::string& segment) {
  std::size_t count = 0;
  for (std::size_t offset = 0; offset < segment.size();) {
    const auto header = format::decode_frame_header(as_bytes(segment).subspan(offset, format::kFrameHeaderBytes));
    if (!header.ok()) break;
    count += format::is_compressed(*header) ? 1 : 0;
    offset += header->frame_bytes();
  }
  return count;
}

TEST(HookWorkers, WhoeverIsFirstSaysWhetherTheRunIsCompressed) {
  for (const bool compress : {false, true}) {
    const auto storage = storage::create_memory_storage();
    for (const int rank : {0, 1}) {
      HookOptions options = worker(rank, IncludeWorkers::kAll);
      options.compress = rank == 0 ? compress : !compress;
      options.keep = KeepForm::reduced();
      const auto hook = open_hook_on(*storage, options);
      const std::vector<float> values(100, 1.5f);
      hook->save_tensor("x", view_of(values));
      hook->end_step();
      ASSERT_TRUE(hook->close().ok());
    }
    EXPECT_EQ(journal::read_run(*storage).value_or({}).format_version, compress ? 2 : 1);
    for (const int rank : {0, 1}) {
      const std::string file = journal::journal_folder(journal::worker_name(rank)) + "/" + journal::segment_file(0);
      EXPECT_EQ(compressed_frames(storage->content(file)) > 0, compress) << file;
      EXPECT_EQ(read_run(*storage, rank).steps.at(0).statistics.at("x").statistics.max, 1.5);
    }
  }
}

TEST(HookWorkers, AnotherWorldSizeIsRefusedWithHelp) {
  const auto storage = storage::create_memory_storage();
  const auto first = open_hook_on(*storage, worker(0, IncludeWorkers::kAll));
  HookOptions options = worker(0, IncludeWorkers::kAll);
  options.world_size = 3;
  options.rank = 2;
  const auto stranger = HookOpener::open(options, borrowed(*storage), system_clock());
  EXPECT_EQ(stranger.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(stranger.status().message().find("a run of 2 workers and this one was started as one of 3"),
            std::string::npos)
      << stranger.status().message();
}

TEST(HookWorkers, AnythingIsWantedOrNothing) {
  const auto storage = storage::create_memory_storage();
  HookOptions options = worker(0, IncludeWorkers::kAll);
  options.save = SavePolicy::every(3);
  const auto hook = open_hook_on(*storage, std::move(options));
  std::vector<bool> wanted;
  for (int step = 0; step < 4; ++step) {
    wanted.push_back(hook->wants_anything());
    hook->end_step();
  }
  EXPECT_EQ(wanted, (std::vector<bool>{true, false, false, true}));
  EXPECT_FALSE(Hook::disabled()->wants_anything());
}

}  // namespace
}  // namespace trainwarden::capture
