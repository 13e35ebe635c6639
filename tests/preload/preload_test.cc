// LibTorch programs that know nothing of us, alone and under `trainwarden run`: they do the same, and what they say of
// themselves is what was captured.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>

#include "../cli/cli_harness.h"
#include "trainwarden/trial.h"

namespace trainwarden::testing_cli {
namespace {

const std::string kProgram = TW_UNTOUCHED_TRAINING;
const std::string kPreloaded = "LD_PRELOAD=" TW_PRELOAD_LIBRARY "${LD_PRELOAD:+:$LD_PRELOAD} ";
// `run` leaves a program alone into which a sanitizer is loaded, unless it is told otherwise.
#if defined(TW_ASAN_RUNTIME)
constexpr bool kSanitized = true;
const std::string kAttach = "--attach preload ";
#else
constexpr bool kSanitized = false;
const std::string kAttach;
#endif
const std::string kEverything = "--include . --save-interval 1 --keep values --budget 0";

std::uint64_t hash_bytes(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  return hash;
}

// The lines that are not ours.
std::string without_our_lines(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("trainwarden: ")) result += line + "\n";
  }
  return result;
}

class Untouched : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("TRAINWARDEN_WHEN_FULL", "block", 1);
#if defined(TW_ASAN_RUNTIME)
    // Our libraries want the sanitizer's in the program that loads them, and stand before it.
    setenv("LD_PRELOAD", TW_ASAN_RUNTIME, 1);
    setenv("ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=0", 1);
#endif
  }
  void TearDown() override {
    for (const char* name : {"OMP_NUM_THREADS", "TRAINWARDEN_WHEN_FULL", "LD_PRELOAD", "ASAN_OPTIONS"}) unsetenv(name);
    CliTest::TearDown();
  }

  Outcome alone(const std::string& scenario) const {
    return shell(kProgram + " " + scenario);
  }
  Outcome watched(const std::string& scenario, const std::string& options = kEverything,
                  const std::string& before = "") const {
    const std::string attach = options.find("--attach") == std::string::npos ? kAttach : "";
    return shell(before + " $TW run --name " + scenario + " " + attach + options + " -- " + kProgram + " " + scenario);
  }

  static void expect_same(const Outcome& watched, const Outcome& alone) {
    EXPECT_EQ(watched.out, alone.out);
    EXPECT_EQ(without_our_lines(watched.err), alone.err);
    EXPECT_EQ(watched.exit_code, alone.exit_code);
  }

  std::unique_ptr<Trial> trial(const std::string& name) const {
    auto opened = Trial::open(run_path(name));
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    return opened.ok() ? std::move(opened).value() : nullptr;
  }

  // Each line of truth that lies in a complete step against the run. Gives their number.
  static int check_truth(const std::string& output, Trial& trial) {
    std::istringstream lines(output);
    int count = 0;
    for (std::string word, mode, name, hash; lines >> word;) {
      if (word != "truth") continue;
      std::int64_t step = 0;
      lines >> mode >> step >> name >> hash;
      if (!trial.global_step(*parse_mode(mode), step)) continue;
      const auto value = trial.value(name, step, *parse_mode(mode));
      if (!value.ok()) {
        ADD_FAILURE() << mode << " " << step << " " << name << ": " << value.status().to_string();
        continue;
      }
      std::ostringstream found;
      found << std::hex << std::setw(16) << std::setfill('0') << hash_bytes(value->data);
      EXPECT_EQ(found.str(), hash) << mode << " " << step << " " << name;
      ++count;
    }
    return count;
  }
};

struct Scenario {
  const char* name;
  int exit_code;
  std::size_t train_steps;
  std::size_t eval_steps;
  RunState state;
};
std::ostream& operator<<(std::ostream& stream, const Scenario& scenario) {
  return stream << scenario.name;
}

class EachScenario : public Untouched, public testing::WithParamInterface<Scenario> {};

