// What the addresses about runs, their steps and their numbers answer.
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "data/format/json.h"
#include "data/format/safetensors.h"
#include "judge/rules/builtin/training/signal_testing.h"
#include "ui/answers/route.h"
#include "ui/views/run_on_disk.h"
#include "ui/views/run_row.h"

namespace trainwarden::answers {
namespace {

using format::Json;
using views::RunOnDisk;

TestRun trained() {
  TestRun run;
  for (std::int64_t step = 0; step < 6; ++step) {
    const float loss = step == 2 ? NAN : 1.0F / static_cast<float>(step + 1);
    const bool eval = step % 3 == 2;
    run.add({.step = step,
             .tensors = {scalar("loss", loss, {"losses"}), reduced("w", {static_cast<float>(step), 3}, {"weights"})},
             .mode = eval ? Mode::kEval : Mode::kTrain,
             .mode_step = eval ? step / 3 : step - step / 3});
  }
  run.end();
  journal::SampleBatch printed;
  printed.new_metrics = {{0, {"val_loss", "", MetricKind::kGauge, MetricSource::kRank, "0"}}};
  printed.tables = {{{60'000'000'000, 61'000'000'000}, {{0, {3, NAN}}}}};
  const auto writer = output_writer(run, run.info());
  EXPECT_TRUE(writer->append_samples(printed).ok());
  format::OutputReport report;
  report.metrics = {{"val_loss", 2, 0, 1, "none", 0}};
  EXPECT_TRUE(writer->append_event(format::FrameKind::kEvent, -1, format::encode_output_report(report)).ok());
  return run;
}

class RunRoutesTest : public ::testing::Test {
 protected:
  RunRoutesTest() : run_(trained(), "first"), shelf_(*views::Shelf::open(RunOnDisk::place())) {}

  Result<Reply> ask(const std::vector<Route>& routes, const std::string& path, views::Query::Parameters query = {}) {
    const Request request{{{"run", views::run_id_of("first")}}, views::Query(std::move(query)), ""};
    for (const Route& route : routes) {
      if (route.path == path) return route.handler(request, Services{*shelf_});
    }
    return Status(Code::kNotFound, "no such route: " + path);
  }
  Json ask_json(const std::vector<Route>& routes, const std::string& path, views::Query::Parameters query = {}) {
    const auto reply = ask(routes, path, std::move(query));
    EXPECT_TRUE(reply.ok()) << reply.status().to_string();
    return reply.ok() ? Json::parse(*reply->body) : Json();
  }

