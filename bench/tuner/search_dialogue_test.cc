#include "search_dialogue.h"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "data/format/json.h"

namespace trainwarden::bench {
namespace {

constexpr const char* kStudy =
    R"({"name": "x", "parameters": {"rate": {"min": 0.5, "max": 2.5}}, "metrics": {"loss": {"goal": "minimize"}},)"
    R"( "sampler": "random", "pruner": "threshold:max=9", "seed": 3})";

std::vector<std::string> answers_to(const std::vector<std::string>& questions, Code expected = Code::kOk) {
  std::stringstream asked, answered;
  for (const std::string& question : questions) asked << question << "\n";
  EXPECT_EQ(run_dialogue(asked, answered).code(), expected);
  std::vector<std::string> lines;
  for (std::string line; std::getline(answered, line);) lines.push_back(line);
  return lines;
}

TEST(SearchDialogueTest, AsksReportsAndEnds) {
  const auto answers =
      answers_to({kStudy, R"({"ask": true})", R"({"trial": 0, "step": 1, "value": 8})", R"({"trial": 0, "value": 7})",
                  R"({"ask": true})", R"({"trial": 1, "value": null})", R"({"ask": true})"});
  ASSERT_EQ(answers.size(), 7u);
  const auto first = format::parse_json_object(answers[1], "an answer");
  ASSERT_TRUE(first.ok());
  EXPECT_EQ((*first)["trial"], 0);
  EXPECT_GE((*first)["values"]["rate"].get<double>(), 0.5);
  EXPECT_LE((*first)["values"]["rate"].get<double>(), 2.5);
  EXPECT_EQ(answers[2], R"({"prune":false})");
  EXPECT_EQ(answers[3], "{}");
  EXPECT_EQ(answers[5], "{}");
  EXPECT_NE(answers[6], answers[4]);
}

TEST(SearchDialogueTest, ATrialThatIsPrunedHasEnded) {
  const auto answers =
      answers_to({kStudy, R"({"ask": true})", R"({"trial": 0, "step": 1, "value": 10})", R"({"trial": 0, "value": 7})"},
                 Code::kFailedPrecondition);
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[2], R"({"prune":true})");
}

TEST(SearchDialogueTest, SaysWhereNothingIsLeft) {
  const auto answers = answers_to({R"({"name": "x", "parameters": {"n": {"min": 1, "max": 1}}, "sampler": "grid",)"
                                   R"( "metrics": {"loss": {"goal": "minimize"}}})",
                                   R"({"ask": true})", R"({"ask": true})"});
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[2].find(R"({"end":)"), 0u) << answers[2];
}

TEST(SearchDialogueTest, RefusesWhatIsNoQuestion) {
  answers_to({}, Code::kInvalidArgument);
  answers_to({R"({"parameters": 3})"}, Code::kInvalidArgument);
  answers_to({kStudy, R"({"ask": true})", R"({"trial": 0, "step": 1})"}, Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::bench