TEST_P(EachScenario, DoesTheSameAndIsCapturedAsItSays) {
#ifdef TW_ASAN_RUNTIME
  // The writer thread may hold one of the allocator's locks when the program forks, and the child waits for it forever.
  if (std::string_view(GetParam().name) == "forks")
    GTEST_SKIP() << "clang 14's AddressSanitizer does not take its locks before a fork";
#endif
  const Scenario& scenario = GetParam();
  const Outcome by_itself = alone(scenario.name);
  EXPECT_EQ(by_itself.exit_code, scenario.exit_code) << by_itself.err;
  expect_same(watched(scenario.name), by_itself);
  const auto run = trial(scenario.name);
  ASSERT_NE(run, nullptr);
  EXPECT_GT(check_truth(by_itself.out, *run), 0);
  EXPECT_EQ(run->steps(Mode::kTrain).size(), scenario.train_steps);
  EXPECT_EQ(run->steps(Mode::kEval).size(), scenario.eval_steps);
  EXPECT_EQ(run->state(), scenario.state);
}

INSTANTIATE_TEST_SUITE_P(
    Untouched, EachScenario,
    testing::Values(Scenario{"changes_optimizer", 0, 3, 0, RunState::kCompleted},
                    Scenario{"closure", 0, 2, 0, RunState::kCompleted}, Scenario{"conv", 0, 4, 2, RunState::kCompleted},
                    Scenario{"exits", 5, 2, 0, RunState::kCompleted}, Scenario{"folds", 0, 6, 0, RunState::kCompleted},
                    Scenario{"forks", 0, 2, 0, RunState::kCompleted}, Scenario{"gan", 0, 3, 0, RunState::kCompleted},
                    Scenario{"recovers", 0, 2, 0, RunState::kCompleted},
                    Scenario{"threads", 0, 3, 0, RunState::kCompleted},
                    Scenario{"transformer", 0, 3, 0, RunState::kCompleted}),
    [](const auto& instance) { return instance.param.name; });

// What was written before the end is there, and right; the last steps may be missing.
TEST_F(Untouched, EndsThatNobodyCanCatchLoseNothingThatWasWritten) {
  for (const auto& [scenario, exit_code] : {std::pair("ends_at_once", 6), std::pair("throws", 128 + SIGABRT)}) {
    const Outcome by_itself = alone(scenario);
    EXPECT_EQ(by_itself.exit_code, exit_code);
    expect_same(watched(scenario), by_itself);
    const auto run = trial(scenario);
    ASSERT_NE(run, nullptr);
    check_truth(by_itself.out, *run);
    EXPECT_NE(run->state(), RunState::kCompleted);
  }
}

TEST_F(Untouched, NamesAndCollections) {
  watched("conv");
  const auto run = trial("conv");
  ASSERT_NE(run, nullptr);
  using Names = std::vector<std::string>;
  EXPECT_EQ(run->tensor_names({.collection = "losses"}).value_or({}),
            (Names{"cross_entropy_loss_output_0", "nll_loss_output_0"}));
  EXPECT_EQ(run->tensor_names({.collection = "inputs"}).value_or({}),
            (Names{"conv_input_0", "fc_input_0", "norm_input_0", "relu_input_0"}));
  EXPECT_EQ(run->tensor_names({.collection = "optimizer_state"}).value_or({}).size(), 6u);
  EXPECT_EQ(run->tensor_names({.include = {"_output_[1-9]"}}).value_or({}), Names{});
  EXPECT_EQ(run->steps_of("nll_loss_output_0", Mode::kEval), (std::vector<std::int64_t>{0, 1}));
}

TEST_F(Untouched, OperatorsAreRecordedInTheStepsThatAreWanted) {
  const Outcome by_itself = alone("conv");
  expect_same(watched("conv", kEverything, "TRAINWARDEN_PROFILE_STEPS=1:3"), by_itself);
  const auto run = trial("conv");
  ASSERT_NE(run, nullptr);
  ASSERT_EQ(run->operator_steps("rank-00000"), (std::vector<std::int64_t>{1, 2}));
  const auto batch = run->operators("rank-00000", 2);
  ASSERT_TRUE(batch.ok()) << batch.status().to_string();
  int convolutions = 0;
  int backward = 0;
  for (const OperatorCall& call : batch->calls) {
    if (batch->names[call.name] == "aten::conv2d") ++convolutions;
    if (batch->names[call.name] == "ConvolutionBackward0" && call.kind == OperatorKind::kBackward) ++backward;
  }
  EXPECT_EQ(convolutions, 1);
  EXPECT_EQ(backward, 1);
}

