// The commands that look after what runs have left: verify, du, recover, merge, cat, tail, diff.
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

#include <signal.h>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

namespace fs = std::filesystem;

class Upkeep : public CliTest {
 protected:
  fs::path segment_of(const std::string& run, const std::string& journal = "rank-00000") const {
    for (const auto& entry : fs::directory_iterator(run_path(run) / "journal" / journal)) {
      if (entry.path().extension() == ".tw") return entry.path();
    }
    return {};
  }

  // Kills the command, with -9, while it copies a checkpoint of the run that is too large to be copied in a moment.
  void kill_while_it_copies(const std::vector<std::string>& command, const std::string& run, const std::string& to) {
    const fs::path checkpoint = run_path(run) / "checkpoints" / "large.pt";
    fs::create_directory(checkpoint.parent_path());
    std::ofstream(checkpoint) << "state";
    fs::resize_file(checkpoint, std::uintmax_t{1} << 30);  // holes
    Background copying(cli_command(command), folder_);
    const fs::path half = run_path(to + ".unfinished") / "checkpoints" / "large.pt";
    while (!fs::exists(half) && !fs::exists(run_path(to))) std::this_thread::yield();
    ASSERT_EQ(kill(copying.id(), SIGKILL), 0);
    EXPECT_EQ(copying.wait().exit_code, 128 + SIGKILL);
    EXPECT_FALSE(fs::exists(run_path(to)));
    EXPECT_TRUE(fs::exists(run_path(to + ".unfinished") / "unfinished.lock"));
    fs::resize_file(checkpoint, 5);
  }

  // Changes one byte of the elements of conv0.weight at step 0.
  void damage_a_payload(const std::string& run) const {
    const fs::path segment = segment_of(run);
    std::string bytes = read_file(segment);
    const float element = std::sin(1.0f);  // the second element of the first step
    const std::string pattern(reinterpret_cast<const char*>(&element), sizeof element);
    const std::size_t at = bytes.find(pattern);
    ASSERT_NE(at, std::string::npos);
    std::fstream file(segment, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(~bytes[at]));
  }
};

TEST_F(Upkeep, VerifyAnswersForAllRunsOfTheFolder) {
  train("first", {"--steps", "5"});
  train("second", {"--steps", "5"});
  const Outcome fine = cli({"verify"});
  EXPECT_EQ(fine.exit_code, 0) << fine.out << fine.err;
  EXPECT_NE(fine.out.find("first  ok"), std::string::npos) << fine.out;
  EXPECT_NE(fine.out.find("second  ok"), std::string::npos) << fine.out;

  damage_a_payload("second");
  const Outcome damaged = cli({"verify"});
  EXPECT_EQ(damaged.exit_code, 4);
  EXPECT_NE(damaged.out.find("first  ok"), std::string::npos) << damaged.out;
  EXPECT_NE(damaged.out.find("second  DAMAGED  at 1 place, the first: damaged payload, journal/rank-00000/seg-"),
            std::string::npos)
      << damaged.out;
  EXPECT_EQ(cli({"verify", "first"}).exit_code, 0);
  const Outcome as_json = cli({"verify", "--json"});
  EXPECT_EQ(as_json.exit_code, 4);
  EXPECT_EQ(as_json.json().at("whole"), false);
  EXPECT_EQ(as_json.json().at("runs").at(0).at("whole"), true);
  EXPECT_EQ(as_json.json().at("runs").at(1).at("losses").size(), 1u);
}

