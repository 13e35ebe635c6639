// `trainwarden tune` and `trainwarden study`, as users type them.
#include <algorithm>
#include <csignal>
#include <fstream>
#include <set>

#include <test_paths.h>

#include "job_harness.h"

namespace trainwarden::testing_cli {
namespace {

constexpr const char* kStudy = R"(
name = "toy"
job = "job.toml"
sampler = "random"
[parameters]
hundreds = {min = 100, max = 999}
[metrics]
accuracy = {goal = "maximize"}
[budget]
trials = 4
)";

class TuneCommands : public Jobs {
 protected:
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  // The program gets "--hundreds 123".
  void write_job(const std::string& seconds = "0") const {
    write("train.sh", "echo accuracy: 0.$2\nsleep " + seconds + "\n");
    write("job.toml",
          "program = [\"sh\", \"train.sh\"]\nhook = false\n[[metric]]\nname = \"accuracy\"\nregex = 'accuracy: "
          "(\\S+)'\n");
  }
  // The study's file with a part of its text exchanged.
  void write_study(const std::string& part = "", const std::string& other = "") const {
    std::string text = kStudy;
    if (!part.empty()) text.replace(text.find(part), part.size(), other);
    write("study.toml", text);
  }
  std::vector<std::string> with_places(std::vector<std::string> words, bool has_jobs) const {
    words.insert(words.end(), {"--studies", (folder_ / "studies").string()});
    if (has_jobs) words.insert(words.end(), {"--jobs", jobs().string()});
    return words;
  }
  std::vector<std::string> tune_words(std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"tune", (folder_ / "study.toml").string()};
    words.insert(words.end(), more.begin(), more.end());
    return with_places(words, true);
  }
  Outcome tune(std::vector<std::string> more = {}) const { return cli(tune_words(std::move(more))); }
  Outcome study(std::vector<std::string> words, bool has_jobs = false) const {
    words.insert(words.begin(), "study");
    return cli(with_places(std::move(words), has_jobs));
  }
  // Sixty trials whose accuracy is by hundreds alone, and one that failed.
  void write_trials() const {
    nlohmann::json events = nlohmann::json::array();
    for (int i = 0; i <= 60; ++i) {
      const int hundreds = 100 + i * 37 % 61 * 14;
      const nlohmann::json values = {{"hundreds", hundreds}, {"idle", i * 23 % 61 / 61.0}};
      events.push_back({{"kind", "suggested"}, {"at", 1}, {"trial", i}, {"sampler", "user"}, {"values", values}});
      nlohmann::json end = {{"kind", "ended"}, {"at", 2}, {"trial", i}, {"seconds", 1}, {"why", ""}};
      end["state"] = i == 60 ? "failed" : "complete";
      if (i < 60) end["metrics"] = {{"accuracy", hundreds / 1000.0}};
      events.push_back(end);
    }
    const std::filesystem::path log = folder_ / "studies/toy/log";
    std::filesystem::create_directories(log);
    std::ofstream(log / "00000001.json") << nlohmann::json({{"events", events}});
  }
  std::size_t count_jobs() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(jobs())) {
      count += std::filesystem::exists(entry.path() / "job.json") ? 1 : 0;
    }
    return count;
  }
};

