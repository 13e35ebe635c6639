#include "work/catalogue/component_search.h"

#include <chrono>
#include <cmath>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "core/base/folder_testing.h"
#include "work/catalogue/catalogue.h"
#include "work/catalogue/component_frame.h"
#include "work/jobs/job_record.h"

namespace trainwarden::catalogue {
namespace {

using experiments::ComponentRecord;

class ComponentSearchTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(store_.create_experiment({"digits", "", "", 1, {}}).ok());
    ASSERT_TRUE(store_.create_experiment({"words", "", "", 2, {}}).ok());
    ASSERT_TRUE(store_.ensure_trial({"cnn", "digits", "", 1}).ok());
    ASSERT_TRUE(store_.ensure_trial({"mlp", "digits", "", 2}).ok());
    ASSERT_TRUE(store_.ensure_trial({"bert", "words", "", 3}).ok());
    add("a", 10, 0.1, "adam", {"cnn"}, {0.9, 0.5});
    add("b", 20, 0.01, "sgd", {"mlp"}, {0.8, std::nan("")});
    add("c", 30, 0.001, "adam", {"cnn", "bert"}, {});
  }

  void add(const std::string& name, std::int64_t time, double lr, const std::string& optimizer,
           std::set<std::string> trials, const std::vector<double>& losses) {
    ComponentRecord record;
    record.unix_ns = time;
    record.status = name == "b" ? "Failed" : "Completed";
    record.parameters = {{"lr", lr}, {"optimizer", optimizer}};
    record.trials = std::move(trials);
    for (const double loss : losses) record.metrics["loss"].add(loss, ++time);
    record.inputs["train"] = {"data/" + name, "text/csv", "DataSet", "", std::nullopt, ""};
    record.tags = {{"team", name == "c" ? "nlp" : "vision"}};
    ASSERT_TRUE(store_.add_record(name, record).ok());
  }

  Catalogue& catalogue() {
    if (!catalogue_) catalogue_.emplace(*Catalogue::open(folder_.path() / "catalogue"));
    return *catalogue_;
  }

  std::string names(const SearchExpression& expression, const SortChoice& sort = {"TrialComponentName", true}) {
    const auto found = catalogue().components(store_, expression, sort, kMostComponents);
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    std::string all;
    for (const FoundComponent& one : found.value_or({})) all += one.component.name;
    return all;
  }
  std::string filtered(const std::string& text) {
    const auto filter = parse_search_filter(text);
    EXPECT_TRUE(filter.ok()) << filter.status().to_string();
    return filter.ok() ? names({{*filter}, {}, {}, false}) : "wrong";
  }
  std::string searched(const std::string& json) {
    const auto expression = parse_search_expression(json);
    EXPECT_TRUE(expression.ok()) << expression.status().to_string();
    return expression.ok() ? names(*expression) : "wrong";
  }

  TestFolder folder_;
  experiments::ExperimentStore store_{storage::Location(folder_.path() / "experiments")};
  std::optional<Catalogue> catalogue_;
};

TEST_F(ComponentSearchTest, EveryOperatorOnEveryKindOfValue) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"Parameters.lr = 0.1", "a"},
      {"Parameters.lr Equals 1e-1", "a"},
      {"Parameters.lr != 0.1", "bc"},
      {"Parameters.lr > 0.001", "ab"},
      {"Parameters.lr >= 0.001", "abc"},
      {"Parameters.lr < 0.01", "c"},
      {"Parameters.lr LessThanOrEqualTo 0.01", "bc"},
      {"Parameters.lr In 0.1,0.001", "ac"},
      {"Parameters.optimizer = adam", "ac"},
      {"Parameters.optimizer ~ da", "ac"},
      {"Parameters.optimizer NotEquals adam", "b"},
      {"Parameters.momentum Exists", ""},
      {"Parameters.momentum NotExists", "abc"},
      {"Parameters.momentum != 1", ""},
      {"Metrics.loss.Min < 0.6", "a"},
      {"Metrics.loss.Count = 2", "ab"},
      {"Metrics.loss.Last Exists", "a"},  // of b it is NaN
      {"Metrics.loss NotExists", "bc"},
      {"Status = Failed", "b"},
      {"Status.PrimaryStatus In Failed,Completed", "abc"},
      {"TrialComponentName In a,c,x", "ac"},
      {"Parents.ExperimentName = words", "c"},
      {"Parents.TrialName = cnn", "ac"},
      {"Parents.TrialName != cnn", "b"},
      {"InputArtifacts.train = data/b", "b"},
      {"InputArtifacts.train.MediaType = text/csv", "abc"},
      {"OutputArtifacts.model Exists", ""},
      {"Tags.team = vision", "ab"},
      {"CreationTime >= 1970-01-01T00:00:00.00000002Z", "bc"},
      {"EndTime Exists", ""},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(filtered(text), expected) << text;
}

