// `trainwarden sample`, `system` and `phases`, and the machine beside `run`, as a user types it.
#include <csignal>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

class System : public CliTest {
 protected:
  // What `system` says of a run, by kind; of parts the first.
  nlohmann::json usage_of(const std::string& run) const {
    const Outcome outcome = cli({"system", run, "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const nlohmann::json answer = outcome.json();
    nlohmann::json by_kind;
    for (const nlohmann::json& series : answer.at("usage")) {
      if (!by_kind.contains(series.at("kind"))) by_kind[series.at("kind").get<std::string>()] = series;
    }
    return by_kind;
  }
};

TEST_F(System, ARunSamplesItsMachineAndItsProgram) {
  const Outcome ran = cli({"run", "--name", "first", "--", tiny_training().string(), "--steps", "20000"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const nlohmann::json usage = usage_of("first");
  for (const char* kind : {"cpu", "core", "memory", "training_cpu", "training_memory"}) {
    ASSERT_TRUE(usage.contains(kind)) << kind << " in " << usage.dump();
    EXPECT_GE(usage[kind].at("samples"), 1) << kind;
    EXPECT_EQ(usage[kind].at("worker"), "machine-0");
    EXPECT_FALSE(usage[kind].at("instance").get<std::string>().empty());
  }
  EXPECT_GT(usage["memory"].at("mean"), 0);
  EXPECT_LT(usage["memory"].at("mean"), 100);
  EXPECT_GT(usage["training_memory"].at("max"), 1 << 20) << "of the program itself";
  const Outcome table = cli({"system", "first"});
  EXPECT_NE(table.out.find("processors in the training"), std::string::npos) << table.out;
  // Its machine is no part of what a program prints.
  EXPECT_EQ(cli({"metrics", "show", "first", "--json"}).json().at("rows").size(), 0U);
}

TEST_F(System, NoSampleLeavesItOut) {
  const Outcome ran = cli({"run", "--no-sample", "--name", "first", "--", tiny_training().string()});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(run_path("first") / "journal" / "machine-0"));
  const Outcome nothing = cli({"system", "first"});
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_NE(nothing.err.find("nothing was sampled"), std::string::npos) << nothing.err;
}

// It lasts longer than a command does, which is what this test takes.
TEST_F(System, AProgramWithoutAHookKeepsWhatItsMachineDid) {
  const Outcome ran = cli({"run", "--name", "plain", "--", "sleep", "5.2"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.err.find("what its machine did is kept"), std::string::npos) << ran.err;
  EXPECT_TRUE(usage_of("plain").contains("training_cpu"));
  EXPECT_EQ(cli({"ls", "--json"}).json().at("runs")[0].at("state"), "completed");
  EXPECT_EQ(cli({"run", "--name", "short", "--", "true"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(run_path("short")));
}

TEST_F(System, SampleMakesARunOfAMachineAlone) {
  const Outcome sampled = cli({"sample", "--name", "idle", "--for", "300ms"});
  ASSERT_EQ(sampled.exit_code, 0) << sampled.err;
  EXPECT_NE(sampled.err.find("of a processor"), std::string::npos) << sampled.err;
  EXPECT_TRUE(usage_of("idle").contains("cpu"));
  const Outcome shown = cli({"ls", "--json"});
  EXPECT_EQ(shown.json().at("runs")[0].at("state"), "completed") << shown.out;
}

TEST_F(System, SampleEndsOnASignalAndKeepsWhatItHas) {
  Background sampling(cli_command({"sample", "--name", "idle", "--pid", std::to_string(::getpid())}), folder_);
  await_file(run_path("idle") / "journal" / "machine-0" / "seg-00000000.tw");
  ::kill(sampling.id(), SIGINT);
  const Outcome ended = sampling.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  const nlohmann::json usage = usage_of("idle");
  EXPECT_TRUE(usage.contains("training_memory")) << "of the process that was named";
}

TEST_F(System, ASecondSamplerOfTheSameMachineSaysSoAndDoesNothing) {
  train("first");
  Background other(cli_command({"sample", "first"}), folder_);
  await_file(run_path("first") / "journal" / "machine-0" / "seg-00000000.tw");
  const Outcome second = cli({"sample", "first", "--for", "1h"});
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_NE(second.err.find("this machine is sampled into the run already, by process " + std::to_string(other.id())),
            std::string::npos)
      << second.err;
  EXPECT_FALSE(std::filesystem::exists(run_path("first") / "journal" / "machine-1"));
  ::kill(other.id(), SIGTERM);
  EXPECT_EQ(other.wait().exit_code, 0);
  EXPECT_EQ(cli({"sample", "first", "--for", "200ms"}).exit_code, 0) << "when the first has gone";
}

// What is scraped is what Prometheus' own tool takes, without a complaint, in both formats.
TEST_F(System, PrometheusScrapesTheNewestSamples) {
  Background sampling(
      cli_command({"sample", "--name", "idle", "--prometheus", "0", "--pid", std::to_string(::getpid())}), folder_);
  sampling.await_output("/metrics\n");
  std::string url = sampling.out_so_far();
  url.pop_back();
  const std::string scrape =
      "python3 -c 'import sys, urllib.request as r; q = r.Request(sys.argv[1], headers={\"Accept\": "
      "sys.argv[2]}); print(r.urlopen(q).read().decode(), end=\"\")' " +
      url;
  Outcome scraped;
  await([&] {
    scraped = shell(scrape + " text/plain");
    return scraped.exit_code != 0 || scraped.out.find("trainwarden_tree_processes{") != std::string::npos;
  });
  ASSERT_EQ(scraped.exit_code, 0) << scraped.err;
  for (const char* line :
       {"# TYPE trainwarden_cpu_busy_seconds_total counter\n", "cpu=\"0\"} ", "\ntrainwarden_memory_used_bytes{host=\"",
        "\ntrainwarden_sampler_lateness_seconds{host=\""}) {
    EXPECT_NE(scraped.out.find(line), std::string::npos) << line << "in\n" << scraped.out;
  }
  const Outcome checked = shell(scrape + " text/plain | promtool check metrics");
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  const Outcome open = shell(scrape + " application/openmetrics-text");
  EXPECT_EQ(open.out.substr(open.out.size() - 6), "# EOF\n");
  ::kill(sampling.id(), SIGTERM);
  EXPECT_EQ(sampling.wait().exit_code, 0);
  EXPECT_TRUE(usage_of("idle").contains("cpu"));
}

TEST_F(System, PrometheusAloneKeepsNothing) {
  const Outcome sampled = cli({"sample", "--prometheus", "0", "--no-run", "--for", "200ms"});
  EXPECT_EQ(sampled.exit_code, 0) << sampled.err;
  EXPECT_FALSE(std::filesystem::exists(runs_) && !std::filesystem::is_empty(runs_));
  const Outcome remote = cli({"sample", "--prometheus", "0.0.0.0:0", "--for", "100ms"});
  EXPECT_EQ(remote.exit_code, 2);
  EXPECT_NE(remote.err.find("--allow-remote"), std::string::npos) << remote.err;
  EXPECT_NE(cli({"sample", "--no-run", "--for", "100ms"}).exit_code, 0);
  EXPECT_NE(cli({"sample", "first", "--no-run", "--prometheus", "0"}).exit_code, 0);
}

// Killed in the middle: what was written is all there, to the last tick of the last write.
TEST_F(System, AKilledSamplerLosesNothingThatItWrote) {
  Background sampling(cli_command({"sample", "--name", "idle"}), folder_);
  await_file(run_path("idle") / "journal" / "machine-0" / "seg-00000000.tw");
  nlohmann::json before;
  await([&] {
    const Outcome outcome = cli({"system", "idle", "--json"});  // fails before the first write
    before = outcome.exit_code == 0 ? usage_of("idle") : nlohmann::json();
    return before.contains("cpu") && before["cpu"].at("samples") >= 2;
  });
  ::kill(sampling.id(), SIGKILL);
  EXPECT_EQ(sampling.wait().exit_code, 128 + SIGKILL);
  const nlohmann::json usage = usage_of("idle");
  ASSERT_TRUE(usage.contains("cpu"));
  EXPECT_GE(usage["cpu"].at("samples"), before["cpu"].at("samples"));
  const Outcome again = cli({"sample", "idle", "--for", "200ms"});
  EXPECT_EQ(again.exit_code, 0) << "another goes on with it: " << again.err;
}

TEST_F(System, WhatCannotBeMeantIsAnError) {
  const Outcome interval = cli({"run", "--sample-interval", "1ms", "--", "true"});
  EXPECT_EQ(interval.exit_code, 2);
  EXPECT_NE(interval.err.find("expected a time from 10ms to 60s, found 1ms"), std::string::npos) << interval.err;
  EXPECT_NE(cli({"sample", "--for", "soon"}).exit_code, 0);
  const Outcome process = cli({"sample", "--pid", "4194303", "--for", "100ms"});
  EXPECT_EQ(process.exit_code, 1);
  EXPECT_NE(process.err.find("found none with the number 4194303"), std::string::npos) << process.err;
  const Outcome named = cli({"run", "--gpu-sample-interval", "10", "--", "true"});
  EXPECT_NE(named.err.find("--gpu-sample-interval"), std::string::npos) << named.err;
  const Outcome run = cli({"sample", "nowhere", "--for", "100ms"});
  EXPECT_NE(run.exit_code, 0);
  EXPECT_NE(cli({"system", "nowhere"}).exit_code, 0);
  EXPECT_NE(cli({"system", "first", "--kind", "cpus"}).exit_code, 0);
}

TEST_F(System, ARunWithoutPhasesSaysSo) {
  train("first");
  const Outcome outcome = cli({"phases", "first"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("no train step of this run was divided into phases"), std::string::npos) << outcome.err;
  EXPECT_EQ(cli({"phases", "first", "--json"}).json().at("workers").size(), 0U);
}

}  // namespace
}  // namespace trainwarden::testing_cli
