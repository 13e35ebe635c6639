#include "read/transfer/transfer_testing.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <test_paths.h>

#include "data/format/run_event.h"
#include "store/journal/sample_run.h"
#include "store/storage/local_storage.h"

namespace trainwarden::transfer {

namespace fs = std::filesystem;

std::unique_ptr<Trial> write_sample_run(const fs::path& folder) {
  const auto storage = storage::open_local_storage(folder);
  EXPECT_TRUE(journal::create_or_join_run(*storage, journal::sample_run_info()).ok());
  FakeClock clock;
  {
    const auto writer = journal::open_sample_writer(*storage, clock);
    const auto add = [&](const journal::StepBatch& batch) {
      EXPECT_TRUE(writer->append_step(batch).ok());
      clock.advance_ns(1'000'000);
    };
    add(journal::step_of_everything(0, Mode::kTrain, 0, true)->batch());
    add(journal::step_of_everything(1, Mode::kEval, 0, false)->batch());
    add(journal::step_of_reductions(2, false)->batch());
    add(journal::step_of_everything(1005, Mode::kTrain, 3, false)->batch());
    EXPECT_TRUE(writer->append_event(format::FrameKind::kEvent, -1, format::encode_run_end({})).ok());
    EXPECT_TRUE(writer->seal().ok());
  }
  auto trial = Trial::open(folder);
  EXPECT_TRUE(trial.ok()) << trial.status().to_string();
  return *std::move(trial);
}

ExportReport export_all(Trial& trial, ExportOptions options) {
  const auto exported = Export::start(trial, std::move(options));
  EXPECT_TRUE(exported.ok()) << exported.status().to_string();
  if (!exported.ok()) return {};
  const Status status = (*exported)->poll();
  EXPECT_TRUE(status.ok()) << status.to_string();
  const auto report = (*exported)->finish();
  EXPECT_TRUE(report.ok()) << report.status().to_string();
  return report.ok() ? *report : ExportReport();
}

std::string read_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

const ExportNote* find_note(const ExportReport& report, std::string_view cause) {
  for (const ExportNote& note : report.notes) {
    if (note.cause == cause) return &note;
  }
  return nullptr;
}

fs::path recorded_smdebug_runs() {
  const char* data = std::getenv("TRAINWARDEN_SHARED_DATA");
  const fs::path folder =
      (data != nullptr ? fs::path(data) : fs::path(TW_SOURCE_DIR) / "../shared/data") / "smdebug_trials";
  return fs::is_directory(folder) ? folder : fs::path();
}

}  // namespace trainwarden::transfer
