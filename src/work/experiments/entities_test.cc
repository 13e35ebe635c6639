#include "work/experiments/entities.h"

#include <cmath>

#include <gtest/gtest.h>

namespace trainwarden::experiments {
namespace {

ComponentRecord some_record() {
  ComponentRecord record;
  record.unix_ns = 5;
  record.display_name = "first try";
  record.run_name = "run-1";
  record.source = "/jobs/bert-7";
  record.status = "Completed";
  record.message = "fine";
  record.start_unix_ns = 3;
  record.end_unix_ns = 4;
  record.parameters = {{"lr", 0.1}, {"optimizer", "adam"}};
  record.metrics["loss"].add(0.5, 4);
  record.metrics["loss"].add(std::nan(""), 5);
  record.inputs["train"] = {"data/train", "text/csv", "DataSet", "sha256:00", 12, ""};
  record.outputs["model"] = {"model.tar.gz", "", "Model", "", std::nullopt, "too large to be hashed"};
  record.tags = {{"team", "nlp"}};
  record.trials = {"t-1", "t-2"};
  return record;
}

TEST(EntitiesTest, NamesAreThoseOfSageMaker) {
  for (const char* good : {"a", "Exp-1", "a--b", "0"}) EXPECT_TRUE(is_entity_name(good)) << good;
  for (const char* bad : {"", "-a", "a-", "a_b", "a/b", "..", "a b", "\xc3\xa4"})
    EXPECT_FALSE(is_entity_name(bad)) << bad;
  EXPECT_TRUE(is_entity_name(std::string(120, 'a')));
  EXPECT_FALSE(is_entity_name(std::string(121, 'a')));
}

TEST(EntitiesTest, ARecordSurvivesItsDocument) {
  const ComponentRecord record = some_record();
  const auto back = decode_record(encode(record), "r");
  ASSERT_TRUE(back.ok()) << back.status().to_string();
  EXPECT_TRUE(std::isnan(back->metrics.at("loss").last));
  EXPECT_EQ(encode(*back), encode(record));
  EXPECT_EQ(back->inputs, record.inputs);
  EXPECT_EQ(back->parameters, record.parameters);
  const ExperimentInfo experiment{"e", "E", "about it", 7, {{"a", "b"}}};
  EXPECT_EQ(*decode_experiment(encode(experiment), "e"), experiment);
  const TrialInfo trial{"t", "e", "T", 8};
  EXPECT_EQ(*decode_trial(encode(trial), "t"), trial);
}

TEST(EntitiesTest, WhatIsSaidLaterCounts) {
  ComponentRecord now = some_record();
  ComponentRecord later;
  later.unix_ns = 9;
  later.status = "Failed";
  later.parameters = {{"lr", 0.2}};
  later.metrics["loss"].add(0.25, 9);
  later.trials = {"t-3"};
  now.merge(later);
  EXPECT_EQ(now.status, "Failed");
  EXPECT_EQ(now.display_name, "first try");
  EXPECT_EQ(std::get<double>(now.parameters.at("lr")), 0.2);
  EXPECT_EQ(now.parameters.size(), 2u);
  EXPECT_EQ(now.metrics.at("loss").count, 3u);
  EXPECT_EQ(now.metrics.at("loss").min, 0.25);
  EXPECT_EQ(now.trials.size(), 3u);
}

TEST(EntitiesTest, LimitsHoldForWritersAndForFiles) {
  const auto refused = [](const auto& change, const std::string& part) {
    ComponentRecord record = some_record();
    change(record);
    const Status status = record.check();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << part;
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
    EXPECT_EQ(decode_record(encode(record), "file").status().code(), Code::kDataLoss) << part;
  };
  refused([](auto& r) { r.status = "Done"; }, "expected one of InProgress");
  refused([](auto& r) { r.message.assign(1025, 'x'); }, "1024 are the most");
  refused([](auto& r) { r.parameters["p"] = std::string(2501, 'x'); }, "2500 are the most");
  refused(
      [](auto& r) {
        for (int i = 0; i < 300; ++i) r.parameters["p" + std::to_string(i)] = 1.0;
      },
      "302 parameters");
  refused(
      [](auto& r) {
        for (int i = 0; i < 61; ++i) r.inputs["i" + std::to_string(i)] = {.uri = "u"};
      },
      "input artifacts");
  refused([](auto& r) { r.outputs["m"].uri = std::string(2049, 'x'); }, "2048 are the most");
  refused([](auto& r) { r.outputs["m"].uri.clear(); }, "has no URI");
  refused([](auto& r) { r.trials.insert("../x"); }, "no name of a trial");
  refused([](auto& r) { r.tags[""] = "x"; }, "a name is empty");
}

// A file may say anything; nothing of it is believed, and nothing breaks.
TEST(EntitiesTest, CraftedFilesAreDamage) {
  for (
      const char* text :
      {"", "[]", "{}", R"({"format":1})", R"({"format":1,"time":-1})", R"({"format":1,"time":1,"parameters":[1]})",
       R"({"format":1,"time":1,"parameters":{"a":[1]}})", R"({"format":1,"time":1,"metrics":{"a":{"count":-1}}})",
       R"({"format":1,"time":1,"metrics":{"a":7}})", R"({"format":1,"time":1,"inputs":{"a":{"uri":7}}})",
       R"({"format":1,"time":1,"trials":"t"})", R"({"format":1,"time":1,"trials":["../../etc"]})",
       R"({"format":1,"time":1,"metrics":{"a":{"count":1,"finite":2,"min":0,"max":0,"mean":0,"m2":0,"last":0,"last_time":0}}})",
       R"({"format":1,"time":1,"status":"\u001b[2J"})"}) {
    EXPECT_EQ(decode_record(text, "file").status().code(), Code::kDataLoss) << text;
  }
  EXPECT_EQ(decode_record(R"({"format":2,"time":1})", "file").status().code(), Code::kUnimplemented);
  EXPECT_EQ(decode_experiment(R"({"format":1,"name":"../x","created":1})", "f").status().code(), Code::kDataLoss);
  EXPECT_EQ(decode_trial(R"({"format":1,"name":"t","experiment":"","created":1})", "f").status().code(),
            Code::kDataLoss);
}

}  // namespace
}  // namespace trainwarden::experiments
