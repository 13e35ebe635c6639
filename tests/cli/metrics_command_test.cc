// `trainwarden metrics`, as a user types it.
#include <fstream>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

// Two epochs of a training as Keras prints it to a file, and a line of nobody's.
constexpr const char* kLog =
    "Epoch 1/2\n"
    "1/2 [====>...] - ETA: 1s - loss: 0.9000\b\b\b\b\r2/2 [=======] - 1s - loss: 0.8000 - val_loss: 0.7000\n"
    "loss: none\n"
    "Epoch 2/2\n"
    "2/2 [=======] - 1s - loss: nan - val_loss: 1.2e-05\n";

// The definitions of SageMaker's own example, with their defect.
constexpr const char* kDefinitions =
    R"x([{"Name": "train:loss", "Regex": "loss: ([0-9\\.]+)"}, {"Name": "eval:loss", "Regex": "val_loss: ([0-9\\.]+)"}])x";

class Metrics : public CliTest {
 protected:
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return (folder_ / name).string();
  }
};

TEST_F(Metrics, WhatLibrariesPrintIsFoundWithoutAPattern) {
  const Outcome outcome = cli({"metrics", "try", file("train.log", kLog), "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json answer = outcome.json();
  EXPECT_EQ(answer.at("records"), 6);
  EXPECT_EQ(answer.at("values"), 5);
  ASSERT_EQ(answer.at("metrics").size(), 2u);
  const nlohmann::json& loss = answer["metrics"][0];
  EXPECT_EQ(loss.at("metric"), "loss");
  EXPECT_EQ(loss.at("found_by"), "Keras");
  EXPECT_EQ(loss.at("values"), 3);
  EXPECT_EQ(loss.at("not_finite"), 1);
  EXPECT_EQ(loss.at("min"), 0.8);
  EXPECT_EQ(loss.at("last"), "NaN");
  const nlohmann::json& last = answer["first_values"].back();
  EXPECT_EQ(last.at("metric"), "val_loss");
  EXPECT_EQ(last.at("value"), 1.2e-05);
  EXPECT_EQ(last.at("line"), 5);
  EXPECT_EQ(last.at("step"), 4);
}

TEST_F(Metrics, PeopleGetTables) {
  const std::string log = file("train.log", kLog);
  const Outcome outcome = cli({"metrics", "try", log, "--values", "2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("LINE  METRIC  VALUE  STEP  RECORD\n   2  loss      0.9     1  1/2 [====>"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("and 3 more (--values N shows more)\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("records: 6, values: 5\n"), std::string::npos) << outcome.out;
}

TEST_F(Metrics, DefinitionsAreTakenExactly) {
  const std::string log = file("train.log", kLog);
  const Outcome outcome = cli({"metrics", "try", log, "--definitions", file("d.json", kDefinitions), "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  // The first definition also finds "val_loss: 1.2" in the last line, where its own loss is nan.
  EXPECT_EQ(outcome.json()["metrics"][0].at("values"), 3);
  EXPECT_EQ(outcome.json()["metrics"][0].at("last"), 1.2);
  EXPECT_EQ(outcome.json()["metrics"][1].at("values"), 2);
}

TEST_F(Metrics, WhatIsNoNumberIsToldAndADefinitionThatFindsNothingFails) {
  const std::string log = file("train.log", kLog);
  const Outcome outcome = cli({"metrics", "try", log, "--regex", "loss=^loss: (\\S+)", "--regex", "e=Epoch (\\d)"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.out.find("loss: matches that are no number: 1, the first \"none\"\n"), std::string::npos)
      << outcome.out;
  const Outcome nothing = cli({"metrics", "try", file("empty.log", "hello\n")});
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_NE(nothing.out.find("no metric found (records: 1)"), std::string::npos) << nothing.out;
}

TEST_F(Metrics, ReadsStandardInput) {
  const Outcome outcome = shell("printf 'a=1\\na=2' | $TW metrics try --regex 'a=a=(.)' --json -");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["metrics"][0].at("last"), 2);
}

TEST_F(Metrics, ALogDoesNotDriveTheTerminal) {
  const std::string log = file("evil.log", "{'lo\x1b[2Jss': 1, 'a\xe2\x80\xae': 2}\n{'a\x07': 3}\n");
  for (const char* more : {"--values=9", "--json"}) {
    const Outcome outcome = cli({"metrics", "try", log, more});
    EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find('\x07'), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find("\xe2\x80\xae"), std::string::npos) << outcome.out;
  }
}

TEST_F(Metrics, TheLinterFindsAmbiguousPatterns) {
  const Outcome outcome = cli({"metrics", "lint", file("d.json", kDefinitions)});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.out.find("d.json, [1]: train:loss: METRIC_AMBIGUOUS: \"loss: \" also stands within \"val_loss: "
                             "\", so that it takes values of eval:loss\n"),
            std::string::npos)
      << outcome.out;
  const nlohmann::json answer = cli({"metrics", "lint", file("d.json", kDefinitions), "--json"}).json();
  ASSERT_EQ(answer.at("warnings").size(), 3u);
  EXPECT_EQ(answer["warnings"][0].at("code"), "METRIC_AMBIGUOUS");
  const Outcome good = cli({"metrics", "lint", file("good.toml", "[[metric]]\nname = 'a'\nregex = '\\ba=(\\S+)'\n")});
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_EQ(good.out, "definitions: 1, warnings: 0\n");
}

TEST_F(Metrics, MistakesAreToldWithTheirPlaces) {
  const std::string log = file("train.log", kLog);
  const Outcome pattern = cli({"metrics", "try", log, "--regex", "loss=("});
  EXPECT_EQ(pattern.exit_code, 2);
  EXPECT_NE(pattern.err.find("does not compile: missing closing parenthesis at 1"), std::string::npos) << pattern.err;
  const Outcome missing = cli({"metrics", "try", (folder_ / "none.log").string()});
  EXPECT_NE(missing.exit_code, 0);
  EXPECT_NE(missing.err.find("none.log: expected a program's output as a file"), std::string::npos) << missing.err;
  const Outcome folder = cli({"metrics", "try", folder_.string()});
  EXPECT_NE(folder.exit_code, 0);
  EXPECT_NE(folder.err.find("expected a program's output"), std::string::npos) << folder.err;
  const Outcome file_of_mistakes =
      cli({"metrics", "lint", file("bad.toml", "[[metric]]\nnam = 'a'\nregex = '('\n[[metric]]\nname = 'b'\n")});
  EXPECT_EQ(file_of_mistakes.exit_code, 2);
  for (const char* part :
       {"line 2: unknown key \"nam\"; did you mean \"name\"?", "line 1: regex: ", "line 4: regex: "}) {
    EXPECT_NE(file_of_mistakes.err.find(part), std::string::npos) << file_of_mistakes.err;
  }
  EXPECT_EQ(cli({"metrics"}).exit_code, 2);
}

}  // namespace
}  // namespace trainwarden::testing_cli
