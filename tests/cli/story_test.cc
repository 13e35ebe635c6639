// The story of the notebook about CloudWatch events, end to end: a training on real data with a learning rate of 10,
// two rules that watch it, and the handler of examples/stop_on_rule, which hears of each change of state and stops the
// training once VanishingGradient has found an issue.
#include <test_paths.h>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

using nlohmann::json;

const std::string kExample = TW_SOURCE_DIR "/examples/stop_on_rule/";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class Story : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    // The handler runs `trainwarden`.
    path_ = std::getenv("PATH");
    setenv("PATH", (cli_binary().parent_path().string() + ":" + path_).c_str(), 1);
  }
  void TearDown() override {
    setenv("PATH", path_.c_str(), 1);
    CliTest::TearDown();
  }

  // The example's own, but that the handler says on a log for which event it was started.
  std::filesystem::path actions_file() const {
    std::string text = read_file(kExample + "actions.toml");
    const std::string command = R"(["python3", "handler.py"])";
    const std::size_t place = text.find(command);
    EXPECT_NE(place, std::string::npos) << text;
    text.replace(place, command.size(),
                 R"(["sh", "-c", 'echo "$TRAINWARDEN_EVENT_KEY" >> )" + handler_log().string() + "; exec python3 " +
                     kExample + "handler.py']");
    const std::filesystem::path file = folder_ / "actions.toml";
    std::ofstream(file) << text;
    return file;
  }
  std::filesystem::path handler_log() const { return folder_ / "handler.log"; }

  std::vector<json> events() const {
    std::vector<json> events;
    for (const std::string& line : lines_of(cli({"events", "ruined", "--raw"}).out))
      events.push_back(json::parse(line));
    return events;
  }

 private:
  std::string path_;
};

// `from` and `to` of the changes of one rule, or of the run.
std::vector<std::string> statuses_of(const std::vector<json>& events, const std::string& subject) {
  std::vector<std::string> statuses;
  for (const json& event : events) {
    const json& change = event.at("data").at("change");
    if (event.at("subject") != subject || change.at("kind") == "alert") continue;
    EXPECT_EQ(change.at("from"), statuses.empty() ? "" : statuses.back()) << event;
    statuses.push_back(change.at("to"));
  }
  return statuses;
}

json status_of_rule(const json& job, const std::string& rule) {
  for (const json& status : job.at("DebugRuleEvaluationStatuses")) {
    if (status.at("RuleConfigurationName") == rule) return status;
  }
  return {};
}

TEST_F(Story, AHandlerStopsTheTrainingThatARuleFindsAtFault) {
  const Outcome run =
      cli({"run", "--name", "ruined", "--rule", "VanishingGradient", "--rule", "LossNotDecreasing", "--actions",
           actions_file(), "--", TW_FASHION_MNIST, "--learning-rate", "10", "--epochs", "1000"});
  ASSERT_EQ(run.exit_code, 3) << run.err;

  // The run was stopped, and by whom.
  const json job = cli({"describe", "ruined", "--json"}).json();
  EXPECT_EQ(job.at("TrainingJobName"), "ruined");
  EXPECT_EQ(job.at("TrainingJobStatus"), "Stopped");
  EXPECT_EQ(job.at("SecondaryStatus"), "Stopped");
  EXPECT_EQ(job.at("StopReason").at("Reason"), "VanishingGradient has IssuesFound") << job;

  // The summary, as in the document.
  const json rules = cli({"rules", "ruined", "--json"}).json();
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].at("RuleConfigurationName"), "VanishingGradient");
  EXPECT_EQ(rules[0].at("RuleEvaluationStatus"), "IssuesFound");
  const std::string step = std::to_string(rules[0].at("Hits").at(0).at("step").get<int>());
  EXPECT_TRUE(rules[0]
                  .at("StatusDetails")
                  .get<std::string>()
                  .starts_with("RuleEvaluationConditionMet: Evaluation of the rule VanishingGradient at step " + step +
                               " resulted in the condition being met\n"))
      << rules[0];
  EXPECT_EQ(rules[1].at("RuleConfigurationName"), "LossNotDecreasing");
  const std::set<std::string> ends = {"NoIssuesFound", "IssuesFound", "NotApplicable", "Error"};
  EXPECT_TRUE(ends.contains(rules[1].at("RuleEvaluationStatus"))) << rules[1];
  EXPECT_EQ(job.at("DebugRuleEvaluationStatuses").at(0).at("StatusDetails"), rules[0].at("StatusDetails"));

  // Each change once, in order.
  const std::vector<json> events = this->events();
  std::set<std::string> keys;
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].at("seq"), i + 1);
    EXPECT_TRUE(keys.insert(events[i].at("key")).second) << events[i];
  }
  EXPECT_EQ(statuses_of(events, "VanishingGradient"), (std::vector<std::string>{"InProgress", "IssuesFound"}));
  EXPECT_EQ(statuses_of(events, "run").back(), "Stopped/Stopped");

  // When the one rule had found its issue the other was still at work, and had no details.
  for (const json& event : events) {
    if (event.at("subject") != "VanishingGradient" || event.at("data").at("change").at("to") != "IssuesFound") continue;
    EXPECT_EQ(event.at("data").at("TrainingJobStatus"), "InProgress");
    const json other = status_of_rule(event.at("data"), "LossNotDecreasing");
    EXPECT_EQ(other.at("RuleEvaluationStatus"), "InProgress");
    EXPECT_FALSE(other.contains("StatusDetails"));
  }

  // The handler was started for each change of state, once.
  std::vector<std::string> changes;
  for (const json& event : events) {
    if (event.at("data").at("change").at("kind") != "alert") changes.push_back(event.at("key"));
  }
  EXPECT_EQ(lines_of(read_file(handler_log())), changes);
  const json deliveries = cli({"events", "deliveries", "ruined", "--subscription", "stop-training", "--json"}).json();
  EXPECT_EQ(deliveries.at("deliveries").size(), changes.size());
  for (const json& delivery : deliveries.at("deliveries")) {
    EXPECT_EQ(delivery.at("state"), "delivered") << delivery;
    EXPECT_EQ(delivery.at("attempts"), 1) << delivery;
  }
}

}  // namespace
}  // namespace trainwarden::testing_cli
