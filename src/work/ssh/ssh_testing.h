// SentJob: a job as it lies on its host and here, for tests that need no ssh.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/clock.h"
#include "core/base/folder_testing.h"
#include "work/jobs/job_record.h"

namespace trainwarden::ssh {

inline constexpr const char* kTestId = "0123456789abcdef";

class SentJob {
 public:
  SentJob() : there(make("there", jobs::Backend::kLocal)), here(make("here", jobs::Backend::kSsh)) {}

  // A file of the job on its host, or of its run.
  void write(const std::string& path, const std::string& text, std::ios::openmode mode = std::ios::trunc) const {
    const std::filesystem::path whole = side("there") / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole, mode) << text;
  }
  std::string read(const std::string& path) const {
    std::ifstream file(side("here") / path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::filesystem::path side(const std::string& name) const { return folder_.path() / name; }
  void advance(jobs::JobPhase to) { ASSERT_TRUE(there.advance(*there.current(), to, "test", "", system_clock()).ok()); }

 private:
  jobs::JobRecord make(const std::string& name, jobs::Backend backend) const {
    jobs::JobOrder order;
    order.name = "first";
    order.backend = backend;
    order.submitted_unix_ns = 1;
    order.run = (side(name) / "run").string();
    order.spec_file = (side(name) / "incoming" / kTestId / "./job.toml").string();
    Result<jobs::JobRecord> job = jobs::JobRecord::create(storage::Location(side(name)), order);
    EXPECT_TRUE(job.ok()) << job.status().to_string();
    return *job;
  }

  TestFolder folder_;

 public:
  jobs::JobRecord there;
  jobs::JobRecord here;
};

}  // namespace trainwarden::ssh
