// `trainwarden report`: where the time of a run went, as a user types it.
#include <fstream>

#include "cli_harness.h"
#include "read/trial/run_testing.h"

namespace trainwarden::testing_cli {
namespace {

using nlohmann::json;

class Report : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    save_run("first", 0.8F);
    save_run("second", 0.1F);
  }

  // Sixty steps of a second, of which the loader takes so much.
  void save_run(const std::string& name, float waits) const {
    TestRun run;
    for (std::int64_t step = 1; step <= 60; ++step) {
      run.clock().advance_ns(1'000'000'000);
      run.add({.step = step,
               .tensors = {scalar("phase/step", 1, {"scalars"}), scalar("phase/data_wait", waits, {"scalars"}),
                           scalar("phase/forward", 1 - waits, {"scalars"})},
               .mode = Mode::kTrain});
    }
    run.end();
    run.save_to(run_path(name));
  }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  // A build without its page writes no report, and says so.
  static bool has_page(const Outcome& outcome) {
    if (outcome.exit_code == 0) return true;
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_NE(outcome.err.find("was built without its page"), std::string::npos) << outcome.err;
    return false;
  }
};

TEST_F(Report, TheDocumentNamesWhatCostsMost) {
  const Outcome outcome = cli({"report", "first", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json document = outcome.json();
  EXPECT_EQ(document.at("verdict").at("kind"), "finding");
  EXPECT_EQ(document.at("verdict").at("rule"), "InputBound");
  EXPECT_NEAR(document.at("verdict").at("gain").at("expected").get<double>(), 5, 0.5);
  EXPECT_EQ(document.at("steps").at("divided"), 60);
  EXPECT_NEAR(document.at("steps").at("duration_ms").at("p50").get<double>(), 1000, 1);
  EXPECT_EQ(document.at("workers").at(0).at("phases").at(0).at("phase"), "data_wait");
  EXPECT_TRUE(document.at("operators").is_null());
  EXPECT_TRUE(document.at("comparison").is_null());
  for (const json& rule : document.at("rules")) EXPECT_FALSE(rule.at("message").get<std::string>().empty()) << rule;
}

TEST_F(Report, TwoRunsAreCompared) {
  const Outcome outcome = cli({"report", "second", "--against", "first", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json comparison = outcome.json().at("comparison");
  EXPECT_EQ(comparison.at("run"), "first");
  EXPECT_EQ(comparison.at("rows").at(0).at("what"), "step, median");
  EXPECT_EQ(cli({"report", "second", "--against", "nothing", "--json"}).exit_code, 1);
}

TEST_F(Report, IsAFileThatIsWrittenAnew) {
  const Outcome outcome = cli({"report", "first", "-o", file("page.html")});
  if (!has_page(outcome)) return;
  EXPECT_NE(read_file(file("page.html")).find("id=\"answers\" data-run=\"first/system\""), std::string::npos);
  EXPECT_EQ(json::parse(read_file(file("page.json"))).at("run").at("name"), "first");
  EXPECT_EQ(cli({"report", "second", "-o", file("page.html")}).exit_code, 0) << "one of ours is replaced";
  EXPECT_EQ(json::parse(read_file(file("page.json"))).at("run").at("name"), "second");
}

TEST_F(Report, NothingElseIsReplaced) {
  std::ofstream(file("mine.html")) << "<p>mine</p>";
  const Outcome outcome = cli({"report", "first", "-o", file("mine.html")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("no report of ours"), std::string::npos) << outcome.err;
  std::ofstream(file("twin.json")) << "{}";
  EXPECT_EQ(cli({"report", "first", "-o", file("twin.html")}).exit_code, 1);
  std::filesystem::create_symlink(file("mine.html"), file("link.html"));
  EXPECT_EQ(cli({"report", "first", "-o", file("link.html")}).exit_code, 2);
  EXPECT_EQ(cli({"report", "first", "-o", folder_.string()}).exit_code, 2);
  EXPECT_EQ(cli({"report", "first", "-o", "/dev/null"}).exit_code, 2);
  EXPECT_EQ(read_file(file("mine.html")), "<p>mine</p>");
  EXPECT_EQ(read_file(file("twin.json")), "{}");
}

TEST_F(Report, OfARunWithoutDataSaysSo) {
  TestRun run;
  run.add_steps(0, 3);
  run.end();
  run.save_to(run_path("plain"));
  const Outcome outcome = cli({"report", "plain", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.json().at("verdict").at("kind"), "not_enough_data");
  EXPECT_EQ(cli({"report", "nothing", "--json"}).exit_code, 1);
}

}  // namespace
}  // namespace trainwarden::testing_cli
