#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include <gtest/gtest.h>

#include "data/format/json.h"
#include "data/format/safetensors.h"
#include "read/trial/run_testing.h"
#include "ui/answers/route.h"

namespace trainwarden::answers {
namespace {

namespace fs = std::filesystem;
using format::OrderedJson;
using Parameters = views::Query::Parameters;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The arrays of an answer.
struct Arrays {
  explicit Arrays(const std::string& document) : body(document) {
    auto decoded = format::decode_safetensors_header(as_bytes(body), body.size());
    EXPECT_TRUE(decoded.ok()) << decoded.status().to_string();
    if (decoded.ok()) header = *std::move(decoded);
  }
  template <class T>
  std::vector<T> get(std::string_view name) const {
    const auto* entry = header.find(name);
    EXPECT_NE(entry, nullptr) << name;
    if (entry == nullptr) return {};
    std::vector<T> values((entry->end - entry->begin) / sizeof(T));
    std::memcpy(values.data(), body.data() + header.data_offset + entry->begin, values.size() * sizeof(T));
    return values;
  }
  std::vector<std::int64_t> shape(std::string_view name) const { return header.find(name)->shape; }
  OrderedJson note(const std::string& key) const { return OrderedJson::parse(header.metadata.at(key)); }

  std::string body;
  format::SafetensorsHeader header;
};

class TensorRoutesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("tensor_routes_test-" + std::to_string(getpid()));
    TestRun run;
    for (std::int64_t step = 0; step < 4; ++step) {
      const auto at = static_cast<float>(step);
      run.add({.step = step * 10,
               .tensors = {shaped(kept("conv0.weight", {0, 1, at, -1, 2, 3, 4, kNan}, {"weights"}), {2, 1, 2, 2}),
                           in_half(kept("half", {0.5f, -2}), DType::kBFloat16), summarised("grad", {at, 1, 2}),
                           scalar("loss", at), strings("tokens", {"[CLS]", "=1+1", "a,\"b\""})},
               .mode = Mode::kTrain,
               .mode_step = step});
    }
    run.end();
    run.save_to(folder_ / "first");
    auto shelf = views::Shelf::open(folder_);
    ASSERT_TRUE(shelf.ok()) << shelf.status().to_string();
    shelf_ = *std::move(shelf);
  }
  void TearDown() override { fs::remove_all(folder_); }

  Result<Reply> ask(std::string_view path, Parameters parameters = {}, const std::string& tensor = "conv0.weight",
                    const std::string& step = "10") {
    Request request;
    request.path = {{"run", views::run_id_of("first")}, {"tensor", views::tensor_id_of(tensor)}, {"step", step}};
    request.query = views::Query(std::move(parameters));
    for (const Route& route : tensor_routes()) {
      if (route.path == path) return route.handler(request, Services{*shelf_});
    }
    return Status(Code::kInternal, "no such route");
  }
  Arrays arrays(std::string_view path, Parameters parameters = {}, const std::string& tensor = "conv0.weight",
                const std::string& step = "10") {
    const auto reply = ask(path, std::move(parameters), tensor, step);
    EXPECT_TRUE(reply.ok()) << reply.status().to_string();
    return Arrays(reply.ok() ? *reply->body : "");
  }
  OrderedJson json(std::string_view path, Parameters parameters = {}, const std::string& tensor = "conv0.weight") {
    const auto reply = ask(path, std::move(parameters), tensor);
    EXPECT_TRUE(reply.ok()) << reply.status().to_string();
    return OrderedJson::parse(reply.ok() ? *reply->body : "{}");
  }

  static constexpr auto kList = "/runs/{run}/tensors";
  static constexpr auto kNewest = "/runs/{run}/statistics";
  static constexpr auto kOne = "/runs/{run}/tensors/{tensor}";
  static constexpr auto kStatistics = "/runs/{run}/tensors/{tensor}/statistics";
  static constexpr auto kHistograms = "/runs/{run}/tensors/{tensor}/histograms";
  static constexpr auto kPictures = "/runs/{run}/tensors/{tensor}/pictures";
  static constexpr auto kAtStep = "/runs/{run}/tensors/{tensor}/steps/{step}/statistics";
  static constexpr auto kValue = "/runs/{run}/tensors/{tensor}/steps/{step}/value";
  fs::path folder_;
  std::unique_ptr<views::Shelf> shelf_;
};