  const RunOnDisk run_;
  const std::unique_ptr<views::Shelf> shelf_;
};

// The doubles of one array of a safetensors document.
std::vector<double> column(const std::string& body, const std::string& name) {
  const auto header = format::decode_safetensors_header(as_bytes(body), body.size());
  if (!header.ok() || header->find(name) == nullptr) return {};
  const format::SafetensorsEntry& entry = *header->find(name);
  std::vector<double> values((entry.end - entry.begin) / sizeof(double));
  std::memcpy(values.data(), body.data() + header->data_offset + entry.begin, values.size() * sizeof(double));
  return values;
}

TEST_F(RunRoutesTest, ListRuns) {
  Json list;
  for (int i = 0; i < 100; ++i) {  // each waits a tenth of a second for what has not been read yet
    list = ask_json(run_routes(), "/runs");
    if (list.at("reading") == 0) break;
  }
  const Json& row = list.at("runs").at(0);
  EXPECT_EQ(row.at("name"), "first");
  EXPECT_EQ(row.at("id"), views::run_id_of("first"));
  EXPECT_EQ(row.at("state"), "completed");
  EXPECT_EQ(row.at("steps"), 6);
  EXPECT_EQ(row.at("loss").at("step"), 5);
  EXPECT_EQ(row.at("course"), Json::parse(R"([1, 0.5, "NaN", 0.25, 0.2, 0.1667])"));
  EXPECT_EQ(row.at("rules").at("count"), 0);
  const Json last = {
      {"loss (train)", static_cast<double>(0.2F)}, {"loss (eval)", static_cast<double>(1.0F / 6)}, {"val_loss", "NaN"}};
  EXPECT_EQ(row.at("metrics"), last);
}

TEST(RunRoutes, TheListSaysWhatIsWrongWithARun) {
  constexpr const char* kStructure =
      R"({"modules":[],"parameters":[],"unregistered":[{"module":"","attribute":"blocks","kind":"Linear","count":3}],)"
      R"("optimizers":[],"compared":[],"layers":[],"places":{},"foreign":0})";
  TestRun run;
  for (std::int64_t step = 0; step < 5; ++step) {
    const double at = static_cast<double>(step);
    std::vector<TestTensor> tensors = {
        rules::text_signal("trainwarden/examination/layout", R"({"layout":[["loss",1],["step",1]]})"),
        kept_doubles("trainwarden/examination/numbers", {1 / (1 + at), at}, {"signals"})};
    if (step == 0) tensors.push_back(rules::text_signal("trainwarden/examination/structure", kStructure));
    run.add({.step = step, .tensors = std::move(tensors), .mode = Mode::kTrain});
  }
  run.end();
  const RunOnDisk kept(run, "ill");
  kept.judge({"Diagnosis:steps=0"});
  const views::RunRow row = views::read_run_row(storage::Location(kept.folder()));
  EXPECT_EQ(row.fired, std::vector<std::string>{"Diagnosis"});
  EXPECT_NE(row.diagnosis.find("\"blocks\""), std::string::npos) << row.diagnosis;
}

TEST_F(RunRoutesTest, TellOfOneRun) {
  const Json run = ask_json(run_routes(), "/runs/{run}");
  EXPECT_EQ(run.at("state"), "completed");
  EXPECT_EQ(run.at("progress").at("steps"), 6);
  EXPECT_EQ(run.at("progress").at("modes").at(1), Json::parse(R"({"mode":"eval","steps":2,"last_mode_step":1})"));
  EXPECT_EQ(run.at("tensors"), 2);
  EXPECT_EQ(run.at("collections").at(0).at("name"), "losses");
  EXPECT_GT(run.at("journal_bytes"), 0);
  EXPECT_EQ(run.at("transitions").at(0).at("status"), "Starting");
  EXPECT_TRUE(run.at("losses").empty());
}

TEST_F(RunRoutesTest, TellStepsAsRanges) {
  const Json steps = ask_json(run_routes(), "/runs/{run}/steps");
  EXPECT_EQ(steps.at("steps"), Json::parse("[[0,1,6]]"));
  EXPECT_EQ(steps.at("modes").at(1), Json::parse(R"({"mode":"eval","steps":[[2,3,2]],"mode_steps":[[0,1,2]]})"));
  EXPECT_EQ(steps.at("last_complete"), 5);
  EXPECT_TRUE(steps.at("failure").is_null());
  EXPECT_EQ(steps.at("loss").at("step"), 5);
}

TEST_F(RunRoutesTest, GiveSeries) {
  const std::string ids = views::tensor_id_of("loss") + "," + views::tensor_id_of("w");
  const auto reply = ask(series_routes(), "/runs/{run}/series", {{"tensors", ids}, {"from", "2"}});
  ASSERT_TRUE(reply.ok()) << reply.status().to_string();
  EXPECT_EQ(column(*reply->body, "1.step"), (std::vector<double>{2, 3, 4, 5}));
  EXPECT_EQ(column(*reply->body, "1.value"), (std::vector<double>{2.5, 3, 3.5, 4}));
  EXPECT_TRUE(std::isnan(column(*reply->body, "0.value").at(0)));
  EXPECT_GT(column(*reply->body, "0.time").at(0), 0);
  const auto header = format::decode_safetensors_header(as_bytes(*reply->body), reply->body->size());
  const Json words = Json::parse(header->metadata.at("series"));
  EXPECT_EQ(words.at(0).at("of"), "scalar");
  EXPECT_EQ(words.at(0).at("nan"), 1);
  EXPECT_EQ(words.at(0).at("count"), 6);
  EXPECT_EQ(words.at(1).at("of"), "mean");
  EXPECT_EQ(words.at(1).at("left"), 0);
}

TEST_F(RunRoutesTest, SayWithSeriesHowModesCount) {
  const auto words_of = [&](views::Query::Parameters query) {
    query["tensors"] = views::tensor_id_of("loss");
    const auto reply = ask(series_routes(), "/runs/{run}/series", std::move(query));
    return format::decode_safetensors_header(as_bytes(*reply->body), reply->body->size())->metadata;
  };
  EXPECT_EQ(Json::parse(words_of({{"with", "modes"}}).at("modes")),
            ask_json(run_routes(), "/runs/{run}/steps").at("modes"));
  EXPECT_EQ(words_of({}).count("modes"), 0u);
  const auto wrong =
      ask(series_routes(), "/runs/{run}/series", {{"tensors", views::tensor_id_of("loss")}, {"with", "x"}});
  EXPECT_EQ(wrong.status().code(), Code::kInvalidArgument);
}

TEST_F(RunRoutesTest, GiveASeriesForEachMode) {
  const auto ask_loss = [&](views::Query::Parameters query) {
    query["tensors"] = views::tensor_id_of("loss");
    return ask(series_routes(), "/runs/{run}/series", std::move(query));
  };
  const auto reply = ask_loss({{"by", "mode"}});
  ASSERT_TRUE(reply.ok()) << reply.status().to_string();
  const Json words = Json::parse(
      format::decode_safetensors_header(as_bytes(*reply->body), reply->body->size())->metadata.at("series"));
  std::vector<std::string> modes;
  for (const Json& each : words) modes.push_back(each.at("mode"));
  EXPECT_EQ(modes, (std::vector<std::string>{"train", "eval"}));
  EXPECT_EQ(column(*reply->body, "0.step").size() + column(*reply->body, "1.step").size(),
            column(*ask_loss({})->body, "0.step").size());
  EXPECT_EQ(ask_loss({{"by", "worker"}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask_loss({{"by", "mode"}, {"mode", "train"}}).status().code(), Code::kInvalidArgument);
}

TEST_F(RunRoutesTest, GiveBucketsOfMany) {
  const auto reply = ask(series_routes(), "/runs/{run}/series",
                         {{"tensors", views::tensor_id_of("w")}, {"of", "max"}, {"buckets", "1"}, {"mode", "train"}});
  ASSERT_TRUE(reply.ok()) << reply.status().to_string();
  EXPECT_EQ(column(*reply->body, "0.value"),
            (std::vector<double>{3, 3, 3, 4}));  // four points are no more than a bucket
  const auto all =
      ask(series_routes(), "/runs/{run}/series", {{"tensors", views::tensor_id_of("loss")}, {"buckets", "1"}});
  EXPECT_EQ(column(*all->body, "0.max"), std::vector<double>{1});
  EXPECT_EQ(column(*all->body, "0.nan"), std::vector<double>{1});
  EXPECT_EQ(column(*all->body, "0.last_step"), std::vector<double>{5});
}

TEST_F(RunRoutesTest, SayWhatIsWrong) {
  const auto code = [&](views::Query::Parameters query) {
    return ask(series_routes(), "/runs/{run}/series", std::move(query)).status().code();
  };
  EXPECT_EQ(code({{"tensors", "0000000000000000"}}), Code::kNotFound);
  EXPECT_EQ(code({{"of", "maen"}}), Code::kInvalidArgument);
  EXPECT_EQ(code({{"buckets", "0"}}), Code::kInvalidArgument);
  EXPECT_EQ(code({{"bucket", "5"}}), Code::kInvalidArgument);
  EXPECT_EQ(code({{"tensors", views::tensor_id_of("w")}, {"worker", "rank-00007"}}), Code::kNotFound);
}

TEST_F(RunRoutesTest, TellWhatSeriesThereAre) {
  const Json choices = ask_json(series_routes(), "/runs/{run}/series/choices");
  EXPECT_EQ(choices.at("tensors").at(1).at("name"), "w");
  EXPECT_EQ(choices.at("tensors").at(1).at("collections"), Json::parse(R"(["weights"])"));
  EXPECT_EQ(choices.at("tensors").at(2).at("name"), "val_loss");
  EXPECT_EQ(choices.at("tensors").at(2).at("collections"), Json::parse(R"(["metrics"])"));
}

TEST_F(RunRoutesTest, HaveSeriesOfWhatWasPrinted) {
  const std::string id = ask_json(series_routes(), "/runs/{run}/series/choices").at("tensors").at(2).at("id");
  const auto series = ask(series_routes(), "/runs/{run}/series", {{"tensors", id}});
  ASSERT_TRUE(series.ok()) << series.status().message();
  EXPECT_EQ(column(*series->body, "0.step"), (std::vector<double>{1, 2}));
  EXPECT_EQ(column(*series->body, "0.time"), (std::vector<double>{60, 61}));
  EXPECT_EQ(column(*series->body, "0.value")[0], 3);
  EXPECT_NE(series->body->find(R"(\"parse_errors\":1)"), std::string::npos) << "what could not be read is told";
}

TEST_F(RunRoutesTest, GiveTheFrameOfWhatWasPrinted) {
  const Json rows =
      ask_json(series_routes(), "/runs/{run}/metrics", {{"period", "0"}, {"relative", "none"}}).at("rows");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.at(0).at("timestamp"), 60);
  EXPECT_EQ(rows.at(0).at("metric_name"), "val_loss");
  EXPECT_EQ(rows.at(1).at("value"), "NaN");
  EXPECT_EQ(rows.at(1).at("step"), nullptr);
  const auto code = [&](views::Query::Parameters query) {
    return ask(series_routes(), "/runs/{run}/metrics", std::move(query)).status().code();
  };
  EXPECT_EQ(code({{"period", "-1"}}), Code::kInvalidArgument);
  EXPECT_EQ(code({{"relative", "jobs"}}), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::answers