TEST_F(Untouched, KindsOfLayersCanBeAskedForAlone) {
  const Outcome by_itself = alone("conv");
  const std::string kinds =
      "--include-collection relu_outputs --include-collection image_inputs --include-collection labels "
      "--include-collection predictions --save-interval 1 --keep values --budget 0";
  expect_same(watched("conv", kinds), by_itself);
  const auto run = trial("conv");
  ASSERT_NE(run, nullptr);
  const auto members = [&](const char* collection) {
    return run->tensor_names({.collection = collection}).value_or({});
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(members("relu_outputs"), Names{"relu_output_0"});
  EXPECT_EQ(members("image_inputs"), Names{"conv_input_0"});
  EXPECT_EQ(members("predictions"), (Names{"cross_entropy_loss_input_0", "nll_loss_input_0"}));
  EXPECT_EQ(members("labels"), (Names{"cross_entropy_loss_input_1", "nll_loss_input_1"}));
  EXPECT_EQ(run->value("cross_entropy_loss_input_1", 0, Mode::kTrain)->shape, (Shape{5}));
  EXPECT_EQ(run->value("nll_loss_input_0", 1, Mode::kEval)->shape, (Shape{5, 4}));
  EXPECT_FALSE(run->has_tensor("fc_output_0"));
}

TEST_F(Untouched, SignalsAreWrittenWhenTheyAreWanted) {
  const Outcome by_itself = alone("conv");
  expect_same(watched("conv", "--include-collection signals --save-interval 1 --budget 0"), by_itself);
  const auto run = trial("conv");
  ASSERT_NE(run, nullptr);
  for (std::int64_t step = 0; step < 4; ++step) {
    const auto calls = run->value("trainwarden/calls", step, Mode::kTrain);
    ASSERT_TRUE(calls.ok()) << calls.status().to_string();
    const std::vector<double> zero_backward_step = {4, 2, 3};
    const std::vector<double> known = calls->to_doubles();
    // The hook is opened by what comes first of all this.
    EXPECT_TRUE(known == zero_backward_step || (step == 0 && known.size() >= 2 && known.back() == 3)) << step;
    EXPECT_EQ(run->scalar("trainwarden/learning_rate/0", step, Mode::kTrain).value_or(0), 0.1);
    EXPECT_GT(run->scalar("trainwarden/memory/host_bytes", step, Mode::kTrain).value_or(0), 1e6);
    EXPECT_EQ(run->scalar("trainwarden/step_seconds", step, Mode::kTrain).ok(), step > 0);
  }
}

TEST_F(Untouched, PhasesSumToTheTimeOfTheStep) {
  const Outcome by_itself = alone("conv");
  expect_same(watched("conv"), by_itself);
  const auto run = trial("conv");
  ASSERT_NE(run, nullptr);
  double wall = 0;
  for (std::int64_t step = 0; step < 4; ++step) {
    const auto seconds = [&](const char* name) { return run->scalar(name, step, Mode::kTrain).value_or(0); };
    double sum = 0;
    for (const char* phase : {"rest", "backward", "optimizer", "zero_grad", "evaluation", "capture"}) {
      sum += seconds(("phase/" + std::string(phase)).c_str());
    }
    EXPECT_GT(seconds("phase/backward"), 0) << step;
    EXPECT_GT(seconds("phase/optimizer"), 0) << step;
    const double whole = seconds(step == 0 ? "phase/start" : "phase/step");
    EXPECT_NEAR(sum, whole, 1e-9 * whole) << step;
    wall += whole;
    EXPECT_NEAR(seconds("phase_total/wall"), wall, 1e-9 * wall) << step;
    EXPECT_EQ(seconds("phase_total/steps"), static_cast<double>(step + 1));
  }
  EXPECT_TRUE(run->scalar("phase/evaluation", 3, Mode::kTrain).ok());  // between the third step and the fourth
  EXPECT_FALSE(run->scalar("phase/evaluation", 2, Mode::kTrain).ok());
}

TEST_F(Untouched, WithoutOptionsLossesAndStatisticsAreCaptured) {
  const Outcome by_itself = alone("transformer");
  expect_same(watched("transformer", ""), by_itself);
  const auto run = trial("transformer");
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->steps_of("nll_loss_output_0").size(), 3u);
  EXPECT_TRUE(run->value("nll_loss_output_0", 0).ok());
  EXPECT_TRUE(run->statistics("gradient/head.weight", 0).ok());
  EXPECT_FALSE(run->value("gradient/head.weight", 0).ok());
}