TEST_F(TensorRoutesTest, ListTheTensorsInColumns) {
  const OrderedJson list = json(kList);
  EXPECT_EQ(list["names"], (OrderedJson{"conv0.weight", "grad", "half", "loss", "tokens"}));
  EXPECT_EQ(list["ids"][0], views::tensor_id_of("conv0.weight"));
  EXPECT_EQ(list["dtypes"], (OrderedJson{"float32", "float32", "bfloat16", "float64", "string"}));
  EXPECT_EQ(list["shapes"][0], (OrderedJson{2, 1, 2, 2}));
  EXPECT_EQ(list["values"], (OrderedJson{4, 0, 4, 0, 4}));
  EXPECT_EQ(list["last_steps"][3], 30);
  EXPECT_EQ(list["collections"]["weights"], OrderedJson::array({0}));
}

TEST_F(TensorRoutesTest, TellWhereATensorWasKept) {
  const OrderedJson one = json(kOne);
  EXPECT_EQ(one["name"], "conv0.weight");
  EXPECT_EQ(one["steps"], OrderedJson::array({OrderedJson::array({0, 10, 4})}));
  EXPECT_EQ(one["forms"]["value"], one["steps"]);
  EXPECT_EQ(one["modes"][0]["mode"], "train");
  EXPECT_EQ(one["workers"], OrderedJson::array({"rank-00000"}));
  EXPECT_EQ(ask(kOne, {}, "none").status().code(), Code::kNotFound);
}

TEST_F(TensorRoutesTest, GiveTheStoredBits) {
  const Arrays whole = arrays(kValue);
  EXPECT_EQ(whole.shape("value"), (std::vector<std::int64_t>{2, 1, 2, 2}));
  EXPECT_EQ(whole.get<float>("value")[2], 1);
  EXPECT_TRUE(std::isnan(whole.get<float>("value")[7]));
  EXPECT_EQ(whole.header.metadata.at("mode"), "train");
  EXPECT_EQ(whole.note("mode_step"), 1);
  const Arrays part = arrays(kValue, {{"slice", "1,0"}, {"axes", "3,2"}});
  EXPECT_EQ(part.get<float>("value")[1], 4);
  EXPECT_EQ(part.header.metadata.at("slice"), "1,0,0:2,0:2");
  const Arrays half = arrays(kValue, {}, "half");
  EXPECT_EQ(half.header.find("value")->dtype, DType::kBFloat16);
  EXPECT_EQ(half.get<std::uint16_t>("value"), (std::vector<std::uint16_t>{0x3f00, 0xc000}));
  EXPECT_TRUE(ask(kValue)->immutable);
}

TEST_F(TensorRoutesTest, GiveTexts) {
  const OrderedJson tokens = json(kValue, {{"slice", "0:2"}}, "tokens");
  EXPECT_EQ(tokens["strings"], (OrderedJson{"[CLS]", "=1+1"}));
  EXPECT_EQ(tokens["shape"], OrderedJson::array({3}));
}

TEST_F(TensorRoutesTest, GiveFiles) {
  const auto npy = ask(kValue, {{"format", "npy"}});
  ASSERT_TRUE(npy.ok());
  EXPECT_EQ(npy->body->substr(1, 5), "NUMPY");
  EXPECT_EQ(npy->file_name, "conv0.weight-step-10.npy");
  EXPECT_EQ(*ask(kValue, {{"format", "csv"}, {"slice", "0,0"}})->body, "0,1\r\n1,-1\r\n");
  EXPECT_EQ(*ask(kValue, {{"format", "csv"}, {"slice", "0,0,1"}})->body,
            "1,-1\r\n");  // so few bytes move with their owner
  EXPECT_EQ(*ask(kValue, {{"format", "csv"}}, "tokens")->body, "\"[CLS]\",\"'=1+1\",\"a,\"\"b\"\"\"\r\n");
  EXPECT_EQ(ask(kValue, {{"format", "png"}, {"slice", "0,0"}})->body->substr(1, 3), "PNG");
  EXPECT_EQ(ask(kValue, {{"format", "png"}}, "half").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask(kValue, {{"format", "exe"}}).status().code(), Code::kInvalidArgument);
  const std::string table = *ask(kStatistics, {{"format", "csv"}}, "loss")->body;
  EXPECT_EQ(table.substr(0, table.find("\r\n")),
            "step,mode,mode_step,worker,count,nan,positive_inf,negative_inf,zero,min,max,mean,std,abs_min,abs_max,abs_"
            "mean,l1,l2");
  EXPECT_NE(table.find("\r\n20,train,2,rank-00000,1,0,0,0,0,2,2,2,0,2,2,2,2,2\r\n"), std::string::npos) << table;
}

