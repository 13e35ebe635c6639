// What the addresses about confusion and comparison answer.
#include <array>
#include <cstring>

#include <gtest/gtest.h>

#include "data/format/json.h"
#include "data/format/safetensors.h"
#include "ui/answers/route.h"
#include "ui/views/run_on_disk.h"

namespace trainwarden::answers {
namespace {

using format::Json;
using views::RunOnDisk;

TestRun classified(std::int64_t wrong) {
  TestRun run;
  for (std::int64_t step = 0; step < 3; ++step) {
    run.add(
        {.step = step,
         .tensors = {kept_integers("labels", {0, 1, 1}), kept_integers("predictions", {0, 1, step == 2 ? wrong : 1}),
                     strings("class_names", {"a", "b"})}});
  }
  run.end();
  return run;
}

class InsightRoutesTest : public ::testing::Test {
 protected:
  InsightRoutesTest() : first_(classified(0), "first"), second_(classified(1), "second") {}

  Result<Reply> ask(const std::string& path, views::Query::Parameters query) {
    const auto shelf = views::Shelf::open(RunOnDisk::place());
    EXPECT_TRUE(shelf.ok()) << shelf.status().to_string();
    const Request request{{{"run", views::run_id_of("first")}}, views::Query(std::move(query)), ""};
    for (const Route& route : insight_routes()) {
      if (route.path == path) return route.handler(request, Services{**shelf});
    }
    return Status(Code::kNotFound, "no such route: " + path);
  }
  Result<Json> ask_json(const std::string& path, views::Query::Parameters query = {}) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const Reply reply, ask(path, std::move(query)));
    return Json::parse(*reply.body);
  }

  const RunOnDisk first_;
  const RunOnDisk second_;
};

TEST_F(InsightRoutesTest, TellsWhichTensorsAreMeantAndWhereTheyAre) {
  const auto answer = ask_json("/runs/{run}/confusion/tensors");
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  EXPECT_EQ(answer->at("labels").at("name"), "labels");
  EXPECT_EQ(answer->at("predictions").at("id"), views::tensor_id_of("predictions"));
  EXPECT_EQ(answer->at("candidates").at("labels").at(0).at("reason"), "by its name");
  EXPECT_EQ(answer->at("steps"), Json::parse("[[0, 1, 3]]"));
}

TEST_F(InsightRoutesTest, CountsWithTheNamesOfTheClasses) {
  const auto reply = ask("/runs/{run}/confusion", {{"from", "2"}, {"to", "2"}});
  ASSERT_TRUE(reply.ok()) << reply.status().to_string();
  const std::string& body = *reply->body;
  const auto header = format::decode_safetensors_header(as_bytes(body), body.size());
  ASSERT_TRUE(header.ok()) << header.status().to_string();
  EXPECT_EQ(header->metadata.at("names"), R"(["a","b"])");
  EXPECT_EQ(header->metadata.at("counted_steps"), "1");
  const auto* counts = header->find("counts");
  ASSERT_NE(counts, nullptr);
  std::array<double, 4> numbers{};
  std::memcpy(numbers.data(), body.data() + header->data_offset + counts->begin, sizeof numbers);
  EXPECT_EQ(numbers, (std::array<double, 4>{1, 0, 1, 1}));
}

TEST_F(InsightRoutesTest, TellsTheSamplesOfACell) {
  const auto answer = ask_json("/runs/{run}/confusion/samples", {{"actual", "1"}, {"predicted", "0"}});
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  EXPECT_EQ(*answer, Json::parse(R"({"samples": [{"step": 2, "worker": "", "place": [2]}], "more": false})"));
  EXPECT_EQ(ask("/runs/{run}/confusion/samples", {{"actual", "1"}}).status().code(), Code::kInvalidArgument);
}

TEST_F(InsightRoutesTest, SaysWhatIsWrongWithAQuestion) {
  EXPECT_EQ(ask("/runs/{run}/confusion", {{"labels", "0123456789abcdef"}}).status().code(), Code::kNotFound);
  EXPECT_EQ(ask("/runs/{run}/confusion", {{"from", "soon"}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask("/runs/{run}/confusion", {{"from", "9"}}).status().code(), Code::kNotFound);
  EXPECT_EQ(ask("/compare", {{"a", views::run_id_of("first")}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask("/compare", {{"a", views::run_id_of("first")}, {"b", views::run_id_of("second")}, {"tolerance", "-1"}})
                .status()
                .code(),
            Code::kInvalidArgument);
}

TEST_F(InsightRoutesTest, ComparesTwoRuns) {
  const auto answer = ask_json("/compare", {{"a", views::run_id_of("first")}, {"b", views::run_id_of("second")}});
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  EXPECT_EQ(answer->at("a").at("name"), "first");
  EXPECT_EQ(answer->at("parting").at("step"), 2);
  EXPECT_EQ(answer->at("parting").at("tensors").at(0).at("tensor"), "predictions");
  EXPECT_EQ(answer->at("parting").at("tensors").at(0).at("difference"), 1.0);
  EXPECT_EQ(answer->at("cut"), false);
}

}  // namespace
}  // namespace trainwarden::answers
