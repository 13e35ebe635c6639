#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;
using storage::MemoryStorage;

void copy_folder(const MemoryStorage& from, const std::string& path, const std::filesystem::path& to) {
  std::filesystem::create_directories(to / path);
  const auto names = from.list(path);
  for (const std::string& name : *names) {
    const std::string inner = path.empty() ? name : path + "/" + name;
    if (from.list(inner).ok()) {
      copy_folder(from, inner, to);
    } else {
      std::ofstream(to / inner, std::ios::binary) << from.content(inner);
    }
  }
}

// A run on disk, as the other one must be.
class OtherRun {
 public:
  explicit OtherRun(TestRun run) {
    run.end();
    copy_folder(*run.storage(), "", folder_.path());
  }
  std::string spec(const std::string& more = "") const {
    return "SimilarAcrossRuns:other_trials=" + folder_.path().string() + more;
  }

 private:
  TestFolder folder_;
};

TestRun run_of(const std::vector<TestStep>& steps) {
  TestRun run;
  for (const TestStep& step : steps) run.add(step);
  return run;
}

TEST(SimilarAcrossRuns, FiresOnWhatIsTheSameAtTheSameStep) {
  const OtherRun other(run_of({{.step = 0, .tensors = {kept("a", {1, 2}), kept("b", {1})}},
                               {.step = 1, .tensors = {kept("a", {3, 4}), kept("b", {2})}}}));
  const TestRun run = run_of({{.step = 0, .tensors = {kept("a", {1, 2.00001F}), kept("b", {5})}},
                              {.step = 1, .tensors = {kept("a", {3, 4.1F}), kept("b", {3})}},
                              {.step = 2, .tensors = {kept("a", {3, 4})}}});
  const auto verdicts = judge(run, other.spec());
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{0}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{1}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable), (Steps{2}));
  ASSERT_EQ(verdicts.at(0).evidence.size(), 1u);
  EXPECT_EQ(verdicts.at(0).evidence[0].tensor, "a");
  EXPECT_NE(verdicts.at(0).message.find("1 of 2 tensors"), std::string::npos) << verdicts.at(0).message;
}

TEST(SimilarAcrossRuns, StepsOfTheSameModeAreCompared) {
  const OtherRun other(run_of({{.step = 0, .tensors = {kept("a", {1})}, .mode = Mode::kTrain, .mode_step = 0},
                               {.step = 1, .tensors = {kept("a", {2})}, .mode = Mode::kEval, .mode_step = 0}}));
  const TestRun run = run_of({{.step = 0, .tensors = {kept("a", {2})}, .mode = Mode::kTrain, .mode_step = 0},
                              {.step = 1, .tensors = {kept("a", {5})}, .mode = Mode::kTrain, .mode_step = 1},
                              {.step = 2, .tensors = {kept("a", {2})}, .mode = Mode::kEval, .mode_step = 0}});
  const auto verdicts = judge(run, other.spec());
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{0}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable), (Steps{1}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{2}));
}

TEST(SimilarAcrossRuns, StatisticsAreEnough) {
  const OtherRun other(run_of({{.step = 0, .tensors = {summarised("a", {1, 2}), reduced("b", {1, 2})}}}));
  const auto judged = [&](TestTensor tensor) {
    return judge(run_of({{.step = 0, .tensors = {std::move(tensor)}}}), other.spec()).at(0);
  };
  EXPECT_EQ(judged(kept("a", {1, 2})).evidence.at(0).quantity, "same_hash");
  EXPECT_EQ(judged(summarised("a", {2, 1})).outcome, Outcome::kOk);
  EXPECT_EQ(judged(reduced("b", {2, 1})).confidence, 0.9);
  EXPECT_EQ(judged(reduced("b", {2, 1.5F})).outcome, Outcome::kOk);
}

TEST(SimilarAcrossRuns, OnlyWhatIsChosenAndInBothIsCompared) {
  const OtherRun other(run_of({{.step = 0, .tensors = {kept("labels", {1}), kept("w", {1})}}}));
  const TestRun run = run_of({{.step = 0, .tensors = {kept("labels", {1}), kept("w", {2}), kept("new", {1})}}});
  EXPECT_EQ(judge(run, other.spec()).at(0).outcome, Outcome::kFired);
  EXPECT_EQ(judge(run, other.spec(",tensor_regex=w")).at(0).outcome, Outcome::kOk);
  const Verdict missing = judge(run, other.spec(",tensor_regex=new")).at(0);
  EXPECT_EQ(missing.outcome, Outcome::kNotApplicable);
  EXPECT_NE(missing.message.find("the other run does not have \"new\""), std::string::npos) << missing.message;
}

TEST(SimilarAcrossRuns, SaysWhichRunItNeeds) {
  const auto fault = [](std::string_view text) { return create_rule(*parse_rule_spec(text)).status(); };
  const Status none = fault("SimilarAcrossRuns");
  EXPECT_EQ(none.code(), Code::kInvalidArgument);
  EXPECT_NE(none.message().find("expected the folder of one run, found 0"), std::string::npos) << none.message();
  EXPECT_NE(fault(R"(SimilarAcrossRuns:other_trials="a,b")").message().find("found 2"), std::string::npos);
  const Status unknown = fault("SimilarAcrossRuns:other_trials=no/such/run");
  EXPECT_EQ(unknown.code(), Code::kInvalidArgument);
  EXPECT_NE(unknown.message().find("no/such/run"), std::string::npos) << unknown.message();
}

}  // namespace
}  // namespace trainwarden::rules
