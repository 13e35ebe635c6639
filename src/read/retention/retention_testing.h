// A folder of runs on the disk, for the tests of this floor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "core/base/folder_testing.h"
#include "read/trial/run_testing.h"
#include "read/trial/trial_access.h"
#include "store/storage/folder_edits.h"
#include "store/storage/location.h"

namespace trainwarden::retention {

// Whose n-th call fails, and all after it: as if the process had been killed there.
class DyingEdits final : public storage::FolderEdits {
 public:
  DyingEdits(const std::filesystem::path& root, int calls) : base_(storage::open_local_edits(root)), left_(calls) {}
  Status rename(const std::string& from, const std::string& to) override {
    return is_dead() ? dead() : base_->rename(from, to);
  }
  Status replace_file(const std::string& from, const std::string& to) override {
    return is_dead() ? dead() : base_->replace_file(from, to);
  }
  Status remove_file(const std::string& path) override { return is_dead() ? dead() : base_->remove_file(path); }
  Status remove_folder(const std::string& path) override { return is_dead() ? dead() : base_->remove_folder(path); }

 private:
  bool is_dead() { return left_-- <= 0; }
  static Status dead() { return Status(Code::kInternal, "dead"); }

  std::unique_ptr<storage::FolderEdits> base_;
  int left_;
};

inline std::vector<float> wave(std::int64_t step, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(step) + static_cast<float>(i % 7) * 0.25f;
  return values;
}

class RunsFolderTest : public testing::Test {
 protected:
  // Steps 0 to `steps` - 1 with a large tensor, a small one, words, a scalar and statistics of a third.
  void make_run(const std::string& name, std::int64_t steps = 21, bool killed = false) {
    TestRun run;
    for (std::int64_t step = 0; step < steps; ++step) {
      run.add(
          {step,
           {kept("weight", wave(step, 1000), {"weights"}), kept("bias", wave(step, 4)), strings("words", {"a", "b"}),
            scalar("loss", static_cast<float>(step)), reduced("gradient", wave(step, 50))}});
    }
    run.event(R"({"type":"noted"})");
    if (killed) {
      run.kill();
    } else {
      run.end();
    }
    run.save_to(folder_.path() / name);
  }
  // The same, and a verdict on it.
  void judge(const std::string& name, const std::string& verdict) {
    const storage::Location run = runs().beneath(name);
    const auto info = journal::read_run(run.storage());
    ASSERT_TRUE(info.ok());
    journal::JournalOptions options;
    options.writer = "watch-0";
    options.writer_id = 0x10000;
    auto writer = journal::JournalWriter::open(run.storage(), clock_, *info, options);
    ASSERT_TRUE(writer.ok()) << writer.status().to_string();
    ASSERT_TRUE((*writer)->append_event(format::FrameKind::kVerdict, 3, verdict).ok());
    ASSERT_TRUE((*writer)->seal().ok());
  }

  const storage::Location& runs() const { return runs_; }
  std::unique_ptr<Trial> open(const std::string& name) const {
    auto trial = TrialAccess::open(runs().beneath(name));
    EXPECT_TRUE(trial.ok()) << trial.status().to_string();
    return trial.ok() ? *std::move(trial) : nullptr;
  }
  journal::RunInfo info_of(const std::string& name) const {
    const storage::Location run = runs().beneath(name);
    return journal::read_run(run.storage()).value();
  }
  void set_age(const std::string& name, std::chrono::hours age) const {
    namespace fs = std::filesystem;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path() / name)) {
      if (entry.is_regular_file()) fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - age);
    }
  }

  TestFolder folder_;
  const storage::Location runs_{folder_.path()};
  // As the machine's, an hour later: what was just made counts as left alone.
  FakeClock clock_{system_clock().unix_ns() + 3'600'000'000'000};
};

}  // namespace trainwarden::retention
