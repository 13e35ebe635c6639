#include "tune/optuna/optuna_study.h"

#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>

#include <gtest/gtest.h>
#include <test_paths.h>

#include "core/base/folder_testing.h"
#include "work/catalogue/database.h"

namespace trainwarden::tune {
namespace {

const std::filesystem::path kData = TW_SOURCE_DIR "/testdata/optuna";  // made by make.py there

std::string text_of_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class OptunaFilesTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) {
    std::ofstream(folder_.path() / "file", std::ios::binary) << text;
    return folder_.path() / "file";
  }
  // The database after some SQL.
  std::filesystem::path changed(const char* sql) {
    const auto file = write(text_of_file(kData / "study.db"));
    auto database = catalogue::Database::open(file, false);
    EXPECT_TRUE(database.ok() && database->execute(sql).ok());
    return file;
  }
  TestFolder folder_;
};

TEST_F(OptunaFilesTest, BothKindsHaveTheSameStudies) {
  for (const char* name : {"study.db", "study.log"}) {
    EXPECT_EQ(*optuna_study_names(kData / name), (std::vector<std::string>{"two goals", "curves"}));
    const auto goals = read_optuna_study(kData / name, "two goals");
    ASSERT_TRUE(goals.ok()) << goals.status().message();
    EXPECT_EQ(goals->goals, (std::vector<Goal>{Goal::kMinimize, Goal::kMaximize}));
    EXPECT_EQ(goals->metric_names, (std::vector<std::string>{"loss", "accuracy"}));
    ASSERT_EQ(goals->trials.size(), 5u);
    EXPECT_EQ(goals->trials[4].state, TrialState::kWaiting);
    const OptunaTrial& first = goals->trials[0];
    EXPECT_TRUE(first.parameters.at("rate").range.log);
    EXPECT_EQ(first.parameters.at("kind").range.choices[1], TriedValue("None"));
    EXPECT_EQ(first.parameters.at("layers").range.step, 2);
    EXPECT_EQ(first.values[1], first.parameters.at("layers").value);
    EXPECT_TRUE(first.attributes.at("notes").starts_with("[1"));
    EXPECT_GT(first.start_unix_ns, 1'700'000'000'000'000'000);
    EXPECT_GE(first.end_unix_ns, first.start_unix_ns);
  }
}

TEST_F(OptunaFilesTest, CurvesHaveWhatIsNoNumber) {
  for (const char* name : {"study.db", "study.log"}) {
    const auto study = read_optuna_study(kData / name, "curves");
    ASSERT_TRUE(study.ok()) << study.status().message();
    std::vector<TrialState> states;
    for (const OptunaTrial& trial : study->trials) states.push_back(trial.state);
    using enum TrialState;
    EXPECT_EQ(states,
              (std::vector<TrialState>{kComplete, kPruned, kFailed, kComplete, kComplete, kComplete, kRunning}));
    const OptunaTrial& pruned = study->trials[1];
    EXPECT_TRUE(std::isnan(pruned.steps.at(1)));
    EXPECT_TRUE(std::isinf(pruned.steps.at(2)));
    EXPECT_TRUE(std::isnan(study->trials[2].values[0]));
    EXPECT_FALSE(study->trials[0].parameters.contains("odd"));
    EXPECT_EQ(study->trials[3].parameters.at("x").range.max, 2);
  }
}

TEST_F(OptunaFilesTest, OtherFilesAreNamed) {
  EXPECT_EQ(optuna_study_names(folder_.path() / "none").status().code(), Code::kNotFound);
  EXPECT_EQ(optuna_study_names(folder_.path()).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(optuna_study_names(write("hello")).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(optuna_study_names(write("")).status().code(), Code::kInvalidArgument);
  std::filesystem::create_symlink(kData / "study.db", folder_.path() / "link");
  EXPECT_EQ(optuna_study_names(folder_.path() / "link").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(read_optuna_study(kData / "study.db", "other").status().code(), Code::kNotFound);
}

TEST_F(OptunaFilesTest, OddTablesAreErrors) {
  for (const char* sql : {
           "UPDATE trial_params SET distribution_json = '{' WHERE param_id = 1",
           "UPDATE trial_params SET param_value = 9 WHERE param_name = 'rate'",
           "UPDATE trial_params SET param_value = NULL",
           "UPDATE trials SET state = 'ODD'",
           "UPDATE trials SET number = 0",
           "UPDATE trials SET datetime_start = 'yesterday'",
           "UPDATE study_directions SET direction = 'NOT_SET'",
           "DELETE FROM study_directions",
           "UPDATE trial_values SET objective = 7 WHERE objective = 1",
           "UPDATE study_system_attributes SET value_json = '[1]'",
       }) {
    const Status status = read_optuna_study(changed(sql), "two goals").status();
    EXPECT_EQ(status.code(), Code::kDataLoss) << sql << ": " << status.message();
  }
  EXPECT_EQ(optuna_study_names(changed("DROP TABLE trial_values")).status().code(), Code::kInvalidArgument);
  const char* endless =
      "DROP TABLE trial_values; CREATE VIEW trial_values AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM "
      "n) "
      "SELECT i FROM n";
  EXPECT_EQ(optuna_study_names(changed(endless)).status().code(), Code::kInvalidArgument);
  const char* large = "UPDATE trial_params SET distribution_json = zeroblob(3000000)";
  EXPECT_EQ(read_optuna_study(changed(large), "two goals").status().code(), Code::kResourceExhausted);
}

TEST_F(OptunaFilesTest, DamagedDatabasesEndInAnError) {
  const std::string whole = text_of_file(kData / "study.db");
  for (std::size_t at = 100; at < whole.size(); at += 997) {
    std::string text = whole;
    for (std::size_t i = at; i < std::min(at + 64, text.size()); ++i) text[i] = static_cast<char>(~text[i]);
    for (const char* name : {"two goals", "curves"}) (void)read_optuna_study(write(text), name);
  }
  // The last pages are none of this study's.
  for (std::size_t size = 16; size < whole.size() / 2; size += 4099) {
    EXPECT_FALSE(read_optuna_study(write(whole.substr(0, size)), "curves").ok()) << size;
  }
}

TEST_F(OptunaFilesTest, AJournalThatIsBeingWrittenIsReadToItsLastWholeLine) {
  const std::string whole = text_of_file(kData / "study.log");
  const auto cut = read_optuna_study(write(whole.substr(0, whole.size() - 30)), "curves");
  ASSERT_TRUE(cut.ok()) << cut.status().message();
  EXPECT_TRUE(cut->trials.back().parameters.empty());
  const Status odd =
      read_optuna_study(write(whole + "{\"op_code\": 6, \"trial_id\": 99, \"state\": 1}\n"), "curves").status();
  EXPECT_EQ(odd.code(), Code::kDataLoss);
  EXPECT_NE(odd.message().find("no trial 99"), std::string::npos) << odd.message();
}

}  // namespace
}  // namespace trainwarden::tune
