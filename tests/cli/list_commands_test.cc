// Lists of jobs and of runs: columns, filters and order by hyper-parameters and metrics, from the catalogue.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "job_harness.h"

namespace trainwarden::testing_cli {
namespace {

std::vector<std::string> names_of(const nlohmann::json& list) {
  std::vector<std::string> names;
  for (const auto& item : list) names.push_back(item.at("name"));
  return names;
}

using Names = std::vector<std::string>;

class Lists : public Jobs {
 protected:
  // A job that prints these losses.
  void job(const std::string& name, const std::string& lr, const std::string& losses) const {
    const Outcome done =
        submit("name = '" + name + "'\nprogram = ['sh', '-c', 'for l in " + losses +
                   "; do echo loss=$l; sleep 0.02; done']\nhook = false\n[hyperparameters]\nlr = " + lr +
                   "\n[[metric]]\nname = 'loss'\nregex = 'loss=(\\S+)'\n",
               {"--wait"});
    ASSERT_EQ(done.exit_code, 0) << done.err;
  }

  Outcome list(const std::string& what, std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"ls"};
    if (what == "jobs") arguments = {"job", "ls", "--jobs", jobs().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cli(arguments);
  }

  Names names(const std::string& what, std::vector<std::string> more) const {
    more.push_back("--json");
    return names_of(list(what, std::move(more)).json().at(what));
  }
};

TEST_F(Lists, JobsAndTheirRunsHaveMetricsAsColumns) {
  job("falls", "0.1", "4 2 1");
  job("rises", "0.01", "0.5 3");
  for (const std::string what : {"jobs", "runs"}) {
    EXPECT_EQ(names(what, {"--sort", "loss"}), (Names{"falls", "rises"})) << what;
    EXPECT_EQ(names(what, {"--sort", "loss.min"}), (Names{"rises", "falls"})) << what;
    EXPECT_EQ(names(what, {"--filter", "loss > 2"}), Names{"rises"}) << what;
    EXPECT_EQ(names(what, {"--filter", "Metrics.loss.Max >= 4", "--filter", "lr = 0.1"}), Names{"falls"}) << what;
    EXPECT_EQ(names(what, {"--filter", "loss.count < 3"}), Names{"rises"}) << what;
    const nlohmann::json one =
        list(what, {"--columns", "lr,loss,loss.max", "--filter", "lr > 0.05", "--json"}).json().at(what).at(0);
    EXPECT_EQ(one.at("columns"), nlohmann::json::parse(R"({"lr":0.1,"loss":1.0,"loss.max":4.0})")) << what;
    const Outcome table = list(what, {"--columns", "loss.max"});
    EXPECT_NE(table.out.find("loss.max"), std::string::npos) << table.out;
    const Outcome wrong = list(what, {"--filter", "los < 3"});
    EXPECT_EQ(wrong.exit_code, 2);
    EXPECT_NE(wrong.err.find("did you mean \"loss\"?"), std::string::npos) << wrong.err;
    EXPECT_EQ(list(what, {"--filter", "loss"}).exit_code, 2) << "no filter";
  }
  EXPECT_EQ(names("jobs", {"--filter", "ran > 100"}), Names{});
  const nlohmann::json ran = list("jobs", {"--json"}).json().at("jobs").at(0);
  EXPECT_GT(ran.at("ran_seconds").get<double>(), 0.03);
  EXPECT_LT(ran.at("ran_seconds").get<double>(), 60);
}

TEST_F(Lists, HyperparametersAreLabelsOfTheRunUnlessTheUserSetsThem) {
  job("first", "0.1", "1");
  const nlohmann::json labels = list("runs", {"--json"}).json().at("runs").at(0).at("labels");
  EXPECT_EQ(labels, nlohmann::json::parse(R"({"lr":"0.1"})"));
  setenv("TRAINWARDEN_LABELS", R"({"mine": "x"})", 1);
  job("own", "1", "1");
  unsetenv("TRAINWARDEN_LABELS");
  EXPECT_EQ(names("runs", {"--filter", "mine = x"}), Names{"own"});
  EXPECT_EQ(names("runs", {"--filter", "lr NotExists"}), Names{"own"});
}

// Nothing is kept where it cannot be, and that is said; the list is the same.
TEST_F(Lists, RunsAreListedWithoutACatalogueToo) {
  job("falls", "0.1", "4 2 1");
  const nlohmann::json with = list("runs", {"--json", "--columns", "loss"}).json().at("runs");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "catalogue" / "catalogue.db"));
  std::ofstream(folder_ / "file") << "no folder";
  setenv("TRAINWARDEN_CATALOGUE", (folder_ / "file" / "catalogue").c_str(), 1);
  const Outcome without = list("runs", {"--json", "--columns", "loss"});
  unsetenv("TRAINWARDEN_CATALOGUE");
  EXPECT_EQ(without.json().at("runs"), with);
  EXPECT_NE(without.err.find("read anew"), std::string::npos) << without.err;
  std::ofstream(folder_ / "catalogue" / "catalogue.db", std::ios::trunc) << std::string(3000, 'x');
  EXPECT_EQ(list("runs", {"--json", "--columns", "loss"}).json().at("runs"), with) << "a damaged one is made anew";
  EXPECT_EQ(cli({"catalogue", "rebuild", "--jobs", jobs().string(), "--json"}).json().at("runs"), 1);
}

// A training that is killed changes no file.
TEST_F(Lists, ARunThatIsKilledIsListedAsDied) {
  setenv("TRAINWARDEN_RUN_DIR", run_path("live").c_str(), 1);
  Background training({tiny_training().string(), "--until-stopped"}, folder_);
  unsetenv("TRAINWARDEN_RUN_DIR");
  const auto state = [this] {
    const nlohmann::json runs = list("runs", {"--json"}).json().at("runs");
    return runs.empty() ? std::string("none") : runs.at(0).value("state", "unreadable");
  };
  await([&] { return state() == "running"; });
  const auto last_step = [this] { return list("runs", {"--json"}).json().at("runs").at(0).at("last_step"); };
  await([&, before = last_step()] { return last_step() > before; });
  ::kill(training.id(), SIGKILL);
  training.wait();
  EXPECT_EQ(state(), "died");
}

// A run that has been judged after its end, as it was listed before.
TEST_F(Lists, ARunIsListedAsItIsNow) {
  const auto train = [this](const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"run", "--name", name, "--", tiny_training().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cli(arguments);
  };
  train("a", {"--steps", "3"});
  const auto row = [this] { return list("runs", {"--json"}).json().at("runs").at(0); };
  EXPECT_EQ(row().at("steps"), 3);
  EXPECT_EQ(row().at("rules"), 0);
  const Outcome judged = cli({"watch", "a", "--rule", "ExplodingTensor"});
  ASSERT_EQ(judged.exit_code, 0) << judged.err;
  EXPECT_EQ(row().at("rules"), 1) << "somebody has judged it since";
}

}  // namespace
}  // namespace trainwarden::testing_cli
