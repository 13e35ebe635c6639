// What the addresses about rules answer.
#include <gtest/gtest.h>

#include "data/format/json.h"
#include "ui/answers/route.h"
#include "ui/views/run_on_disk.h"

namespace trainwarden::answers {
namespace {

using format::Json;
using views::RunOnDisk;

TestRun vanishing() {
  TestRun run;
  float size = 1;
  for (std::int64_t step = 0; step < 8; ++step, size /= 10) {
    run.add({.step = step, .tensors = {reduced("gradient/w", {size, -size}, {"gradients"})}});
  }
  run.end();
  return run;
}

class RuleRoutesTest : public ::testing::Test {
 protected:
  RuleRoutesTest() : run_(vanishing(), "first") {}

  Result<Json> ask(const std::string& path, const std::string& body = "", views::Query::Parameters query = {},
                   const std::string& run_name = "first") {
    const auto shelf = views::Shelf::open(RunOnDisk::place());
    EXPECT_TRUE(shelf.ok()) << shelf.status().to_string();
    Request request{{{"run", views::run_id_of(run_name)}}, views::Query(std::move(query)), body};
    for (const Route& route : rule_routes()) {
      if (route.path != path) continue;
      const auto reply = route.handler(request, Services{**shelf});
      if (!reply.ok()) return reply.status();
      return Json::parse(*reply->body);
    }
    return Status(Code::kNotFound, "no such route: " + path);
  }

  const RunOnDisk run_;
};

TEST_F(RuleRoutesTest, TheBoardHasTheVerdictWithItsEvidence) {
  run_.judge({"VanishingGradient:threshold=5e-4"});
  const auto answer = ask("/runs/{run}/rules");
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  const Json& rule = answer->at("rules").at(0);
  EXPECT_EQ(rule.at("id"), "VanishingGradient");
  EXPECT_EQ(rule.at("state"), "IssuesFound");
  EXPECT_EQ(rule.at("parameters").at("threshold"), "5e-4");
  EXPECT_EQ(rule.at("first_fired_step"), 4);
  const Json& evidence = rule.at("verdicts").at(0).at("evidence").at(0);
  EXPECT_EQ(evidence.at("tensor"), "gradient/w");
  EXPECT_EQ(evidence.at("tensor_id"), views::tensor_id_of("gradient/w"));
  EXPECT_EQ(evidence.at("step"), 4);
  EXPECT_NEAR(evidence.at("value").get<double>(), 1e-4, 1e-9);
  EXPECT_EQ(evidence.at("threshold"), 5e-4);
  EXPECT_EQ(rule.at("transitions").size(), 2U);
}

TEST_F(RuleRoutesTest, EvidenceNamesTensorsAsTheOtherAnswersDo) {
  TestRun run;
  run.add({.step = 0, .tensors = {reduced("gradient/50%", {1e-9F, -1e-9F}, {"gradients"})}});
  run.end();
  const RunOnDisk written(run, "percent");
  written.judge({"VanishingGradient"});
  const auto answer = ask("/runs/{run}/rules", "", {}, "percent");
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  const Json& evidence = answer->at("rules").at(0).at("verdicts").at(0).at("evidence").at(0);
  EXPECT_EQ(evidence.at("tensor"), "gradient/50%");  // "%25" in the journal
  EXPECT_EQ(evidence.at("tensor_id"), views::tensor_id_of("gradient/50%"));
}

TEST_F(RuleRoutesTest, KindsTellTheirParametersAndDefaults) {
  const auto answer = ask("/rules");
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  bool found = false;
  for (const Json& kind : answer->at("kinds")) {
    if (kind.at("rule") != "VanishingGradient") continue;
    found = true;
    EXPECT_EQ(kind.at("parameters").at(0).at("name"), "threshold");
    EXPECT_FALSE(kind.at("parameters").at(0).at("default").get<std::string>().empty());
  }
  EXPECT_TRUE(found);
}

TEST_F(RuleRoutesTest, WhatIfJudgesAnewAndWritesNothing) {
  const auto answer =
      ask("/runs/{run}/rules/what-if",
          R"({"rule": "VanishingGradient", "now": {"threshold": "5e-4"}, "parameters": {"threshold": "5e-3"}})");
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  EXPECT_EQ(answer->at("now").at("fired_steps"), Json({4, 5, 6, 7}));
  EXPECT_EQ(answer->at("changed").at("fired_steps"), Json({3, 4, 5, 6, 7}));
  EXPECT_EQ(answer->at("cut"), "no");
  EXPECT_FALSE(std::filesystem::exists(run_.folder() / "journal/watch-0"));
}

TEST_F(RuleRoutesTest, WhatIfSaysWhatIsWrongWithABody) {
  EXPECT_EQ(ask("/runs/{run}/rules/what-if", "[]").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask("/runs/{run}/rules/what-if", "{}").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask("/runs/{run}/rules/what-if", R"({"rule": "VanishingGradient", "parameters": {"threshold": 1}})")
                .status()
                .code(),
            Code::kInvalidArgument);
}

// Each list in a list takes a piece of the stack of whoever copies or removes it.
TEST_F(RuleRoutesTest, WhatIfTakesNoListsWithinListsForEver) {
  const std::string deep = std::string(400'000, '[') + std::string(400'000, ']');
  const auto answer = ask("/runs/{run}/rules/what-if", R"({"rule": )" + deep + "}");
  EXPECT_EQ(answer.status().code(), Code::kInvalidArgument);
  EXPECT_NE(answer.status().message().find("nested"), std::string::npos) << answer.status().to_string();
}

TEST_F(RuleRoutesTest, EventsOfARunThatNobodyWatchedAreNone) {
  const auto answer = ask("/runs/{run}/events");
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  EXPECT_TRUE(answer->at("events").empty());
  EXPECT_EQ(answer->at("last_seq"), 0);
  EXPECT_EQ(answer->at("recording"), false);
  EXPECT_EQ(ask("/runs/{run}/events", "", {{"limit", "0"}}).status().code(), Code::kInvalidArgument);
}

TEST_F(RuleRoutesTest, ABlackBoxIsListedAndOpensAsARun) {
  const RunOnDisk box(vanishing(), "first/blackbox/step-000007-rank-00000");
  std::ofstream(box.folder() / "replay.json") << R"({"format_version": 1, "failing_step": 7})";
  const auto answer = ask("/runs/{run}/blackboxes");
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  const Json& listed = answer->at("black_boxes").at(0);
  EXPECT_EQ(listed.at("failing_step"), 7);
  EXPECT_EQ(listed.at("run").at("name"), "first/blackbox/step-000007-rank-00000");
  EXPECT_EQ(listed.at("run").at("id"), views::run_id_of("first/blackbox/step-000007-rank-00000"));
  EXPECT_TRUE(ask("/runs/{run}/rules", "", {}, "first/blackbox/step-000007-rank-00000").ok());
}

TEST_F(RuleRoutesTest, WhoActsIsToldWhatTheRunIs) {
  for (const Route& route : rule_routes()) {
    EXPECT_EQ(route.acts, route.path == "/runs/{run}/stop" || route.path == "/runs/{run}/save") << route.path;
  }
  const auto stopped = ask("/runs/{run}/stop", R"({"reason": "the loss is flat"})");
  ASSERT_TRUE(stopped.ok()) << stopped.status().to_string();
  EXPECT_EQ(stopped->at("already"), true);  // it has ended
  EXPECT_EQ(ask("/runs/{run}/stop", R"({"reason": 1})").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask("/runs/{run}/stop", R"({"reazon": "x"})").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask("/runs/{run}/save", "{}").status().code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace trainwarden::answers