// The last line of truth about the name at each step, but for the hash.
std::vector<std::string> hashes_of(const std::string& output, const std::string& name) {
  std::vector<std::string> hashes;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" " + name + " ") != std::string::npos) hashes.push_back(line.substr(line.rfind(' ')));
  }
  return hashes;
}

TEST_F(Untouched, ARuleInsideKeepsANanFromTheWeights) {
  const std::string rules = "TRAINWARDEN_GUARD_RULES=ExplodingTensor TRAINWARDEN_ON_FIRE=";
  const Outcome skips = watched("poisoned", kEverything, rules + "skip_step");
  EXPECT_EQ(skips.exit_code, 0) << skips.err;
  const auto weights = hashes_of(skips.out, "weight");
  ASSERT_EQ(weights.size(), 5u) << skips.out;
  EXPECT_EQ(weights[2], weights[1]) << "the step was left out";
  EXPECT_NE(weights[3], weights[2]) << "the next one was not";
  EXPECT_NE(skips.err.find("The optimizer's step is left out"), std::string::npos) << skips.err;
  const auto run = trial("poisoned");
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(check_truth(skips.out, *run), 10);
  EXPECT_GT(run->statistics("gradient/weight", 2)->nan_count, 0u);
  EXPECT_EQ(run->statistics("weight", 4)->nan_count, 0u);

  std::filesystem::remove_all(run_path("poisoned"));
  const Outcome stops = watched("poisoned", kEverything, rules + "stop");
  EXPECT_EQ(stops.exit_code, 128 + SIGTERM) << stops.err;
  EXPECT_EQ(hashes_of(stops.out, "weight").size(), 2u) << "it ends before the step";
  EXPECT_EQ(trial("poisoned")->state(), RunState::kStopped);
}

TEST_F(Untouched, AWordThatIsNoRuleIsSaidAndTheTrainingGoesOn) {
  const Outcome outcome = watched("poisoned", kEverything, "TRAINWARDEN_GUARD_RULES=Nonsense");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("no rule judges inside this training"), std::string::npos) << outcome.err;
}

TEST_F(Untouched, ARuleStopsIt) {
  const Outcome outcome = watched("explodes", "--rule ExplodingTensor --on-fire stop");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_EQ(trial("explodes")->state(), RunState::kStopped);
}

TEST_F(Untouched, IsFoundBehindOtherPrograms) {
  if (kSanitized) GTEST_SKIP() << "nothing is found where a sanitizer is loaded";
  const std::string program = kProgram + " exits";
  EXPECT_EQ(shell("$TW run --name behind -- env A=b nice " + program).exit_code, 5);
  EXPECT_NE(trial("behind"), nullptr);
  const Outcome hidden = shell("$TW run --name hidden -- sh -c '" + program + "; true'");
  EXPECT_EQ(hidden.exit_code, 0);
  EXPECT_NE(hidden.err.find("--attach preload"), std::string::npos) << hidden.err;
  EXPECT_EQ(shell("$TW run --name told --attach preload -- sh -c '" + program + "'").exit_code, 5);
  EXPECT_NE(trial("told"), nullptr);
}

