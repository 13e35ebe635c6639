// The program `bert`: a training that stops before its end, by its own target or because somebody asks.
#include <cmath>
#include <regex>
#include <vector>

#include "cli/program_testing.h"

namespace bert {
namespace {

// One line of output: "after step N  f1 X ... (Q questions, ...)  not below Y".
struct TestLook {
  std::int64_t step = 0, questions = 0;
  double f1 = 0, not_below = -1;
};

std::vector<TestLook> looks_in(const std::string& text) {
  static const std::regex line(R"(after step +(\d+)  f1 ([\d.]+) .*\((\d+) questions.*?\)(?:  not below ([\d.]+))?)");
  std::vector<TestLook> looks;
  for (std::sregex_iterator it(text.begin(), text.end(), line), end; it != end; ++it) {
    const double not_below = (*it)[4].matched ? std::stod((*it)[4]) : -1;
    looks.push_back({std::stol((*it)[1]), std::stol((*it)[3]), std::stod((*it)[2]), not_below});
  }
  return looks;
}

// Learns in some thirty steps what 240 questions ask for, of which it is trained on 24.
class BertStop : public BertProgram {
 protected:
  void SetUp() override {
    BertProgram::SetUp();
    write_questions(folder_ / "dev.json", 240);
  }
  std::string slow_training(const std::string& more) const {
    return "train-spans --model " + (folder_ / "model").string() + " --train " + (folder_ / "questions.json").string() +
           " --dev " + (folder_ / "dev.json").string() + " --out " + (folder_ / "out").string() +
           " --max-length 48 --batch-size 4 --threads 1 --learning-rate 0.0005 --deterministic " + more;
  }
  double f1_by_answering() const {
    const Outcome answered = bert("answer --json --max-length 48 --model " + (folder_ / "out/model").string() +
                                  " --data " + (folder_ / "dev.json").string());
    return nlohmann::json::parse(answered.text).at("f1").get<double>();
  }
};

TEST_F(BertStop, StopsWhenTheBoundHasPassedItsTargetAndNotTheMeanAlone) {
  const Outcome trained =
      bert(slow_training("--no-hook --epochs 20 --f1_threshold 60 --num_to_evaluate 1 --sample-size 80"));
  ASSERT_EQ(trained.code, 0) << trained.text;
  const std::vector<TestLook> looks = looks_in(trained.text);
  ASSERT_GT(looks.size(), 3u) << trained.text;
  const TestLook& stop = looks[looks.size() - 2];
  const TestLook& full = looks.back();
  EXPECT_GE(stop.not_below, 60) << trained.text;
  EXPECT_LT(stop.step, 120) << trained.text;
  int flattered = 0;
  for (std::size_t i = 0; i + 2 < looks.size(); ++i) {
    EXPECT_EQ(looks[i].questions, 80);
    EXPECT_LT(looks[i].not_below, 60) << "it did not stop at step " << looks[i].step;
    flattered += looks[i].f1 > 60 ? 1 : 0;
  }
  EXPECT_GT(flattered, 0) << "the mean alone would have stopped no earlier\n" << trained.text;
  EXPECT_EQ(full.step, stop.step);
  EXPECT_EQ(full.questions, 240);
  EXPECT_EQ(full.not_below, -1) << "the full set is no look";

  const nlohmann::json told = result();
  EXPECT_EQ(told.at("steps"), stop.step);
  EXPECT_EQ(told.at("sample").at("questions"), 80);
  EXPECT_NEAR(told.at("sample").at("f1").get<double>(), stop.f1, 0.005);
  EXPECT_NEAR(told.at("target").at("f1_not_below").get<double>(), stop.not_below, 0.005);
  EXPECT_EQ(told.at("target").at("reached"), true);
  EXPECT_EQ(told.at("target").at("looks"), 120) << "one before each step";
  EXPECT_EQ(told.at("after").at("questions"), 240);
  EXPECT_NEAR(told.at("after").at("f1").get<double>(), f1_by_answering(), 1e-9);
  EXPECT_NEAR(240 * told.at("after").at("f1").get<double>(),
              80 * told.at("sample").at("f1").get<double>() + 160 * told.at("rest").at("f1").get<double>(), 1e-6);
  EXPECT_NE(told.at("stopped").get<std::string>().find("reached its target 60"), std::string::npos);
  EXPECT_NE(trained.text.find("f1 on the sample, when it was looked at last"), std::string::npos) << trained.text;
}

TEST_F(BertStop, ATargetThatIsNotReachedStopsNothing) {
  const Outcome trained = bert(slow_training("--no-hook --epochs 2 --f1-threshold 99 --eval-interval 4"));
  ASSERT_EQ(trained.code, 0) << trained.text;
  const nlohmann::json told = result();
  EXPECT_EQ(told.at("steps"), 12);
  EXPECT_FALSE(told.contains("stopped")) << told;
  EXPECT_EQ(told.at("target").at("reached"), false);
  EXPECT_EQ(told.at("target").at("looks"), 3) << "before steps 0, 4 and 8";
  EXPECT_EQ(told.at("sample").at("questions"), 24) << "a tenth, where no size is given";
  EXPECT_EQ(told.at("after").at("questions"), 240);
  EXPECT_NEAR(told.at("after").at("f1").get<double>(), f1_by_answering(), 1e-9);
}

TEST_F(BertStop, ARuleThatWatchesFromOutsideStopsItAndBothFiguresAreTold) {
  const std::string runs = (folder_ / "runs").string();
  const Outcome trained =
      run("TRAINWARDEN_PRELOAD_LIBRARY=/nowhere TRAINWARDEN_RUNS=" + runs +
          " " TRAINWARDEN_PROGRAM
          " run --name watched --on-fire stop --rule "
          "TargetReached:scores=f1_per_item,target=60,highest=100,looks=2000,population=240 -- " BERT_PROGRAM " " +
          slow_training("--epochs 3000 --eval-interval 10 --sample-size 80 --look-at 0"));
  ASSERT_EQ(trained.code, 0) << trained.text;
  EXPECT_EQ(trained.text.find("not watched"), std::string::npos) << "it has a hook of its own: " << trained.text;
  const nlohmann::json told = result();
  EXPECT_LT(told.at("steps").get<int>(), 18000);
  EXPECT_NE(told.at("stopped").get<std::string>().find("TargetReached fired at step"), std::string::npos) << told;
  EXPECT_EQ(told.at("sample").at("questions"), 80);
  EXPECT_GT(told.at("sample").at("f1").get<double>(), 60);
  EXPECT_EQ(told.at("after").at("questions"), 240);
  EXPECT_NEAR(told.at("after").at("f1").get<double>(), f1_by_answering(), 1e-9);
  EXPECT_NE(trained.text.find("f1 on the sample, when it was looked at last"), std::string::npos) << trained.text;
}

TEST_F(BertStop, AThresholdOfStepsLeavesTheLearningRateAndGoesOnFromThere) {
  const std::string command = slow_training("--no-hook --epochs 5 --dev-size 24");  // 30 steps
  ASSERT_EQ(bert(command).code, 0);
  const std::string whole = bytes_of(folder_ / "out/model/model.safetensors");
  fs::remove_all(folder_ / "out");
  const Outcome stopped = bert(command + " --step_threshold 7");
  ASSERT_EQ(stopped.code, 0) << stopped.text;
  EXPECT_EQ(result().at("steps"), 7);
  EXPECT_NE(stopped.text.find("stopped after step 7: the threshold of 7 steps"), std::string::npos) << stopped.text;
  const Outcome resumed = bert(command);
  ASSERT_EQ(resumed.code, 0) << resumed.text;
  EXPECT_NE(resumed.text.find("going on after step 7,"), std::string::npos) << resumed.text;
  EXPECT_EQ(bytes_of(folder_ / "out/model/model.safetensors"), whole);
}

}  // namespace
}  // namespace bert
