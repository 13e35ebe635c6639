// `trainwarden experiment` and `trainwarden lineage`, as a user types them.
#include <fstream>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

class Experiments : public CliTest {
 protected:
  Outcome experiment(const std::string& command, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"experiment", command, "--experiments", (folder_ / "experiments").string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cli(arguments);
  }
  void log(std::vector<std::string> more) const {
    const Outcome outcome = experiment("log", std::move(more));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
};

TEST_F(Experiments, WhatWasSaidIsShownSearchedAndAFrame) {
  ASSERT_EQ(experiment("create", {"digits", "--description", "Which optimizer?"}).exit_code, 0);
  std::ofstream(folder_ / "train.csv") << "1,2\n";
  log({"one", "--experiment", "digits", "--trial", "cnn", "--param", "lr=0.1", "--param", "opt==adam", "--metric",
       "loss=0.5", "--input", "train=" + (folder_ / "train.csv").string(), "--status", "Completed"});
  log({"one", "--metric", "loss=0.3"});
  log({"two", "--experiment", "digits", "--param", "lr=0.01", "--metric", "loss=nan", "--output", "model=s3://b/m"});

  const nlohmann::json listed = experiment("ls", {"--json"}).json().at("experiments");
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].at("trials"), 2);
  EXPECT_EQ(listed[0].at("components"), 2);

  const nlohmann::json one = experiment("show", {"one", "--json"}).json();
  EXPECT_EQ(one.at("parameters").at("lr"), 0.1);
  EXPECT_EQ(one.at("parameters").at("opt"), "=adam");
  EXPECT_EQ(one.at("metrics").at("loss").at("avg"), 0.4);
  EXPECT_EQ(one.at("metrics").at("loss").at("last"), 0.3);
  EXPECT_EQ(one.at("inputs").at("train").at("bytes"), 4);
  EXPECT_EQ(one.at("inputs").at("train").at("hash").get<std::string>().size(), 71u);
  EXPECT_EQ(one.at("experiments"), nlohmann::json::array({"digits"}));
  EXPECT_NE(experiment("show", {"one"}).out.find("loss"), std::string::npos);
  EXPECT_NE(experiment("show", {"digits"}).out.find("two"), std::string::npos);

  const nlohmann::json found =
      experiment("search", {"--filter", "Metrics.loss.Min < 0.4", "--filter", "Status = Completed", "--json"}).json();
  ASSERT_EQ(found.at("components").size(), 1u);
  EXPECT_EQ(found["components"][0].at("name"), "one");
  const nlohmann::json either =
      experiment("search", {"--any", "--filter", "Status = Completed", "--filter", "Parameters.lr = 0.01", "--json"})
          .json();
  EXPECT_EQ(either.at("components").size(), 2u);
  EXPECT_NE(experiment("search", {"--expression", R"({"Filters":[{"Name":"Parents.TrialName","Value":"cnn"}]})"})
                .out.find("one"),
            std::string::npos);

  const nlohmann::json frame = experiment("analytics", {"digits", "--sort-by", "Name", "--ascending", "--json"}).json();
  EXPECT_EQ(frame.at("columns"),
            (nlohmann::json{"TrialComponentName", "DisplayName", "lr", "opt", "loss - Min", "loss - Max", "loss - Avg",
                            "loss - StdDev", "loss - Last", "loss - Count", "train - Value", "Trials", "Experiments",
                            "model - Value"}));
  EXPECT_EQ(frame.at("rows")[1][8], "NaN");
  EXPECT_EQ(frame.at("rows")[1][4], nullptr);
  const std::string csv = experiment("analytics", {"digits", "--csv", "--sort-by", "Name", "--ascending"}).out;
  EXPECT_NE(csv.find("one,one,0.1,'=adam,0.3,"), std::string::npos) << csv;
}