TEST_F(TensorRoutesTest, TellNumbersOverSteps) {
  const Arrays all = arrays(kStatistics);
  EXPECT_EQ(all.get<double>("steps"), (std::vector<double>{0, 10, 20, 30}));
  EXPECT_EQ(all.note("names")[1], "nan");
  EXPECT_EQ(all.get<double>("numbers")[1], 1);
  EXPECT_EQ(all.note("pending"), 0);
  const Arrays few = arrays(kStatistics, {{"from", "10"}, {"to", "20"}, {"mode", "train"}});
  EXPECT_EQ(few.get<double>("steps"), (std::vector<double>{10, 20}));
  const Arrays thinned = arrays(kStatistics, {{"most", "2"}});
  EXPECT_EQ(thinned.get<double>("steps"), (std::vector<double>{0, 20, 30}));
  EXPECT_EQ(thinned.note("steps_in_all"), 4);
  EXPECT_EQ(json(kAtStep)["max"], 4);
  EXPECT_EQ(json(kAtStep, {}, "grad")["hash"].get<std::string>().size(), 16U);
  EXPECT_EQ(ask(kAtStep, {}, "grad", "5").status().code(), Code::kOutOfRange);
  EXPECT_EQ(ask(kAtStep, {}, "grad", "x").status().code(), Code::kInvalidArgument);
}

TEST_F(TensorRoutesTest, TellTheNewestNumbersOfMany) {
  const std::string ids = views::tensor_id_of("loss") + "," + views::tensor_id_of("tokens");
  const Arrays newest = arrays(kNewest, {{"tensors", ids}, {"step", "25"}, {"points", "8"}});
  EXPECT_EQ(newest.shape("sparks"), (std::vector<std::int64_t>{2, 8}));
  EXPECT_EQ(newest.get<double>("steps")[0], 20);
  EXPECT_TRUE(std::isnan(newest.get<double>("steps")[1]));
  const auto sparks = newest.get<double>("sparks");
  EXPECT_EQ(std::vector<double>(sparks.begin(), sparks.begin() + 3), (std::vector<double>{0, 1, 2}));
  EXPECT_TRUE(std::isnan(sparks[3]));
  EXPECT_EQ(ask(kNewest, {{"tensors", "0123"}}).status().code(), Code::kNotFound);
  EXPECT_EQ(ask(kNewest, {{"tensors", ids}, {"of", "x"}}).status().code(), Code::kInvalidArgument);
}

TEST_F(TensorRoutesTest, TellHistogramsAndPictures) {
  const Arrays histograms = arrays(kHistograms, {{"bins", "16"}}, "grad");
  EXPECT_EQ(histograms.shape("counts")[0], 4);
  EXPECT_EQ(histograms.get<double>("zeros"), (std::vector<double>{1, 0, 0, 0}));
  const Arrays pictures = arrays(kPictures, {{"steps", "0,10,30"}, {"slice", ":,0"}});
  EXPECT_EQ(pictures.shape("pixels"), (std::vector<std::int64_t>{2, 3, 2, 2}));
  EXPECT_EQ(pictures.get<double>("nan"), (std::vector<double>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(pictures.note("instead"), OrderedJson::array());
  EXPECT_TRUE(ask(kPictures, {{"steps", "0"}, {"slice", "0,0"}})->immutable);
  const Arrays moved = arrays(kPictures, {{"steps", "4,12"}, {"slice", "0,0"}});
  EXPECT_EQ(moved.get<double>("steps"), (std::vector<double>{0, 10}));
  EXPECT_EQ(moved.note("instead").dump(), R"([{"asked":4,"shown":0},{"asked":12,"shown":10}])");
  EXPECT_FALSE(ask(kPictures, {{"steps", "4"}, {"slice", "0,0"}})->immutable) << "a nearer step may come";
}

TEST_F(TensorRoutesTest, RefuseWhatTheyDoNotKnow) {
  const std::string message = ask(kValue, {{"slcie", "0"}}).status().message();
  EXPECT_NE(message.find("did you mean \"slice\"?"), std::string::npos) << message;
  EXPECT_EQ(ask(kPictures, {{"steps", "0"}, {"size", "0"}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask(kHistograms, {{"bins", "100000"}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask(kList, {{"from", "1"}}).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::answers
