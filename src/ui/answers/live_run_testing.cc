#include "ui/answers/live_run_testing.h"

#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "store/journal/run_folder.h"
#include "store/storage/local_storage.h"

namespace trainwarden::answers {
namespace {

std::unique_ptr<journal::JournalWriter> open_writer(storage::Storage& storage, const journal::RunInfo& info,
                                                    const std::string& name) {
  auto writer = journal::JournalWriter::open(storage, system_clock(), info,
                                             {.writer = name, .writer_id = journal::writer_id_of(name).value_or(0)});
  EXPECT_TRUE(writer.ok()) << writer.status().to_string();
  return *std::move(writer);
}

}  // namespace

LiveRun::LiveRun(const std::filesystem::path& folder, char digit) {
  std::filesystem::create_directories(folder);
  storage_ = storage::open_local_storage(folder);
  info_.id = std::string(32, digit);
  EXPECT_TRUE(journal::create_or_join_run(*storage_, info_).ok());
  writer_ = open_writer(*storage_, info_, "rank-00000");
}

void LiveRun::step(std::int64_t step) {
  journal::StepBatch batch;
  batch.global_step = batch.mode_step = step;
  EXPECT_TRUE(writer_->append_step(batch).ok());
}

void LiveRun::judge() {
  if (!watch_) watch_ = open_writer(*storage_, info_, "watch-0");
  EXPECT_TRUE(watch_->append_event(format::FrameKind::kEvent, -1, "{}").ok());
}

}  // namespace trainwarden::answers
