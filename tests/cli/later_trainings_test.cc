// run: trainings that further processes of its program make, and programs that end before they train.
#include <filesystem>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

class LaterTrainings : public CliTest {
 protected:
  // The program's first training, and others as processes that find the run taken have theirs.
  Outcome run_script(const std::string& options, const std::string& later) const {
    return shell("export TT=" + tiny_training().string() + "; $TW run --name r " + options +
                 " -- sh -c '$TT --steps 5; " + later + "'");
  }

  static std::string beside(const std::string& number, const std::string& options = "--steps 5") {
    return "TRAINWARDEN_RUN_DIR=$TRAINWARDEN_RUN_DIR-p" + number + " $TT " + options + "; ";
  }
};

TEST_F(LaterTrainings, AreJudgedByTheSameRules) {
  const Outcome outcome =
      run_script("--rule VanishingGradient", beside("18", "--steps 9 --vanish-at 3") + beside("17", "--steps 9"));
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_NE(outcome.err.find("2 more processes of the program trained as well"), std::string::npos) << outcome.err;
  const auto second = outcome.err.find("run r-p18 completed, 9 steps"), third = outcome.err.find("run r-p17 completed");
  EXPECT_LT(second, third) << "in the order in which they began: " << outcome.err;
  ASSERT_NE(third, std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.substr(second, third - second).find("VanishingGradient fired at step 3"), std::string::npos);
  EXPECT_EQ(outcome.err.substr(third).find("fired"), std::string::npos) << outcome.err;
  EXPECT_EQ(cli({"diagnose", "r-p18", "--json"}).json().at("alarms").at(0), "VanishingGradient") << "it is kept";
}

TEST_F(LaterTrainings, AreToldWithoutRulesToo) {
  const Outcome outcome = run_script("", beside("17"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("another process of the program trained as well"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("run r-p17 completed, 5 steps"), std::string::npos) << outcome.err;
}

TEST_F(LaterTrainings, DoNotChangeTheCodeOfAProgramThatFails) {
  EXPECT_EQ(run_script("--rule VanishingGradient", beside("17", "--steps 9 --vanish-at 3") + "exit 5").exit_code, 5);
}

TEST_F(LaterTrainings, OfAnEarlierRunAreNone) {
  train("r-p17");
  train("r-posted");
  const Outcome outcome = run_script("", "true");
  EXPECT_EQ(outcome.err.find("as well"), std::string::npos) << outcome.err;
}

TEST_F(LaterTrainings, AreJudgedInBoundedNumber) {
  std::string later;
  for (int number = 101; number <= 118; ++number) later += beside(std::to_string(number), "--steps 2");
  const Outcome outcome = run_script("", later);
  EXPECT_NE(outcome.err.find("18 more processes"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("run r-p116 completed"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("run r-p117 completed"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("2 of them were not judged, from r-p117 on: "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("diagnose r-p117"), std::string::npos) << outcome.err;
}

TEST_F(LaterTrainings, WhoFailsBeforeItTrainsIsNotAskedWhetherItDoes) {
  const Outcome failed = shell("$TW run --no-sample -- sh -c 'exit 7'");
  EXPECT_EQ(failed.exit_code, 7);
  EXPECT_NE(failed.err.find("it ended with exit code 7 before any training was seen\n"), std::string::npos);
  EXPECT_EQ(failed.err.find("open a hook"), std::string::npos) << failed.err;
  const Outcome killed = shell("$TW run --no-sample -- sh -c 'kill -9 $$'");
  EXPECT_NE(killed.err.find("it ended with signal 9 (Killed) before any training"), std::string::npos) << killed.err;
  EXPECT_NE(shell("$TW run --no-sample -- sh -c true").err.find("open a hook"), std::string::npos);
  const Outcome logged = shell("$TW run --no-sample --log " + (folder_ / "log").string() +
                               " -- sh -c 'echo; echo Error: no data >&2; exit 1'");
  EXPECT_NE((logged.err + logged.out).find("before any training was seen: Error: no data\n"), std::string::npos)
      << logged.err;
}

}  // namespace
}  // namespace trainwarden::testing_cli
