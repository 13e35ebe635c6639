#include "work/jobs/submitter_environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "core/base/folder_testing.h"

namespace trainwarden::jobs {
namespace {

namespace fs = std::filesystem;

TEST(SubmitterEnvironment, IsReadAsItWasWrittenAndReplacesOurs) {
  const TestFolder folder;
  const fs::path file = folder.path() / "environment";
  ASSERT_TRUE(write_submitter_environment(file, {"A=1", "EMPTY=", "LINES=a\nb=c", "TRAINWARDEN_JOB=other"}).ok());
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write) << "it may hold keys";
  ::setenv("ONLY_OURS", "1", 1);
  const auto changes = read_submitter_environment(file);
  ::unsetenv("ONLY_OURS");
  ASSERT_TRUE(changes.ok()) << changes.status().to_string();
  EXPECT_EQ(changes->set, (std::map<std::string, std::string>{{"A", "1"}, {"EMPTY", ""}, {"LINES", "a\nb=c"}}));
  EXPECT_NE(std::find(changes->removed.begin(), changes->removed.end(), "ONLY_OURS"), changes->removed.end());
  EXPECT_EQ(write_submitter_environment(file, {}).code(), Code::kAlreadyExists);
}

TEST(SubmitterEnvironment, DamageIsAnError) {
  const TestFolder folder;
  EXPECT_EQ(read_submitter_environment(folder.path() / "none").status().code(), Code::kNotFound);
  for (const std::string& text : {std::string("A=1"), std::string("=1\0", 3), std::string("A\0", 2)}) {
    std::ofstream(folder.path() / "file") << text;
    EXPECT_EQ(read_submitter_environment(folder.path() / "file").status().code(), Code::kDataLoss);
  }
}

}  // namespace
}  // namespace trainwarden::jobs