TEST_F(Upkeep, VerifyGoesOnBehindARunThatCannotBeChecked) {
  train("first", {"--steps", "5"});
  train("second", {"--steps", "5"});
  std::ofstream(run_path("first") / "run.json") << "{\"id\": ";
  const Outcome outcome = cli({"verify"});
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_NE(outcome.out.find("first  NOT CHECKED"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("second  ok"), std::string::npos) << outcome.out;
  EXPECT_EQ(cli({"verify", "third"}).exit_code, 1);
  EXPECT_EQ(cli({"verify", "--jobs", "0"}).exit_code, 2);
}

TEST_F(Upkeep, DuSaysWhatRunsWeigh) {
  train("light", {"--steps", "5"});
  train("heavy", {"--steps", "50", "--large"});
  const Outcome all = cli({"du", "--json"});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  const auto runs = all.json().at("runs");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].at("run"), "heavy");
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(run_path("heavy"))) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  EXPECT_EQ(runs[0].at("bytes"), bytes);
  EXPECT_NE(cli({"du"}).out.find("heavy"), std::string::npos);
}

TEST_F(Upkeep, DuOfOneRunSaysWhatTheBytesAreFor) {
  train("heavy", {"--steps", "50", "--large"});
  const Outcome outcome = cli({"du", "heavy", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto document = outcome.json();
  std::uint64_t sum = 0;
  for (const auto& place : document.at("places")) sum += place.at("bytes").get<std::uint64_t>();
  EXPECT_EQ(sum, document.at("bytes").get<std::uint64_t>());
  const auto& tensor = document.at("tensors").at(0);
  EXPECT_EQ(tensor.at("steps"), 50);
  EXPECT_GE(tensor.at("bytes").get<std::uint64_t>(), 50u * 8000);
  const Outcome text = cli({"du", "heavy", "--top", "1"});
  EXPECT_NE(text.out.find("JOURNAL"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find(tensor.at("name").get<std::string>()), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("lighter ones"), std::string::npos) << text.out;
}

TEST_F(Upkeep, RecoverSavesWhatCanBeReadAndSaysWhatCannot) {
  train("first", {"--steps", "20"});
  damage_a_payload("first");
  const std::string before = read_file(segment_of("first"));
  const Outcome outcome = cli({"recover", "first", "saved", "--json"});
  EXPECT_EQ(outcome.exit_code, 4) << outcome.out << outcome.err;
  const auto document = outcome.json();
  ASSERT_EQ(document.at("lost").size(), 1u);
  EXPECT_EQ(document.at("lost")[0].at("what"), "bundle of step 0");
  EXPECT_EQ(document.at("lost")[0].at("cause"), "damaged payload");
  EXPECT_EQ(read_file(segment_of("first")), before);

  EXPECT_EQ(cli({"doctor", "saved"}).exit_code, 0) << cli({"doctor", "saved"}).out;
  EXPECT_EQ(cli({"verify", "saved"}).exit_code, 0);
  EXPECT_EQ(cli({"value", "saved", "conv0.weight", "--step", "0"}).exit_code, 1);
  const std::vector<std::string> value = {"conv0.weight", "--step", "1", "--json", "--elements"};
  const auto elements = [&](const std::string& run) {
    std::vector<std::string> words = {"value", run};
    words.insert(words.end(), value.begin(), value.end());
    return cli(words).json().at("elements");
  };
  EXPECT_EQ(elements("saved"), elements("first"));
  EXPECT_NE(cli({"show", "saved", "--json"}).json().at("id"), cli({"show", "first", "--json"}).json().at("id"));
  EXPECT_EQ(cli({"show", "saved", "--json"}).json().at("state"), "completed");

  EXPECT_EQ(cli({"recover", "first", "saved"}).exit_code, 1);  // it is there
  EXPECT_EQ(cli({"recover", "nothing", "else"}).exit_code, 1);
}

TEST_F(Upkeep, RecoverOfARunThatIsWholeLosesNothing) {
  train("first", {"--steps", "20", "--crash"});
  const Outcome outcome = cli({"recover", "first", (folder_ / "elsewhere").string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("nothing was lost"), std::string::npos) << outcome.out;
  EXPECT_EQ(cli({"doctor", (folder_ / "elsewhere").string()}).exit_code, 0);
  EXPECT_EQ(cli({"show", (folder_ / "elsewhere").string(), "--json"}).json().at("state"), "died");
}

TEST_F(Upkeep, RecoverGoesWithoutARunFile) {
  train("first", {"--steps", "20"});
  std::ofstream(run_path("first") / "run.json") << "{\"id\": ";
  const Outcome outcome = cli({"recover", "first", "saved"});
  EXPECT_EQ(outcome.exit_code, 4) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("run.json"), std::string::npos) << outcome.out;
  EXPECT_EQ(cli({"doctor", "saved"}).exit_code, 0);
  EXPECT_EQ(cli({"steps", "saved", "--json"}).json().at("steps").size(), 20u);
}

TEST_F(Upkeep, RecoverThatWasKilledIsRecognisablyUnfinishedAndCanBeDoneAgain) {
  train("first", {"--steps", "200", "--large"});
  kill_while_it_copies({"recover", "first", "saved"}, "first", "saved");
  EXPECT_EQ(cli({"ls", "--names"}).out, "first\n");
  EXPECT_EQ(cli({"show", "saved.unfinished"}).exit_code, 1);

  const Outcome again = cli({"recover", "first", "saved"});
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  EXPECT_FALSE(fs::exists(run_path("saved.unfinished")));
  EXPECT_EQ(cli({"doctor", "saved"}).exit_code, 0);
}

TEST_F(Upkeep, MergeMakesOneRunOfAttempts) {
  train("monday", {"--steps", "20", "--crash"});
  train("tuesday", {"--first-step", "15", "--steps", "10"});
  const Outcome unclear = cli({"merge", "monday", "tuesday", "week"});
  EXPECT_EQ(unclear.exit_code, 2);
  EXPECT_NE(unclear.err.find("--as attempts"), std::string::npos) << unclear.err;
  EXPECT_FALSE(fs::exists(run_path("week")));

  const Outcome differ = cli({"merge", "monday", "tuesday", "week", "--as", "attempts"});
  EXPECT_EQ(differ.exit_code, 2);
  EXPECT_NE(differ.err.find("command ("), std::string::npos) << differ.err;

  const Outcome outcome =
      cli({"merge", "monday", "tuesday", "week", "--as", "attempts", "--prefer", "tuesday", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.json().at("runs")[0].at("replaced_from"), 15);
  EXPECT_EQ(cli({"doctor", "week"}).exit_code, 0) << cli({"doctor", "week"}).out;
  EXPECT_EQ(cli({"steps", "week", "--json"}).json().at("steps").size(), 25u);
  EXPECT_EQ(cli({"show", "week", "--json"}).json().at("state"), "completed");
}

TEST_F(Upkeep, MergeThatWasKilledIsRecognisablyUnfinishedAndCanBeDoneAgain) {
  train("a", {"--steps", "200", "--large"});
  train("b", {"--steps", "200", "--large"});
  const std::vector<std::string> merge = {"merge", "a", "b", "both", "--as", "workers"};
  kill_while_it_copies(merge, "b", "both");
  const Outcome again = cli(merge);
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  EXPECT_NE(again.out.find("rank-00000 is rank-00001"), std::string::npos) << again.out;
  EXPECT_FALSE(fs::exists(run_path("both.unfinished")));
  EXPECT_EQ(cli({"doctor", "both"}).exit_code, 0);
}

std::vector<nlohmann::json> lines_of(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST_F(Upkeep, CatPrintsARecordALine) {
  train("first", {"--steps", "5"});
  const Outcome outcome = cli({"cat", "first"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto lines = lines_of(outcome.out);
  std::size_t steps = 0;
  std::int64_t last = 0;
  for (const auto& line : lines) {
    steps += line.at("kind") == "step" ? 1 : 0;
    EXPECT_GE(line.at("unix_ns").get<std::int64_t>(), last);
    last = line.at("unix_ns").get<std::int64_t>();
  }
  EXPECT_EQ(steps, 5u);
  EXPECT_EQ(lines.back().at("data").at("type"), "run_end");

  const auto values = lines_of(cli({"cat", "first", "--tensor", "^conv0.weight$", "--step", "2:4", "--values=2"}).out);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0].at("step"), 2);
  EXPECT_EQ(values[0].at("values").size(), 2u);
  EXPECT_EQ(values[0].at("cut"), true);
  EXPECT_EQ(cli({"cat", "first", "--kind", "stepp"}).exit_code, 2);
  EXPECT_EQ(cli({"cat", "first", "--worker", "rank-00009"}).exit_code, 1);
}

TEST_F(Upkeep, CatSaysWhichRecordCannotBeRead) {
  train("first", {"--steps", "5"});
  damage_a_payload("first");
  const Outcome outcome = cli({"cat", "first", "--tensor", "^conv0.weight$", "--values"});
  EXPECT_EQ(outcome.exit_code, 4);
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_TRUE(lines[0].contains("error"));
  EXPECT_FALSE(lines[1].contains("error"));
}

TEST_F(Upkeep, TailFollowsUntilTheRunEnds) {
  const auto run = run_path("first");
  fs::create_directories(run.parent_path());
  Background training({"env", "TRAINWARDEN_RUN_DIR=" + run.string(), tiny_training().string(), "--until-stopped"},
                      folder_);
  await_file(run / "run.json");
  Background tail(cli_command({"tail", "first", "-n", "1", "-f", "--kind", "step,event"}), folder_);
  tail.await_output("\"kind\":\"step\"");
  EXPECT_EQ(cli({"stop", "first"}).exit_code, 0);
  training.wait();
  const Outcome outcome = tail.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto lines = lines_of(outcome.out);
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(lines.back().at("data").at("type"), "run_end");
  std::int64_t step = -1;
  for (const auto& line : lines) {  // none twice, none left out behind the first
    if (line.at("kind") != "step") continue;
    EXPECT_TRUE(step < 0 || line.at("step") == step + 1);
    step = line.at("step").get<std::int64_t>();
  }
  EXPECT_EQ(lines_of(cli({"tail", "first", "-n", "3", "--kind", "step"}).out).size(), 3u);
}

TEST_F(Upkeep, DiffNamesTheFirstStepAndTensorThatDiffer) {
  train("first", {"--steps", "20"});
  train("second", {"--steps", "20"});
  const Outcome same = cli({"diff", "first", "second"});
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  EXPECT_NE(same.out.find("the same, bit for bit"), std::string::npos) << same.out;

  train("vanished", {"--steps", "20", "--vanish-at", "7"});
  const Outcome differs = cli({"diff", "first", "vanished", "--json"});
  EXPECT_EQ(differs.exit_code, 6) << differs.err;
  EXPECT_EQ(differs.json().at("first_step"), 7);
  EXPECT_EQ(differs.json().at("same"), false);
  EXPECT_NE(cli({"diff", "first", "vanished"}).out.find("first difference: step 7"), std::string::npos);
  EXPECT_EQ(cli({"diff", "first", "vanished", "--step", "0:7"}).exit_code, 0);
  EXPECT_EQ(cli({"diff", "first", "vanished", "--rtol", "1e6", "--atol", "1e6"}).exit_code, 0);
  EXPECT_EQ(cli({"diff", "first", "vanished", "--equal-nan"}).exit_code, 2);
  EXPECT_EQ(cli({"diff", "first", "nothing"}).exit_code, 1);

  train("shorter", {"--steps", "10"});
  const Outcome shorter = cli({"diff", "first", "shorter"});
  EXPECT_EQ(shorter.exit_code, 6);
  EXPECT_NE(shorter.out.find("only in first: steps"), std::string::npos) << shorter.out;
  damage_a_payload("second");
  EXPECT_EQ(cli({"diff", "first", "second"}).exit_code, 4);
}

}  // namespace
}  // namespace trainwarden::testing_cli