TEST_F(ComponentSearchTest, ExpressionsOfSageMaker) {
  EXPECT_EQ(searched("{}"), "abc");
  EXPECT_EQ(searched(R"({"Operator":"Or","Filters":[{"Name":"Parameters.lr","Operator":"LessThan","Value":"0.005"},
                         {"Name":"Status.PrimaryStatus","Value":"Failed"}]})"),
            "bc");
  EXPECT_EQ(searched(R"({"Filters":[{"Name":"Parents.ExperimentName","Operator":"Equals","Value":"digits"}],
                         "SubExpressions":[{"Operator":"Or","Filters":[
                           {"Name":"Parameters.optimizer","Operator":"Equals","Value":"sgd"},
                           {"Name":"Metrics.loss.Max","Operator":"GreaterThan","Value":"0.85"}]}]})"),
            "ab");
  // One parent that is both: c has a trial of words, and one called cnn, which is of digits.
  EXPECT_EQ(
      searched(
          R"({"Filters":[{"Name":"Parents.ExperimentName","Value":"words"},{"Name":"Parents.TrialName","Value":"cnn"}]})"),
      "c");
  EXPECT_EQ(searched(R"({"NestedFilters":[{"NestedPropertyName":"Parents","Filters":[
                         {"Name":"Parents.ExperimentName","Value":"words"},{"Name":"Parents.TrialName","Value":"cnn"}]}]})"),
            "");
  EXPECT_EQ(searched(R"({"NestedFilters":[{"NestedPropertyName":"Parents","Filters":[
                         {"Name":"Parents.ExperimentName","Value":"words"},
                         {"Name":"Parents.TrialName","Operator":"NotEquals","Value":"cnn"}]}]})"),
            "c");
}

TEST_F(ComponentSearchTest, SortsByAnyValueAndWhatHasNoneLast) {
  EXPECT_EQ(names({}, {"CreationTime", false}), "cba");
  EXPECT_EQ(names({}, {"Parameters.lr", true}), "cba");
  EXPECT_EQ(names({}, {"Metrics.loss.Min", false}), "bac");
  EXPECT_EQ(names({}, {"Metrics.loss.Min", true}), "abc");
  EXPECT_EQ(names({}, {"Parents.ExperimentName", false}).front(), 'c');
}

TEST_F(ComponentSearchTest, MistakesAreNamed) {
  const auto refused = [](const Status& status, const std::string& part) {
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << part;
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  };
  const auto wrong = [&](const char* property, const char* value, SearchOperator comparison, const char* part) {
    refused(condition_of({{{property, comparison, value}}, {}, {}, false}).status(), part);
  };
  wrong("TrialComponentNam", "x", SearchOperator::kEquals, "did you mean \"TrialComponentName\"?");
  wrong("Parameters", "x", SearchOperator::kEquals, "components have no");
  wrong("Metrics.loss.Max", "much", SearchOperator::kEquals, "\"much\" is no number");
  wrong("CreationTime", "soon", SearchOperator::kGreaterThan, "\"soon\" is no time");
  refused(sort_key_of("Nonsense").status(), "components have no \"Nonsense\"");
  for (const char* text : {"", "lr", "= 1", "lr >", "Exists", "lr Equals"}) {
    refused(parse_search_filter(text).status(), "is no filter");
  }
  refused(parse_search_expression("[]").status(), "");
  refused(parse_search_expression(R"({"Filter":[]})").status(), "did you mean \"Filters\"?");
  refused(parse_search_expression(R"({"Filters":[{"Name":"a","Operator":"Like","Value":"b"}]})").status(),
          "SearchExpression.Filters[0]: \"Like\" is no operator");
  refused(parse_search_expression(R"({"Filters":[{"Name":"a"}]})").status(), "expected a text Value");
  refused(parse_search_expression(R"({"Operator":"Xor"})").status(), "expected And or Or");
  std::string many = "[";
  for (int i = 0; i < 21; ++i) many += fmt::format("{}{{\"Name\":\"a\",\"Value\":\"b\"}}", i == 0 ? "" : ",");
  refused(parse_search_expression(fmt::format("{{\"Filters\":{}]}}", many)).status(), "21 entries; 20 are the most");
  std::string deep = "{}";
  for (int i = 0; i < 6; ++i) deep = fmt::format("{{\"SubExpressions\":[{}]}}", deep);
  refused(parse_search_expression(deep).status(), "nested deeper than 5");
  refused(condition_of({{}, {{"Status", {{"Status", SearchOperator::kEquals, "x"}}}}, {}, false}).status(),
          "expected one of Parents");
}

// What a value holds is never part of the query.
TEST_F(ComponentSearchTest, ValuesAreNoSql) {
  EXPECT_EQ(filtered("Parameters.optimizer = x' OR '1'='1"), "");
  EXPECT_EQ(filtered("Parameters.x' OR '1'='1 Exists"), "");
  EXPECT_EQ(filtered("TrialComponentName = a; DROP TABLE component"), "");
  EXPECT_EQ(names({}), "abc");
}

