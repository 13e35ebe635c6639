#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>

#include "data/format/json.h"
#include "data/format/safetensors.h"
#include "read/trial/run_testing.h"
#include "ui/answers/route.h"

namespace trainwarden::answers {
namespace {

namespace fs = std::filesystem;
using format::OrderedJson;

class LayerRoutesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("layer_routes_test-" + std::to_string(getpid()));
    TestRun run;
    for (std::int64_t step = 0; step < 4; ++step) {
      const float norm = step == 2 ? NAN : static_cast<float>(step);
      run.add(
          {.step = step,
           .tensors = {summarised("gradient/b", {norm}, {"gradients"}), summarised("gradient/a", {5}, {"gradients"})}});
    }
    run.end();
    run.save_to(folder_ / "first");
    shelf_ = *views::Shelf::open(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  Result<Reply> ask(views::Query::Parameters parameters) {
    Request request;
    request.path = {{"run", views::run_id_of("first")}};
    request.query = views::Query(std::move(parameters));
    return layer_routes().at(0).handler(request, Services{*shelf_});
  }

  fs::path folder_;
  std::unique_ptr<views::Shelf> shelf_;
};

std::vector<double> numbers(const std::string& body, std::string_view name) {
  const auto header = *format::decode_safetensors_header(as_bytes(body), body.size());
  const auto* entry = header.find(name);
  EXPECT_NE(entry, nullptr) << name;
  if (entry == nullptr) return {};
  std::vector<double> values((entry->end - entry->begin) / sizeof(double));
  std::memcpy(values.data(), body.data() + header.data_offset + entry->begin, values.size() * sizeof(double));
  return values;
}

OrderedJson note(const std::string& body, const std::string& key) {
  return OrderedJson::parse(format::decode_safetensors_header(as_bytes(body), body.size())->metadata.at(key));
}

TEST_F(LayerRoutesTest, AnswerAMapOfLayersByColumns) {
  const auto reply = ask({{"quantity", "norm"}, {"columns", "2"}});
  ASSERT_TRUE(reply.ok()) << reply.status().to_string();
  const std::string& body = *reply->body;
  EXPECT_EQ(numbers(body, "max"), (std::vector<double>{1, 3, 5, 5}));
  EXPECT_EQ(numbers(body, "max_step"), (std::vector<double>{1, 3, 0, 2}));
  EXPECT_EQ(numbers(body, "first_step"), (std::vector<double>{0, 2}));
  EXPECT_EQ(numbers(body, "last_step"), (std::vector<double>{1, 3}));
  EXPECT_EQ(numbers(body, "read"), (std::vector<double>{2, 2}));
  EXPECT_EQ(numbers(body, "odd_cell"), (std::vector<double>{1}));
  EXPECT_EQ(numbers(body, "odd_step"), (std::vector<double>{2}));
  EXPECT_EQ(numbers(body, "nan"), (std::vector<double>{1}));
  EXPECT_EQ(numbers(body, "inf"), (std::vector<double>{0}));
  EXPECT_EQ(note(body, "layers")[0]["name"], "gradient/b");
  EXPECT_EQ(note(body, "about")["steps"], 4);
  EXPECT_EQ(note(body, "kept")[0]["values"], false);
}

TEST_F(LayerRoutesTest, RefuseWhatIsNoQuantity) {
  EXPECT_EQ(ask({{"quantity", "norms"}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask({{"columns", "0"}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask({{"worker", "rank-00009"}}).status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace trainwarden::answers
