#include "server/live_run_testing.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "storage/local_storage.h"
#include "store/run_folder.h"

namespace trainwarden::server {
namespace {

std::unique_ptr<store::JournalWriter> open_writer(storage::Storage& storage, const store::RunInfo& info,
                                                  const std::string& name) {
  auto writer = store::JournalWriter::open(storage, system_clock(), info,
                                           {.writer = name, .writer_id = store::writer_id_of(name).value_or(0)});
  EXPECT_TRUE(writer.ok()) << writer.status().to_string();
  return *std::move(writer);
}

}  // namespace

LiveRun::LiveRun(const std::filesystem::path& folder, char digit) {
  std::filesystem::create_directories(folder);
  storage_ = storage::open_local_storage(folder);
  info_.id = std::string(32, digit);
  EXPECT_TRUE(store::create_or_join_run(*storage_, info_).ok());
  writer_ = open_writer(*storage_, info_, "rank-00000");
}

void LiveRun::step(std::int64_t step) {
  store::StepBatch batch;
  batch.global_step = batch.mode_step = step;
  EXPECT_TRUE(writer_->append_step(batch).ok());
}

void LiveRun::judge() {
  if (!watch_) watch_ = open_writer(*storage_, info_, "watch-0");
  EXPECT_TRUE(watch_->append_event(format::FrameKind::kEvent, -1, "{}").ok());
}

}  // namespace trainwarden::server