TEST_F(Untouched, MayBeLeftAlone) {
  const Outcome outcome = watched("exits", "--attach off --no-sample");
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_NE(outcome.err.find("wrote no run"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(run_path("exits")));
}

TEST_F(Untouched, AProgramThatDoesNotTrainIsToldOf) {
  if (kSanitized) GTEST_SKIP() << "what is told is that a sanitizer is loaded";
  const Outcome outcome = watched("does_not_train", kEverything + " --no-sample");
  EXPECT_NE(outcome.err.find("did it train"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(run_path("does_not_train")));
}

TEST_F(Untouched, MissingLibrariesAreAWarning) {
  const Outcome by_itself = alone("exits");
  for (const char* variable : {"TRAINWARDEN_PRELOAD_LIBRARY", "TRAINWARDEN_ATTACH_LIBRARY"}) {
    const Outcome outcome = watched("exits", "--no-sample", std::string(variable) + "=/no/such/library.so");
    expect_same(outcome, by_itself);
    EXPECT_NE(outcome.err.find("trainwarden: warning: "), std::string::npos) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(run_path("exits")));
  }
}

TEST_F(Untouched, ARunThatIsFinishedIsAWarning) {
  watched("exits");
  const Outcome by_itself = alone("exits");
  const Outcome again = shell("TRAINWARDEN_ATTACH=1 TRAINWARDEN_RUN_DIR=" + run_path("exits").string() + " " +
                              kPreloaded + kProgram + " exits");
  expect_same(again, by_itself);
  EXPECT_NE(again.err.find("nothing is captured"), std::string::npos) << again.err;
}

TEST_F(Untouched, AProgramWithAHookOfItsOwnSpeaksForItself) {
  const Outcome outcome = shell("$TW run --name own --save-interval 100 -- " TW_QUICKSTART);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto run = trial("own");
  ASSERT_NE(run, nullptr);
  EXPECT_TRUE(run->has_tensor("MSELoss_output_0"));
  EXPECT_FALSE(run->has_tensor("mse_loss_output_0"));
  EXPECT_EQ(run->steps().size(), 5u);
}

TEST_F(Untouched, AProgramBuiltWithASanitizerIsLeftAlone) {
  const std::string program = (folder_ / "sanitized").string();
  std::filesystem::copy_file(kProgram, program);
  std::ofstream(program, std::ios::app | std::ios::binary) << "__asan_init";
  const Outcome outcome = shell("$TW run --name sanitized --no-sample -- " + program + " exits");
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_NE(outcome.err.find("sanitizer"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(run_path("sanitized")));
}

TEST_F(Untouched, OtherProgramsDoNotNoticeTheLibrary) {
  const std::string run = run_path("none").string();
  const std::string preloaded = "TRAINWARDEN_ATTACH=1 TRAINWARDEN_RUN_DIR=" + run + " " + kPreloaded;
  for (const std::string program : {"ls /", "bash -c 'echo a; exit 3'"}) {
    const Outcome with = shell(preloaded + program);
    const Outcome without = shell(program);
    expect_same(with, without);
    EXPECT_EQ(with.err, without.err);
  }
  EXPECT_FALSE(std::filesystem::exists(run));
}

TEST_F(Untouched, PythonIsNotItsAffair) {
  const std::string script = TW_PYTHON
      " -c 'import torch; m = torch.nn.Linear(2, 2); o = torch.optim.SGD(m.parameters(), 0.1);"
      " m(torch.ones(1, 2)).sum().backward(); o.step(); print(torch.__version__)'";
  const std::string run = run_path("none").string();
  const Outcome with = shell("TRAINWARDEN_ATTACH=1 TRAINWARDEN_RUN_DIR=" + run + " " + kPreloaded + script);
  expect_same(with, shell(script));
  EXPECT_FALSE(std::filesystem::exists(run));
}

}  // namespace
}  // namespace trainwarden::testing_cli