TEST_F(TuneCommands, ARunToItsEndSaysWhatItFound) {
  write_job();
  write_study();
  const Outcome outcome = tune({"--parallel", "2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.rfind("The best is accuracy 0.", 0), 0u) << outcome.out;
  EXPECT_NE(outcome.err.find("its 4 trials have been made"), std::string::npos) << outcome.err;
  const auto shown = study({"show", "toy", "--json"}).json();
  EXPECT_EQ(shown.at("counts").at("complete"), 4);
  double best = 0;
  for (const auto& trial : shown.at("trials")) {
    EXPECT_NEAR(trial.at("metrics").at("accuracy").get<double>(),
                trial.at("values").at("hundreds").get<double>() / 1000, 1e-12);
    best = std::max(best, trial.at("metrics").at("accuracy").get<double>());
  }
  const auto number = shown.at("outcome").at("best").get<std::size_t>();
  EXPECT_EQ(shown.at("trials").at(number).at("metrics").at("accuracy"), best);
  EXPECT_EQ(study({"best", "toy"}).out,
            "hundreds=" + shown.at("trials").at(number).at("values").at("hundreds").dump() + "\n");
  EXPECT_EQ(count_jobs(), 4u);
}

TEST_F(TuneCommands, ATargetThatIsMissedIsSaidFirstAndByTheExitCode) {
  write_job();
  write_study("\"maximize\"", "\"maximize\", threshold = 1.5");
  const Outcome outcome = tune();
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_EQ(outcome.out.rfind("The target was not met (accuracy at least 1.5): the best is accuracy 0.", 0), 0u)
      << outcome.out;
  EXPECT_EQ(study({"show", "toy"}).exit_code, 5);
}

TEST_F(TuneCommands, ATargetThatIsMetEndsTheStudy) {
  write_job();
  write_study("\"maximize\"", "\"maximize\", threshold = 0.1");
  const Outcome outcome = tune();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.rfind("The target is met (accuracy at least 0.1)", 0), 0u) << outcome.out;
  EXPECT_EQ(count_jobs(), 1u);
}

TEST_F(TuneCommands, WhatAnotherStudyHasFoundIsNotRunAgainWithTheSameCode) {
  write_job();
  write_study("\"random\"\n[parameters]\nhundreds = {min = 100, max = 999}",
              "\"grid\"\n[parameters]\nhundreds = {min = 101, max = 104}");
  ASSERT_EQ(tune().exit_code, 0);
  EXPECT_EQ(count_jobs(), 4u);
  const Outcome again = tune({"--name", "again", "--from", "toy"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(count_jobs(), 4u) << again.err;
  const auto shown = study({"show", "again", "--json"}).json();
  EXPECT_EQ(shown.at("counts").at("complete"), 4);
  EXPECT_EQ(shown.at("inherited").at("toy"), 4);
  EXPECT_EQ(shown.at("trials").at(0).at("same_as").at("study"), "toy");
  EXPECT_NE(again.out.find("the same values as trial "), std::string::npos) << again.out;
  write("train.sh", "echo accuracy: 0.$2\n# changed\n");
  const Outcome changed = tune({"--name", "changed", "--from", "toy"});
  EXPECT_EQ(changed.exit_code, 0) << changed.err;
  EXPECT_EQ(count_jobs(), 8u) << changed.out;
  const Outcome none = tune({"--name", "other", "--from", "toi", "--dry-run"});
  EXPECT_EQ(none.exit_code, 1) << none.err;
  EXPECT_NE(none.err.find("did you mean \"toy\"?"), std::string::npos) << none.err;
}

TEST_F(TuneCommands, KilledInTheMiddleItGoesOnAndRunsNoTrialTwice) {
  write_job("0.3");
  write_study();
  {
    Background running(cli_command(tune_words({"--parallel", "2"})), folder_);
    await([&] { return std::filesystem::exists(jobs() / "toy-1" / "job.json"); });
    kill(running.id(), SIGKILL);
    running.wait();
  }
  const Outcome outcome = study({"resume", "toy"}, true);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto shown = study({"show", "toy", "--json"}).json();
  EXPECT_EQ(shown.at("counts").at("complete"), 4);
  for (const auto& trial : shown.at("trials")) EXPECT_EQ(trial.at("attempts"), 1);
  EXPECT_EQ(count_jobs(), 4u);
}

TEST_F(TuneCommands, AJobThatFailsIsAFailedTrialWithItsReason) {
  write("train.sh", "exit 7\n");
  write("job.toml", "program = [\"sh\", \"train.sh\"]\nhook = false\n");
  write_study();
  const Outcome outcome = tune({"--trials", "2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.rfind("no trial is complete: 2 failed", 0), 0u) << outcome.out;
  EXPECT_NE(outcome.out.find("exit code 7"), std::string::npos) << outcome.out;
  EXPECT_EQ(study({"best", "toy"}).exit_code, 1);
}

TEST_F(TuneCommands, MistakesAreToldBeforeAnythingStarts) {
  write_job();
  EXPECT_EQ(tune().exit_code, 1) << "no file";
  write("study.toml", "job = 'job.toml'\n[parameters]\nlr = {min = 1.0}\n[metrics]\nloss = {}\n");
  const Outcome bad = tune();
  EXPECT_EQ(bad.exit_code, 2) << bad.err;
  EXPECT_NE(bad.err.find("line 3: lr: expected min and max"), std::string::npos) << bad.err;
  EXPECT_NE(bad.err.find("loss: expected a goal"), std::string::npos) << bad.err;
  write_study("\"random\"", "\"clever\"");
  EXPECT_NE(tune().err.find("clever"), std::string::npos) << tune().err;
  write_study("job = \"job.toml\"");
  EXPECT_NE(tune().err.find("expected job"), std::string::npos) << tune().err;
  write_study("\"job.toml\"", "\"nowhere.toml\"");
  EXPECT_NE(tune().err.find("nowhere.toml"), std::string::npos) << tune().err;
  write_study();
  EXPECT_EQ(tune({"--dry-run"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "studies"));
}

TEST_F(TuneCommands, WhatIsPrunedIsStoppedAndSaysWhy) {
  // What is to be pruned does not end by itself.
  write("train.sh", "for step in 1 2 3 4; do echo accuracy: 0.$2; done\ntest $2 -ge 900 || exec sleep 600\n");
  write(
      "job.toml",
      "program = [\"sh\", \"train.sh\"]\nhook = false\n[[metric]]\nname = \"accuracy\"\nregex = 'accuracy: (\\S+)'\n");
  write_study("sampler = \"random\"", "sampler = \"random\"\npruner = \"threshold:min=0.9\"");
  const Outcome outcome = tune({"--parallel", "4"});
  const auto shown = study({"show", "toy", "--json"}).json();
  int pruned = 0;
  for (const auto& trial : shown.at("trials")) {
    const bool is_low = trial.at("values").at("hundreds") < 900;
    pruned += is_low ? 1 : 0;
    EXPECT_EQ(trial.at("state"), is_low ? "pruned" : "complete") << trial;
    const std::string why = trial.at("why");
    EXPECT_EQ(why.find("0.9") != std::string::npos, is_low) << trial;
  }
  EXPECT_GT(pruned, 0) << outcome.err;
  write_study("sampler = \"random\"", "sampler = \"random\"\npruner = \"medien\"");
  EXPECT_NE(tune({"--name", "other"}).err.find("median"), std::string::npos);
}

TEST_F(TuneCommands, WhatMatteredIsSaidWithHowSureThatIs) {
  write_study("job = \"job.toml\"\nsampler = \"random\"\n[parameters]", "[parameters]\nidle = {min = 0.0, max = 1.0}");
  ASSERT_EQ(study({"create", (folder_ / "study.toml").string()}).exit_code, 0);
  const Outcome few = study({"importance", "toy"});
  EXPECT_EQ(few.exit_code, 0) << few.err;
  EXPECT_NE(few.out.find("20 complete trials with accuracy are needed, there are 0"), std::string::npos) << few.out;
  EXPECT_EQ(study({"show", "toy"}).out.find("What mattered"), std::string::npos);
  write_trials();
  const Outcome shown = study({"importance", "toy"});
  EXPECT_NE(shown.out.find("toy: what mattered for accuracy, by 60 complete trials; 1 ended without a value"),
            std::string::npos)
      << shown.out;
  EXPECT_NE(shown.out.find("it explains them well"), std::string::npos) << shown.out;
  const bool has_bar = shown.out.find("#####") != std::string::npos || shown.out.find("█████") != std::string::npos;
  EXPECT_TRUE(has_bar) << shown.out;
  const auto answer = study({"importance", "toy", "--metric", "accuracy", "--json"}).json();
  EXPECT_EQ(answer.at("ped_anova").at(0).at("parameter"), "hundreds");
  EXPECT_EQ(answer.at("fanova").at("single").at(0).at("parameter"), "hundreds");
  EXPECT_EQ(answer.at("fanova").at("single").at(1).at("low"), 0);
  EXPECT_NE(study({"show", "toy"}).out.find("\nWhat mattered: hundreds "), std::string::npos);
  const Outcome other = study({"importance", "toy", "--metric", "loss"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("expected a metric that counts in study toy: accuracy; found \"loss\""), std::string::npos)
      << other.err;
}

TEST_F(TuneCommands, TrialsOfOnesOwn) {
  write_study("job = \"job.toml\"");
  ASSERT_EQ(study({"create", (folder_ / "study.toml").string()}).exit_code, 0);
  EXPECT_EQ(study({"create", (folder_ / "study.toml").string()}).exit_code, 1);
  EXPECT_EQ(study({"enqueue", "toy", "hundreds=500"}).out, "0\n");
  EXPECT_EQ(study({"enqueue", "toy", "hundreds=5"}).exit_code, 2);
  EXPECT_EQ(study({"ask", "toy"}).out, "0 hundreds=500\n");
  const auto asked = study({"ask", "toy", "--json"}).json();
  EXPECT_EQ(asked.at("number"), 1);
  EXPECT_EQ(study({"report", "toy", "0", "--step", "10", "accuracy=0.4"}).out, "go on\n");
  EXPECT_EQ(study({"tell", "toy", "0", "accuracy=0.5"}).exit_code, 0);
  EXPECT_EQ(study({"tell", "toy", "0", "accuracy=0.5"}).exit_code, 0);
  EXPECT_EQ(study({"tell", "toy", "0", "accuracy=0.6"}).exit_code, 1);
  EXPECT_EQ(study({"tell", "toy", "1", "acuracy=0.6"}).exit_code, 1);
  EXPECT_EQ(study({"tell", "toy", "1", "accuracy=high"}).exit_code, 2);
  const Outcome nan = study({"tell", "toy", "1", "accuracy=nan"});
  EXPECT_NE(nan.err.find("trial 1 counts as failed: accuracy is NaN"), std::string::npos) << nan.err;
  EXPECT_EQ(study({"show", "toy"}).out.rfind("The best is accuracy 0.5 in trial 0.", 0), 0u);
  const Outcome csv = study({"export", "toy"});
  EXPECT_EQ(csv.out.rfind("trial,state,hundreds,accuracy,seconds,sampler,job,why\n0,complete,500,0.5,", 0), 0u)
      << csv.out;
  EXPECT_EQ(study({"stop", "toy"}, true).exit_code, 0);
  EXPECT_NE(study({"ask", "toy"}).err.find("the study has ended: stopped by"), std::string::npos);
  EXPECT_EQ(study({"ls", "--json"}).json().at("studies").at(0).at("study"), "toy");
  EXPECT_NE(study({"show", "toi"}).err.find("did you mean \"toy\"?"), std::string::npos);
}

TEST_F(TuneCommands, AnOpenStudyGetsParametersAsTrialsAskForThem) {
  write_study("job = \"job.toml\"", "open = true");
  ASSERT_EQ(study({"create", (folder_ / "study.toml").string()}).exit_code, 0);
  ASSERT_EQ(study({"ask", "toy"}).exit_code, 0);
  const auto extended = study({"extend", "toy", "0", "rate={min = 0.1, max = 0.9}", "--json"});
  ASSERT_EQ(extended.exit_code, 0) << extended.err;
  const double rate = extended.json().at("values").at("rate").get<double>();
  EXPECT_TRUE(rate >= 0.1 && rate <= 0.9) << extended.out;
  // Who asks once more gets the same value; other trials get one of their own.
  EXPECT_EQ(study({"extend", "toy", "0", "rate={min = 0.1, max = 0.9}", "--json"}).json().at("values").at("rate"),
            rate);
  const Outcome other = study({"extend", "toy", "0", "rate={choices = [\"a\", \"b\"]}"});
  EXPECT_NE(other.exit_code, 0);
  EXPECT_NE(other.err.find("rate"), std::string::npos) << other.err;
  EXPECT_EQ(study({"extend", "toy", "0", "rate"}).exit_code, 2);
  EXPECT_EQ(study({"extend", "toy", "7", "rate={min = 0.1, max = 0.9}"}).exit_code, 1);
}

TEST_F(TuneCommands, AStudyThatIsNotOpenTakesNoOtherParameters) {
  write_study("job = \"job.toml\"");
  ASSERT_EQ(study({"create", (folder_ / "study.toml").string()}).exit_code, 0);
  ASSERT_EQ(study({"ask", "toy"}).exit_code, 0);
  const Outcome outcome = study({"extend", "toy", "0", "rate={min = 0.1, max = 0.9}"});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("open"), std::string::npos) << outcome.err;
}

TEST_F(TuneCommands, StudiesOfOptunaAreImportedAndGoOn) {
  for (const char* file : {"study.db", "study.log"}) {
    const std::string storage = std::string(TW_SOURCE_DIR "/testdata/optuna/") + file;
    const Outcome which = study({"import", storage});
    EXPECT_NE(which.exit_code, 0);
    EXPECT_NE(which.err.find("expected --study with one of its studies, \"two goals\", \"curves\"; found none"),
              std::string::npos)
        << which.err;
    const std::string name = file == std::string("study.db") ? "of-database" : "of-journal";
    const Outcome imported = study({"import", storage, "--study", "curves", "--as", name, "--json"});
    ASSERT_EQ(imported.exit_code, 0) << imported.err;
    EXPECT_EQ(imported.json().at("left_out"), 0);
    const auto shown = study({"show", name, "--json"}).json();
    EXPECT_EQ(shown.at("counts").at("complete"), 4);
    EXPECT_EQ(shown.at("counts").at("pruned"), 1);
    EXPECT_EQ(shown.at("counts").at("failed"), 2);  // one of them was running
    EXPECT_EQ(study({"ask", name, "--json"}).json().at("number"), 7);
    const Outcome again = study({"import", storage, "--study", "curves", "--as", name});
    EXPECT_EQ(again.exit_code, 1) << again.out;
  }
  const Outcome goals = study({"import", TW_SOURCE_DIR "/testdata/optuna/study.db", "--study", "two goals"});
  EXPECT_EQ(goals.exit_code, 0) << goals.err;
  EXPECT_EQ(goals.out.rfind("two-goals: 4 trials. ", 0), 0u) << goals.out;
  EXPECT_NE(goals.err.find("1 trial that nobody had begun was left out"), std::string::npos) << goals.err;
  EXPECT_NE(study({"import", (folder_ / "none.db").string()}).err.find("there is no file"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::testing_cli
