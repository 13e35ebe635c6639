// `trainwarden operators`, and `export` of operator calls, as a user types them.
#include <sys/stat.h>

#include <fstream>

#include "cli_harness.h"
#include "read/trial/run_testing.h"

namespace trainwarden::testing_cli {
namespace {

constexpr std::int64_t kBeginNs = 1'700'000'000'000'000'000;

// Two workers, steps 5 and 6 of which operator calls were recorded.
class Operators : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    TestRun run(2);
    for (int worker = 0; worker < 2; ++worker) {
      run.add_steps(0, 7, worker);
      for (std::int64_t step = 5; step < 7; ++step) run.operators(calls_of(step), worker);
      run.end(worker);
    }
    run.save_to(run_path("first"));
    TestRun plain;
    plain.add_steps(0, 3);
    plain.end();
    plain.save_to(run_path("plain"));
  }

  static OperatorBatch calls_of(std::int64_t step) {
    const std::int64_t at = kBeginNs + step * 1'000'000;
    OperatorBatch batch;
    batch.global_step = step;
    batch.names = {"aten::linear", "aten::addmm", "odd\x1B[31m\xFF\n\"name", "AddmmBackward0"};
    batch.tracks = {{"thread 1", 1, false}};
    batch.calls = {{0, 0, OperatorKind::kOperator, at, 100'000, 3},
                   {1, 0, OperatorKind::kOperator, at + 10'000, 80'000, 3},
                   {2, 0, OperatorKind::kUser, at + 100'000, 20'000, -1},
                   {3, 0, OperatorKind::kBackward, at + 150'000, 50'000, 3}};
    batch.lost_calls = 1;
    return batch;
  }

  std::string out(const std::string& name) const { return (folder_ / name).string(); }
};

TEST_F(Operators, SampledStacksAreApart) {
  TestRun run;
  run.add_steps(0, 7);
  OperatorBatch batch = calls_of(5);
  batch.names.push_back("train (train.py:7)");
  batch.tracks.push_back({"python thread MainThread", 1, false});
  batch.calls.push_back({4, 1, OperatorKind::kPythonStack, kBeginNs, 9'000'000, -1});
  run.operators(batch);
  run.end();
  run.save_to(run_path("stacks"));
  const Outcome operators = cli({"operators", "stacks", "--json"});
  ASSERT_EQ(operators.exit_code, 0) << operators.err;
  EXPECT_EQ(operators.json().at("operators").size(), 4u);
  EXPECT_EQ(operators.json().at("wall_ns"), 200'000);
  const Outcome stacks = cli({"operators", "stacks", "--json", "--of", "python"});
  ASSERT_EQ(stacks.exit_code, 0) << stacks.err;
  ASSERT_EQ(stacks.json().at("operators").size(), 1u);
  const nlohmann::json row = stacks.json()["operators"][0];
  EXPECT_EQ(row.at("name"), "train (train.py:7)");
  EXPECT_EQ(row.at("kind"), "python");
  EXPECT_EQ(row.at("self_ns"), 9'000'000);
  const Outcome table = cli({"operators", "stacks", "--of", "python"});
  EXPECT_NE(table.out.find("FUNCTION"), std::string::npos) << table.out;
  const Outcome none = cli({"operators", "first", "--of", "python"});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_NE(none.out.find("no stacks of Python were sampled"), std::string::npos) << none.out;
  EXPECT_EQ(cli({"export", "stacks", out("trace.json"), "--to", "chrome-trace"}).exit_code, 0);
}

TEST_F(Operators, ProgramsGetEveryNumber) {
  const Outcome outcome = cli({"operators", "first", "--json", "--sort", "total"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json answer = outcome.json();
  EXPECT_EQ(answer.at("steps"), 4);
  EXPECT_EQ(answer.at("workers"), 2);
  EXPECT_EQ(answer.at("calls"), 16);
  EXPECT_EQ(answer.at("lost_calls"), 4);
  EXPECT_EQ(answer.at("wall_ns"), 800'000);
  ASSERT_EQ(answer.at("operators").size(), 4u);
  const nlohmann::json& linear = answer["operators"][0];
  EXPECT_EQ(linear.at("name"), "aten::linear");
  EXPECT_EQ(linear.at("kind"), "operator");
  EXPECT_EQ(linear.at("calls"), 4);
  EXPECT_EQ(linear.at("total_ns"), 400'000);
  EXPECT_EQ(linear.at("self_ns"), 80'000);
  EXPECT_EQ(linear.at("mean_ns"), 100'000);
  EXPECT_EQ(linear.at("share"), 0.1);
}

TEST_F(Operators, PeopleGetTheLargestFirst) {
  const Outcome outcome = cli({"operators", "first", "--steps", "5", "--worker", "rank-00001", "--rows", "2"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("steps: 1, workers: 1, calls: 4, time: 200.0 µs"), std::string::npos) << outcome.out;
  const std::size_t addmm = outcome.out.find("aten::addmm");
  const std::size_t backward = outcome.out.find("AddmmBackward0");
  ASSERT_NE(backward, std::string::npos) << outcome.out;
  EXPECT_LT(addmm, backward);
  EXPECT_NE(outcome.out.find("40.0 %"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("and 2 more; --rows 0 shows all"), std::string::npos) << outcome.out;
  EXPECT_EQ(cli({"operators", "first", "--rows", "0"}).out.find('\x1B'), std::string::npos);
}

TEST_F(Operators, WhatIsNotThereIsAnError) {
  const Outcome plain = cli({"operators", "plain"});
  EXPECT_NE(plain.exit_code, 0);
  EXPECT_NE(plain.err.find("operator window"), std::string::npos) << plain.err;
  const Outcome worker = cli({"operators", "first", "--worker", "rank-00002"});
  EXPECT_NE(worker.exit_code, 0);
  EXPECT_NE(worker.err.find("rank-00002"), std::string::npos) << worker.err;
  EXPECT_NE(cli({"operators", "first", "--steps", "0:5"}).exit_code, 0);
  EXPECT_NE(cli({"operators", "first", "--sort", "name"}).exit_code, 0);
}

// What a program that knows only the documents of the formats makes of the files.
constexpr const char* kReader = R"(
import gzip, json, sys
def load(path): return json.loads((gzip.open if path.endswith(".gz") else open)(path, "rb").read().decode("utf-8"))
trace, packed, scope = load(sys.argv[1]), load(sys.argv[2]), load(sys.argv[3])
assert trace == packed
events = trace["traceEvents"]
assert all(e["ph"] in "XMCsf" and isinstance(e["pid"], int) for e in events)
calls = [e for e in events if e["ph"] == "X" and e["cat"] != "step"]
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
assert all(e["dur"] >= 0 and (e["pid"], e["tid"]) in names for e in calls)
assert {e["id"] for e in events if e["ph"] == "s"} == {e["id"] for e in events if e["ph"] == "f"}
assert scope["$schema"] == "https://www.speedscope.app/file-format-schema.json"
print(len(calls), len([e for e in events if e["ph"] == "s"]), sum(len(p["events"]) for p in scope["profiles"]))
)";

TEST_F(Operators, TracesAreReadByPython) {
  ASSERT_EQ(cli({"export", "first", out("t.json"), "--to", "chrome-trace"}).exit_code, 0);
  ASSERT_EQ(cli({"export", "first", out("t.json.gz"), "--to", "chrome-trace"}).exit_code, 0);
  ASSERT_EQ(cli({"export", "first", out("s.json"), "--to", "speedscope"}).exit_code, 0);
  const Outcome read = shell("/usr/bin/python3 -c '" + std::string(kReader) + "' " + out("t.json") + " " +
                             out("t.json.gz") + " " + out("s.json"));
  EXPECT_EQ(read.exit_code, 0) << read.err;
  EXPECT_EQ(read.out, "16 4 32\n");
  EXPECT_LT(read_file(out("t.json.gz")).size(), read_file(out("t.json")).size() / 3);
}

TEST_F(Operators, StacksAreALineEach) {
  const Outcome outcome =
      cli({"export", "first", out("stacks"), "--to", "collapsed", "--steps", "6:", "--worker", "rank-00000", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.json().at("calls"), 4);
  EXPECT_EQ(outcome.json().at("lost_calls"), 1);
  EXPECT_NE(read_file(out("stacks")).find("rank-00000 thread 1;aten::linear;aten::addmm 80000\n"), std::string::npos);
}

TEST_F(Operators, AnExportRefusesWhatItCannotMean) {
  const Outcome tensors = cli({"export", "first", out("t.json"), "--to", "chrome-trace", "--include", "x"});
  EXPECT_EQ(tensors.exit_code, 2) << tensors.err;
  EXPECT_FALSE(std::filesystem::exists(out("t.json")));
  EXPECT_NE(cli({"export", "plain", out("t.json"), "--to", "chrome-trace"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(out("t.json")));
  EXPECT_FALSE(std::filesystem::exists(out("t.json.tmp")));
  ASSERT_EQ(cli({"export", "first", out("t.json"), "--to", "chrome-trace"}).exit_code, 0);
  const Outcome again = cli({"export", "first", out("t.json"), "--to", "chrome-trace"});
  EXPECT_NE(again.exit_code, 0);
  EXPECT_NE(again.err.find("--force"), std::string::npos) << again.err;
  EXPECT_EQ(cli({"export", "first", out("t.json"), "--to", "chrome-trace", "--force"}).exit_code, 0);
}

TEST_F(Operators, ATraceTakesThePlaceOfAPlainFileOnly) {
  std::filesystem::create_symlink("elsewhere", out("link"));
  const Outcome link = cli({"export", "first", out("link"), "--to", "chrome-trace", "--force"});
  EXPECT_EQ(link.exit_code, 2);
  EXPECT_NE(link.err.find("found a link"), std::string::npos) << link.err;
  EXPECT_TRUE(std::filesystem::is_symlink(out("link")));
  ASSERT_EQ(::mkfifo(out("pipe").c_str(), 0600), 0);
  EXPECT_EQ(cli({"export", "first", out("pipe"), "--to", "collapsed", "--force"}).exit_code, 2);
  EXPECT_TRUE(std::filesystem::is_fifo(out("pipe")));
  std::ofstream(out("t.json.tmp")) << "mine";
  EXPECT_NE(cli({"export", "first", out("t.json"), "--to", "chrome-trace"}).exit_code, 0);
  EXPECT_EQ(read_file(out("t.json.tmp")), "mine");
}

}  // namespace
}  // namespace trainwarden::testing_cli