TEST_F(ComponentSearchTest, TheFrameHasTheColumnsOfExperimentAnalytics) {
  const auto found = catalogue().components(store_, {}, {"TrialComponentName", true}, kMostComponents);
  ASSERT_TRUE(found.ok());
  const ComponentFrame frame = frame_of(*found, {});
  EXPECT_EQ(frame.columns,
            (std::vector<std::string>{"TrialComponentName", "DisplayName", "lr", "optimizer", "loss - Min",
                                      "loss - Max", "loss - Avg", "loss - StdDev", "loss - Last", "loss - Count",
                                      "train - MediaType", "train - Value", "Trials", "Experiments"}));
  ASSERT_EQ(frame.rows.size(), 3u);
  EXPECT_EQ(frame.rows[0][4], FrameCell(0.5));
  EXPECT_DOUBLE_EQ(std::get<double>(frame.rows[0][6]), 0.7);
  EXPECT_DOUBLE_EQ(std::get<double>(frame.rows[0][7]), 0.2);
  EXPECT_TRUE(std::isnan(std::get<double>(frame.rows[1][8])));
  EXPECT_EQ(frame.rows[2][4], FrameCell());
  EXPECT_EQ(frame.rows[2][12], FrameCell(std::vector<std::string>{"bert", "cnn"}));
  EXPECT_EQ(frame.rows[2][13], FrameCell(std::vector<std::string>{"digits", "words"}));
  const ComponentFrame narrow = frame_of(*found, {{"none"}, {"lr"}, {"none"}, {"none"}});
  EXPECT_EQ(narrow.columns,
            (std::vector<std::string>{"TrialComponentName", "DisplayName", "lr", "Trials", "Experiments"}));
}

TEST_F(ComponentSearchTest, WhatIsNewIsFoundAndWhatIsGoneIsNot) {
  EXPECT_EQ(names({}), "abc");
  add("d", 40, 1, "adam", {"mlp"}, {});
  ComponentRecord later;
  later.unix_ns = 50;
  later.parameters = {{"lr", 7.0}};
  ASSERT_TRUE(store_.add_record("a", later).ok());
  EXPECT_EQ(filtered("Parameters.lr >= 1"), "ad");
  std::filesystem::remove_all(folder_.path() / "experiments/components/b");
  EXPECT_EQ(names({}), "acd");
  const auto experiments = catalogue().experiments(store_);
  ASSERT_EQ(experiments->size(), 2u);
  EXPECT_EQ((*experiments)[1].info.name, "digits");
  EXPECT_EQ((*experiments)[1].trials, 2);
  EXPECT_EQ((*experiments)[1].components, 3);
  EXPECT_EQ(catalogue().trials(store_, "digits")->size(), 2u);
}

// Nothing that was read again: what looks as it did is not opened.
TEST_F(ComponentSearchTest, WhatHasNotChangedIsNotReadAgain) {
  const std::filesystem::path folder = folder_.path() / "experiments/components/a";
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(folder, old);
  names({});
  std::ofstream(folder / "component.json") << "{";
  std::filesystem::last_write_time(folder, old);
  EXPECT_EQ(filtered("Parameters.lr = 0.1"), "a");
  std::filesystem::last_write_time(folder, old + std::chrono::seconds(1));
  EXPECT_EQ(filtered("Parameters.lr = 0.1"), "");
}

TEST_F(ComponentSearchTest, AComponentFollowsItsJob) {
  FakeClock clock;
  jobs::JobOrder order;
  order.name = "bert-7";
  order.program = {"true"};
  auto job = jobs::JobRecord::create(folder_.path() / "jobs", order);
  ASSERT_TRUE(job.ok());
  ComponentRecord record;
  record.unix_ns = 60;
  record.status = "InProgress";
  record.source = (folder_.path() / "jobs/bert-7").string();
  ASSERT_TRUE(store_.add_record("bert-7-aws-training-job", record).ok());
  std::filesystem::last_write_time(folder_.path() / "experiments/components/bert-7-aws-training-job",
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_EQ(filtered("Status = InProgress"), "bert-7-aws-training-job");
  const auto stopping = job->advance(*job->current(), jobs::JobPhase::kStopping, "user", "", clock);
  EXPECT_EQ(filtered("Status = Stopping"), "bert-7-aws-training-job");
  ASSERT_TRUE(job->advance(*stopping, jobs::JobPhase::kStopped, "program", "it is over", clock).ok());
  EXPECT_EQ(filtered("Status = Stopped"), "bert-7-aws-training-job");
  EXPECT_EQ(filtered("Status.Message = it is over"), "bert-7-aws-training-job");
}

}  // namespace
}  // namespace trainwarden::catalogue
