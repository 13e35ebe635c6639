// A run of TestRun as files, for tests of what reads a folder; removed at the end.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "judge/rules/engine.h"
#include "read/trial/run_testing.h"
#include "store/journal/run_folder.h"
#include "store/storage/local_storage.h"

namespace trainwarden::views {

class RunOnDisk {
 public:
  explicit RunOnDisk(const TestRun& run, const std::string& name = "run") : folder_(place() / name) {
    copy(*run.storage(), journal::kRunFile);
    const auto journals = run.storage()->list("journal");
    for (const std::string& journal : *journals) {
      const auto segments = run.storage()->list("journal/" + journal);
      for (const std::string& segment : *segments) copy(*run.storage(), "journal/" + journal + "/" + segment);
    }
  }
  ~RunOnDisk() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    std::filesystem::remove(place(), ignored);  // unless another run is there
  }
  RunOnDisk(const RunOnDisk&) = delete;
  RunOnDisk& operator=(const RunOnDisk&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

  // As `trainwarden watch` does after the run has ended.
  void judge(const std::vector<std::string>& specs, bool keep_going = false) const {
    std::vector<RuleSpec> parsed;
    for (const std::string& spec : specs) parsed.push_back(*parse_rule_spec(spec));
    const auto storage = storage::open_local_storage(folder_);
    const auto trial = Trial::open(folder_);
    ASSERT_TRUE(trial.ok()) << trial.status().to_string();
    rules::EngineOptions options;
    options.keep_going = keep_going;
    options.journal_storage = storage.get();
    rules::Engine engine(**trial, *rules::create_engine_rules(parsed), options);
    ASSERT_TRUE(engine.poll().ok());
    engine.finish();
    ASSERT_TRUE(engine.journal_status().ok()) << engine.journal_status().to_string();
  }

  // Tests run side by side, each in a process of its own.
  static std::filesystem::path place() {
    return std::filesystem::path(testing::TempDir()) / ("trainwarden_views_" + std::to_string(::getpid()));
  }

 private:
  void copy(const storage::MemoryStorage& storage, const std::string& path) const {
    const std::filesystem::path to = folder_ / path;
    std::filesystem::create_directories(to.parent_path());
    std::ofstream(to, std::ios::binary) << storage.content(path);
  }

  const std::filesystem::path folder_;
};

}  // namespace trainwarden::views
