#include "ui/cli/options/run_locator.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

class RunLocator : public testing::Test {
 protected:
  void make_run(const std::string& name) {
    fs::create_directories(runs_ / name);
    std::ofstream(runs_ / name / "run.json") << "{}";
  }

  const TestFolder folder_;
  const fs::path runs_ = folder_.path();
};

TEST_F(RunLocator, PlainFilesBesideRunsAreLeftOut) {
  make_run("first");
  std::ofstream(runs_ / "first.log") << "what it printed";
  const std::string run = (runs_ / "first").string();
  const std::string log = (runs_ / "first.log").string();
  const auto located = locate_runs({run, log}, runs_);
  ASSERT_TRUE(located.ok()) << located.status().message();
  EXPECT_EQ(located->runs, std::vector<fs::path>{run});
  EXPECT_EQ(located->plain_files, std::vector<std::string>{log});
  EXPECT_NE(left_out_note(*located).find("first.log"), std::string::npos);
  EXPECT_EQ(left_out_note({{run}, {}}), "");

  EXPECT_EQ(locate_runs({log}, runs_).status().code(), Code::kNotFound) << "alone it was meant";
  EXPECT_EQ(locate_runs({run, log, (runs_ / "frist").string()}, runs_).status().code(), Code::kNotFound);
}

TEST_F(RunLocator, ARunIsTypedByNameOnlyWhereItWouldBeFound) {
  make_run("first");
  const std::string folder = runs_.string();
  EXPECT_EQ(typed_run(runs_ / "first", [&](const char*) { return folder.c_str(); }), "first");
  EXPECT_EQ(typed_run(runs_ / "first", [](const char*) { return nullptr; }), (runs_ / "first").string());
}

}  // namespace
}  // namespace trainwarden::cli
