// `trainwarden job lint`, as a user types it.
#include <fstream>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

class JobLint : public CliTest {
 protected:
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return (folder_ / name).string();
  }
};

TEST_F(JobLint, AGoodOneShowsWhatWouldRun) {
  file("train.py", "");
  std::filesystem::create_directory(folder_ / "data");
  const std::string job = file("job.toml",
                               "entry_point = 'train.py'\nmax_run = '2 h'\nretries = 1\nrules = ['default']\n"
                               "[hyperparameters]\nepochs = 3\nname = 'a b'\n[inputs]\ntrain = 'data'\n");
  const Outcome outcome = cli({"job", "lint", job});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out, job +
                             ": mistakes: 0, warnings: 0\n"
                             "  runs      python3 train.py --epochs 3 --name 'a b'\n"
                             "  on        1 node, 1 task on each\n"
                             "  for       2 h 0 min at most, 2 tries\n"
                             "  input     train: data\n"
                             "  rules     default\n");
  const nlohmann::json answer = cli({"job", "lint", job, "--json"}).json();
  EXPECT_EQ(answer.at("count"), 0);
  EXPECT_EQ(answer.at("command"), nlohmann::json({"python3", "train.py", "--epochs", "3", "--name", "a b"}));
}

TEST_F(JobLint, AllMistakesAreToldAtOnce) {
  file("actions.toml", "[[on]]\nwhat = 'stop'\n");
  file("hook.json", R"({"save_intervall": 3})");
  const std::string job =
      file("job.toml",
           "entry_pont = 'train.py'\nrules = ['NoSuchRule']\nactions = 'actions.toml'\nhook = 'hook.json'\n"
           "[resources]\ncpus = 4000\nmemory = '900 TiB'\n[inputs]\ntrain = 'none'\n");
  const Outcome outcome = cli({"job", "lint", job});
  EXPECT_EQ(outcome.exit_code, 2);
  for (const char* part : {"job.toml, line 1: unknown key \"entry_pont\"; did you mean \"entry_point\"?",
                           "found neither", "NoSuchRule", "actions: ", "hook: ", "save_intervall", "line 5: cpus: ",
                           "line 5: memory: ", "line 9: inputs: train: nothing is there: ", "mistakes: 8"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << " is not in\n" << outcome.out;
  }
  const nlohmann::json answer = cli({"job", "lint", job, "--json"}).json();
  EXPECT_EQ(answer.at("count"), 8);
  EXPECT_EQ(answer.at("mistakes").size(), 8u);
  EXPECT_TRUE(answer.at("command").is_null());
}

TEST_F(JobLint, WarningsAloneAreExitCode1) {
  file("train.py", "");
  const std::string job = file("job.json", R"x({"entry_point": "train.py", "metric_definitions": [
      {"Name": "a", "Regex": "loss: ([0-9\\.]+)"}, {"Name": "b", "Regex": "\\bval_loss: (\\S+)"}]})x");
  const Outcome outcome = cli({"job", "lint", job});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out;
  EXPECT_NE(outcome.out.find("METRIC_AMBIGUOUS: a: \"loss: \" also stands within \"val_loss: \""), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("mistakes: 0, warnings: 2\n  runs      python3 train.py\n"), std::string::npos)
      << outcome.out;
}

TEST_F(JobLint, AFileThatCannotBeReadSaysWhatIsExpected) {
  for (const std::string& spec : {(folder_ / "none.toml").string(), folder_.string(), file("bad.toml", "= 1")}) {
    const Outcome outcome = cli({"job", "lint", spec});
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_NE(outcome.err.find("trainwarden: error: "), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(cli({"job"}).exit_code, 2);
}

TEST_F(JobLint, ASpecDoesNotDriveTheTerminal) {
  const std::string job = file("job.json", R"({"program": "a\u001b[2J", "x\u001b[2J": 1, "inputs": {"\u202e": 1},
    "tags": {"\u0007": "x"}, "hyperparameters": {"a": "b\u001bc"}})");
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--json"}}) {
    std::vector<std::string> arguments = {"job", "lint", job};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = cli(arguments);
    for (const char* sign : {"\x1b", "\x07", "\u202e"}) {
      EXPECT_EQ(outcome.out.find(sign), std::string::npos) << outcome.out;
    }
  }
}

}  // namespace
}  // namespace trainwarden::testing_cli
