// gc: what it shows, what it does, and what it leaves alone.
#include <filesystem>
#include <fstream>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

namespace fs = std::filesystem;

class Gc : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    train("old", {"--steps", "30", "--large"});
    train("new", {"--steps", "3"});
    set_age("old", std::chrono::hours(24 * 40));
    set_age("new", std::chrono::hours(24 * 2));
  }
  void set_age(const std::string& run, std::chrono::hours age) const {
    for (const auto& entry : fs::recursive_directory_iterator(run_path(run))) {
      if (entry.is_regular_file()) fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - age);
    }
  }
  std::vector<std::string> runs() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(runs_)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  static nlohmann::json run_of(const nlohmann::json& plan, const std::string& name) {
    for (const auto& run : plan["runs"]) {
      if (run["name"] == name) return run;
    }
    return {};
  }
  const std::vector<std::string> both_ = {"new", "old"};
};

TEST_F(Gc, ShowsWhatItWouldDoAndDoesNothing) {
  const Outcome shown = cli({"gc", "--older-than", "30d", "--dry-run"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_NE(shown.out.find("remove"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("it was last written"), std::string::npos) << shown.out;
  EXPECT_EQ(runs(), both_);
  const auto plan = cli({"gc", "--older-than", "30d", "--dry-run", "--json"}).json();
  EXPECT_EQ(run_of(plan, "old")["change"], "remove");
  EXPECT_EQ(run_of(plan, "new")["change"], "none");
  EXPECT_EQ(plan["freed_bytes"], run_of(plan, "old")["bytes"]);
  EXPECT_TRUE(plan["dry_run"]);
}

TEST_F(Gc, RemovesWhatItWasToldTo) {
  const Outcome unasked = cli({"gc", "--older-than", "30d"});
  EXPECT_EQ(unasked.exit_code, 2) << unasked.out;
  EXPECT_NE(unasked.err.find("--yes"), std::string::npos) << unasked.err;
  EXPECT_EQ(runs(), both_);
  const auto done = cli({"gc", "--older-than", "30d", "--yes", "--json"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(run_of(done.json(), "old")["done"]);
  EXPECT_EQ(runs(), std::vector<std::string>{"new"});
  EXPECT_EQ(cli({"gc", "--older-than", "30d", "--yes"}).out, "nothing to remove and nothing to thin out\n");
}

TEST_F(Gc, ThinsOutWhatIsOld) {
  const auto done = cli({"gc", "--thin-older-than", "30d", "--every", "10", "--yes", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const auto old = run_of(done.json(), "old");
  EXPECT_EQ(old["change"], "thin");
  EXPECT_GT(old["tensors"], 0);
  EXPECT_GT(old["freed_bytes"], 0);
  EXPECT_EQ(run_of(done.json(), "new")["change"], "none");
  const Outcome examined = cli({"doctor", "old"});
  EXPECT_EQ(examined.exit_code, 0) << examined.out;
  EXPECT_NE(examined.out.find("thinned"), std::string::npos) << examined.out;
  EXPECT_EQ(cli({"show", "old"}).out.find("NOT ALL IS HERE"), std::string::npos);
  EXPECT_EQ(cli({"gc", "--thin-older-than", "30d", "--every", "10", "--yes"}).out,
            "nothing to remove and nothing to thin out\n");
}

TEST_F(Gc, TakesItsRulesFromTheFolderOfRuns) {
  std::ofstream(runs_ / "gc.toml") << "older_than = \"30d\"\nkeep = [\"ol*\"]\n";
  const auto kept = cli({"gc", "--dry-run", "--json"}).json();
  EXPECT_EQ(run_of(kept, "old")["change"], "none");
  EXPECT_EQ(run_of(kept, "old")["reason"].get<std::string>().find("it was last written"), 0U);
  std::ofstream(runs_ / "gc.toml") << "older_than = \"30d\"\nkeep_lst = 3\n";
  const Outcome wrong = cli({"gc", "--dry-run"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("keep_last"), std::string::npos) << wrong.err;
}

TEST_F(Gc, WantsRules) {
  const Outcome none = cli({"gc", "--dry-run"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("--older-than"), std::string::npos) << none.err;
  EXPECT_EQ(cli({"gc", "--older-than", "soon"}).exit_code, 2);
  EXPECT_EQ(cli({"gc", "--max-bytes", "much"}).exit_code, 2);
  EXPECT_EQ(cli({"gc", "--thin-older-than", "1d", "--every", "0"}).exit_code, 2);
}

TEST_F(Gc, SaysWhenTheLimitDoesNotHold) {
  const Outcome over = cli({"gc", "--max-bytes", "1KB", "--keep-last", "2", "--yes"});
  EXPECT_EQ(over.exit_code, 1);
  EXPECT_NE(over.out.find("more than --max-bytes stay"), std::string::npos) << over.out;
  EXPECT_EQ(runs(), both_);
}

TEST_F(Gc, LeavesARunThatAnExperimentNeeds) {
  const fs::path experiments = folder_ / "experiments";
  const Outcome made = cli({"experiment", "create", "e", "--experiments", experiments.string()});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Outcome logged = cli({"experiment", "log", "eval", "--experiment", "e", "--experiments", experiments.string(),
                              "--input", "run=" + (run_path("old") / "run.json").string()});
  ASSERT_EQ(logged.exit_code, 0) << logged.err;
  const auto plan =
      cli({"gc", "--older-than", "30d", "--dry-run", "--json", "--experiments", experiments.string()}).json();
  EXPECT_EQ(run_of(plan, "old")["change"], "none");
  EXPECT_NE(run_of(plan, "old")["reason"].get<std::string>().find("eval"), std::string::npos) << plan;
}

TEST_F(Gc, SaysThatBucketsHaveTheirOwnRules) {
  const Outcome bucket = cli({"gc", "--runs", "s3://bucket/runs", "--older-than", "1d"});
  EXPECT_EQ(bucket.exit_code, 1);
  EXPECT_NE(bucket.err.find("bucket"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::testing_cli