TEST_F(Experiments, MistakesAreNamedAndMakeNothing) {
  const auto refused = [](const Outcome& outcome, int code, const std::string& part) {
    EXPECT_EQ(outcome.exit_code, code) << part;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  };
  refused(experiment("create", {"../x"}), 2, "is no name of an experiment");
  refused(experiment("log", {"c", "--experiment", "digits"}), 1, "there is no experiment \"digits\"");
  refused(experiment("log", {"c", "--metric", "loss=low"}), 2, "--metric loss: expected a number, found \"low\"");
  refused(experiment("log", {"c", "--param", "lr"}), 2, "expected NAME=VALUE");
  refused(experiment("log", {"c", "--status", "Done"}), 2, "expected one of InProgress");
  refused(experiment("log", {"c", "--param", "a=1", "--param", "a=2"}), 2, "twice");
  refused(experiment("search", {"--filter", "Parameter.lr = 1"}), 2, "components have no \"Parameter.lr\"");
  refused(experiment("search", {"--expression", "{"}), 2, "the search");
  refused(experiment("show", {"nothing"}), 1, "there is no experiment \"nothing\"");
  refused(experiment("analytics", {"nothing"}), 1, "there is no experiment \"nothing\"");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "experiments"));
  ASSERT_EQ(experiment("create", {"digits"}).exit_code, 0);
  refused(experiment("create", {"digits"}), 1, "there is an experiment \"digits\" already");
  EXPECT_EQ(experiment("create", {"digits", "--trial", "cnn"}).exit_code, 0);
}

TEST_F(Experiments, AValueThatNoComponentHasIsASlip) {
  EXPECT_EQ(experiment("search", {"--columns", "lr"}).exit_code, 0) << "there are no components yet";
  log({"a", "--param", "lr=0.1", "--metric", "loss=1"});
  log({"b", "--param", "depth=3"});
  const auto refused = [&](const std::string& option, const std::string& value, const std::string& part) {
    const Outcome outcome = experiment("search", {option, value});
    EXPECT_EQ(outcome.exit_code, 2) << value;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  };
  refused("--columns", "lrr", "did you mean \"lr\"?");
  refused("--columns", "accuracy", "there are depth, lr, loss");
  refused("--sort-by", "Metrics.accuracy", "no component has a value \"Metrics.accuracy\"");
  refused("--filter", "Parameters.lrr > 0", "did you mean \"Parameters.lr\"?");
  EXPECT_EQ(experiment("search", {"--filter", "Parameters.none NotExists"}).exit_code, 0);
  EXPECT_EQ(experiment("search", {"--filter", "Name = b", "--columns", "lr"}).exit_code, 0) << "another one has it";
}

TEST_F(Experiments, LineageIsATreeJsonAndSageMakersTable) {
  ASSERT_EQ(experiment("create", {"digits"}).exit_code, 0);
  const std::filesystem::path long_folder = folder_ / "a-folder-with-a-rather-long-name-for-data";
  std::filesystem::create_directories(long_folder);
  std::ofstream(long_folder / "train.csv") << "1,2\n";
  std::ofstream(folder_ / "model.bin") << "weights";
  const std::string data = (long_folder / "train.csv").string();
  const std::string model = (folder_ / "model.bin").string();
  log({"prepare", "--experiment", "digits", "--output", "train=" + data});
  log({"fit", "--experiment", "digits", "--input", "train=" + data, "--output", "model=" + model, "--status",
       "Completed"});
  const auto lineage = [this](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"lineage", "--experiments", (folder_ / "experiments").string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cli(arguments);
  };
  const Outcome tree = lineage({"fit"});
  EXPECT_EQ(tree.out, "fit (Completed)\nwent in\n  ContributedTo  Output " + data +
                          "\n    Produced  prepare\ncame out\n" + "  Produced  Model " + model +
                          "\n  AssociatedWith  trial Default-Run-Group-digits\n")
      << tree.err;
  const nlohmann::json table = lineage({"fit", "--table", "--json"}).json();
  EXPECT_EQ(table.at("columns"),
            (nlohmann::json{"Name/Source", "Direction", "Type", "Association Type", "Lineage Type"}));
  ASSERT_EQ(table.at("rows").size(), 3u);
  EXPECT_EQ(table["rows"][0], (nlohmann::json{data.substr(0, 5) + "..." + data.substr(data.size() - 40), "Input",
                                              "Output", "ContributedTo", "artifact"}));
  EXPECT_EQ(table["rows"][1][1], "Output");
  EXPECT_EQ(table["rows"][2][4], "trial");
  const nlohmann::json from_file = lineage({data, "--direction", "descendants", "--json"}).json();
  EXPECT_EQ(from_file.at("vertices").size(), 4u) << "itself, fit, its model and its trial";
  EXPECT_EQ(lineage({from_file.at("start").get<std::string>().substr(9, 20), "--json"}).json().at("start"),
            from_file.at("start"));
  EXPECT_EQ(experiment("associate", {model, "s3://bucket/small", "--type", "DerivedFrom"}).exit_code, 0);
  EXPECT_NE(lineage({"fit"}).out.find("    DerivedFrom  s3://bucket/small\n"), std::string::npos)
      << lineage({"fit"}).out;
  EXPECT_EQ(experiment("associate", {model, "s3://bucket/small", "--type", "Ate"}).exit_code, 2);
  EXPECT_EQ(lineage({"nothing"}).exit_code, 1);
  std::ofstream(data) << "other data";
  const Outcome changed = lineage({data});
  EXPECT_EQ(changed.exit_code, 1);
  EXPECT_NE(changed.err.find(data + ": no job has read or written what is in it now"), std::string::npos)
      << changed.err;
  EXPECT_EQ(lineage({"fit", "--depth", "11"}).exit_code, 2);
}

// A component of somebody else's: what would drive the terminal is shown, and what is damaged hinders nothing.
TEST_F(Experiments, CraftedComponentsAreShownHarmlessly) {
  log({"good", "--param", "lr=1"});
  const std::filesystem::path bad = folder_ / "experiments/components/bad";
  std::filesystem::create_directories(bad);
  std::ofstream(bad / "component.json")
      << R"({"format":1,"time":1,"message":"\u001b[2J","parameters":{"\u001b]0;x":"\u202e"},"status":"Failed"})";
  std::ofstream(bad / "damaged.json") << "{";
  for (const Outcome& outcome : {experiment("show", {"bad"}), experiment("search"), experiment("analytics"),
                                 experiment("analytics", {"--csv"}), experiment("show", {"bad", "--json"})}) {
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ((outcome.out + outcome.err).find('\x1b'), std::string::npos) << outcome.out;
  }
  EXPECT_NE(experiment("show", {"bad"}).out.find("damaged.json"), std::string::npos);
  EXPECT_NE(experiment("search").out.find("good"), std::string::npos);
}

TEST_F(Experiments, RunsAreListedByTheirLabels) {
  const auto run = [this](const std::string& name, const std::string& rate) {
    ASSERT_EQ(cli({"run", "--name", name, "--label", "rate=" + rate, "--", tiny_training().string(), "--steps", "3"})
                  .exit_code,
              0);
  };
  run("slow", "0.01");
  run("fast", "0.5");
  const nlohmann::json listed = cli({"ls", "--sort", "rate", "--json"}).json().at("runs");
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].at("name"), "slow");
  EXPECT_EQ(listed[0].at("labels").at("rate"), "0.01");
  const Outcome table = cli({"ls", "--columns", "rate", "--name", "^f", "--status", "completed"});
  EXPECT_NE(table.out.find(" rate "), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("0.5"), std::string::npos) << table.out;
  EXPECT_EQ(table.out.find("slow"), std::string::npos) << table.out;
  EXPECT_EQ(cli({"ls", "--columns", "rat"}).exit_code, 2);
  EXPECT_EQ(cli({"catalogue", "rebuild", "--jobs", (folder_ / "jobs").string(), "--experiments",
                 (folder_ / "experiments").string(), "--json"})
                .json()
                .at("experiments"),
            0);
}

// A job that belongs to an experiment is a component of it, from its submission on.
class ExperimentJobs : public Experiments {
 protected:
  Outcome submit(const std::string& spec) const {
    std::ofstream(folder_ / "job.toml") << spec;
    return shell("cd '" + folder_.string() + "' && TRAINWARDEN_EXPERIMENTS=experiments \"$TW\" submit job.toml --wait");
  }
  nlohmann::json component(const std::string& name) const { return experiment("show", {name, "--json"}).json(); }

  // What goes into it is hashed beside the job.
  nlohmann::json component_with_inputs(const std::string& name) const {
    nlohmann::json found;
    await([&] { return !(found = component(name)).at("inputs").empty(); });
    return found;
  }
};

TEST_F(ExperimentJobs, AJobIsAComponent) {
  std::filesystem::create_directories(folder_ / "src");
  std::ofstream(folder_ / "src/train.py")
      << "import os\nprint(os.environ['TRAINWARDEN_COMPONENT'])\n"
         "open(os.environ['TRAINWARDEN_MODEL_DIR'] + '/weights', 'w').write('1 2 3')\n";
  const std::string spec =
      "entry_point = 'train.py'\nsource_dir = 'src'\nhook = false\n[hyperparameters]\nlr = 0.1\n"
      "[experiment]\nexperiment = 'digits'\nrun = 'r-1'\n";
  const Outcome without = submit("name = 'first'\n" + spec);
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_NE(without.err.find("make it with `trainwarden experiment create digits`"), std::string::npos) << without.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "jobs/first"));
  ASSERT_EQ(experiment("create", {"digits"}).exit_code, 0);
  const Outcome done = submit("name = 'first'\n" + spec);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_NE(done.out.find("first-aws-training-job\n"), std::string::npos) << "the program knows what it is";
  const nlohmann::json first = component_with_inputs("first-aws-training-job");
  EXPECT_EQ(first.at("status"), "Completed");
  EXPECT_EQ(first.at("run_name"), "r-1");
  EXPECT_EQ(first.at("trials"), nlohmann::json::array({"Default-Run-Group-digits"}));
  EXPECT_EQ(first.at("experiments"), nlohmann::json::array({"digits"}));
  EXPECT_EQ(first.at("parameters").at("lr"), 0.1);
  EXPECT_EQ(first.at("parameters").at("SageMaker.InstanceCount"), 1);
  EXPECT_EQ(first.at("inputs").at("code").at("type"), "Code");
  EXPECT_EQ(first.at("inputs").at("code").at("hash").get<std::string>().substr(0, 7), "sha256:");

  // The agent says it when the job has ended.
  nlohmann::json outputs;
  await([&] { return (outputs = component("first-aws-training-job").at("outputs")).contains("model"); });
  EXPECT_EQ(outputs.at("model").at("type"), "Model");
  EXPECT_EQ(outputs.at("model").at("hash").get<std::string>().substr(0, 7), "sha256:");

  ASSERT_EQ(submit("name = 'second'\n" + spec).exit_code, 0);
  const nlohmann::json second = component_with_inputs("second-aws-training-job");
  EXPECT_EQ(second.at("inputs").at("code").at("hash"), first.at("inputs").at("code").at("hash"));
  const Outcome again = submit("name = 'second'\n" + spec);
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.err.find("name the job with --name"), std::string::npos) << again.err;
  const Outcome listed = shell("cd '" + folder_.string() + "' && \"$TW\" job ls --experiment digits --json");
  EXPECT_EQ(listed.json().at("jobs").size(), 2u);
}

TEST_F(ExperimentJobs, AJobThatFailsSaysSo) {
  ASSERT_EQ(experiment("create", {"digits"}).exit_code, 0);
  EXPECT_EQ(submit("name = 'bad'\nprogram = 'false'\nhook = false\nexperiment = {experiment = 'digits', trial = 't'}\n")
                .exit_code,
            1);
  const nlohmann::json bad = component("bad-aws-training-job");
  EXPECT_EQ(bad.at("status"), "Failed");
  EXPECT_NE(bad.at("message").get<std::string>().find("exit code 1"), std::string::npos);
  EXPECT_EQ(bad.at("trials"), nlohmann::json::array({"t"}));
}

TEST_F(Experiments, WhatIsRemovedIsGoneAndNothingElse) {
  for (const char* name : {"first", "second"}) ASSERT_EQ(experiment("create", {name}).exit_code, 0);
  log({"own", "--experiment", "first", "--trial", "a"});
  log({"shared", "--experiment", "first", "--trial", "a"});
  log({"shared", "--experiment", "second", "--trial", "b"});

  const Outcome refused = experiment("rm", {"first"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("components belong to first: 2 of them; --components"), std::string::npos) << refused.err;
  EXPECT_EQ(experiment("show", {"a", "--json"}).json().at("components").size(), 2u);

  ASSERT_EQ(experiment("rm", {"first", "--components"}).exit_code, 0);
  for (const char* gone : {"first", "a", "own"}) EXPECT_EQ(experiment("show", {gone}).exit_code, 1) << gone;
  EXPECT_EQ(experiment("show", {"shared", "--json"}).json().at("experiments"), nlohmann::json::array({"second"}));
  EXPECT_EQ(experiment("ls", {"--json"}).json().at("experiments").size(), 1u);

  EXPECT_EQ(experiment("rm", {"b", "--kind", "component"}).exit_code, 1) << "it is a trial";
  EXPECT_EQ(experiment("rm", {"b", "--kind", "trial"}).exit_code, 1) << "a component belongs to it";
  ASSERT_EQ(experiment("rm", {"shared"}).exit_code, 0);
  ASSERT_EQ(experiment("rm", {"b"}).exit_code, 0);
  EXPECT_TRUE(experiment("show", {"second", "--json"}).json().at("trials").empty());
  const Outcome missing = experiment("rm", {"secund"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("second"), std::string::npos) << missing.err;
  EXPECT_EQ(experiment("rm", {"../first", "--kind", "component"}).exit_code, 2) << "no name of a component";
}

}  // namespace
}  // namespace trainwarden::testing_cli
