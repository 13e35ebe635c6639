// The routes of attention on a run that lies on disk, asked as the page asks.
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include <gtest/gtest.h>

#include "data/format/json.h"
#include "data/format/safetensors.h"
#include "ui/answers/route.h"
#include "ui/views/attention/attention_testing.h"
#include "ui/views/run_on_disk.h"

namespace trainwarden::answers {
namespace {

// An answer of arrays, taken apart.
class Answer {
 public:
  explicit Answer(const Reply& reply) : body_(*reply.body) {
    auto header = format::decode_safetensors_header(as_bytes(body_), body_.size());
    EXPECT_TRUE(header.ok()) << header.status().to_string();
    header_ = *std::move(header);
  }

  const std::string& text(const std::string& key) const { return header_.metadata.at(key); }
  bool has(const std::string& key) const { return header_.metadata.contains(key); }
  std::vector<std::int64_t> shape(const char* name) const { return header_.find(name)->shape; }
  template <class T>
  std::vector<T> array(const char* name) const {
    const auto* entry = header_.find(name);
    std::vector<T> values((entry->end - entry->begin) / sizeof(T));
    std::memcpy(values.data(), body_.data() + header_.data_offset + entry->begin, values.size() * sizeof(T));
    return values;
  }

 private:
  std::string body_;
  format::SafetensorsHeader header_;
};

// Two layers, two heads, two items, four tokens, at steps 3 and 5, of the evaluation.
TestRun small_bert() {
  using namespace views::attention;
  TestRun run;
  for (const std::int64_t step : {3, 5}) {
    TestStep saved{.step = step, .mode = Mode::kEval, .mode_step = step - 3};
    for (const char* layer : {"layer.0.", "layer.1."}) {
      saved.tensors.push_back(weights(std::string(layer) + "attn", {2, 2, 4, 4}, static_cast<int>(step)));
      saved.tensors.push_back(numbers(std::string(layer) + "query", {2, 4, 6}, 1));
      saved.tensors.push_back(numbers(std::string(layer) + "key", {2, 4, 6}, 2));
    }
    saved.tensors.push_back(tokens("tokens", {2, 4}));
    run.add(saved);
  }
  run.end();
  return run;
}

class AttentionRoutes : public testing::Test {
 protected:
  AttentionRoutes() : run_(small_bert(), "bert"), shelf_(*views::Shelf::open(views::RunOnDisk::place())) {}

  Result<Reply> ask(const std::string& rest, views::Query::Parameters parameters = {}) {
    const Request request{{{"run", views::run_id_of("bert")}}, views::Query(std::move(parameters)), ""};
    for (const Route& route : attention_routes()) {
      if (route.path == "/runs/{run}/attention" + rest) return route.handler(request, Services{*shelf_});
    }
    return Status(Code::kNotFound, "no such route");
  }
  Answer arrays(const std::string& rest, views::Query::Parameters parameters) {
    const auto reply = ask(rest, std::move(parameters));
    if (!reply.ok()) throw std::runtime_error(reply.status().to_string());
    EXPECT_EQ(reply->type, "application/vnd.safetensors");
    return Answer(*reply);
  }
  format::Json json(const std::string& rest) {
    const auto reply = ask(rest);
    if (!reply.ok()) throw std::runtime_error(reply.status().to_string());
    return format::Json::parse(*reply->body);
  }

  const views::RunOnDisk run_;
  const std::unique_ptr<views::Shelf> shelf_;
};

using Numbers = std::vector<std::int64_t>;

TEST_F(AttentionRoutes, TellTheMap) {
  const format::Json map = json("");
  EXPECT_EQ(map.at("source"), "guessed");
  ASSERT_EQ(map.at("layers").size(), 2U);
  const format::Json& layer = map.at("layers").at(1);
  EXPECT_EQ(layer.at("layer"), 1);
  EXPECT_EQ(layer.at("query").at("name"), "layer.1.query");
  EXPECT_EQ(layer.at("query").at("id"), views::tensor_id_of("layer.1.query"));
  EXPECT_EQ(layer.at("heads"), 2);
  EXPECT_EQ(layer.at("head_size"), 3);
  EXPECT_EQ(layer.at("mask"), "none");
  EXPECT_EQ(layer.at("layout"), "BTD");
  EXPECT_EQ(map.at("tokens").at("name"), "tokens");
  EXPECT_TRUE(map.at("key_tokens").is_null());
  EXPECT_EQ(map.at("candidates").at("attention").size(), 2U);
}

TEST_F(AttentionRoutes, TellTheSteps) {
  EXPECT_EQ(json("/steps"), format::Json::parse(R"({"steps":[[3,2,2]],"modes":[{"mode":"eval","steps":[[3,2,2]]}]})"));
}

TEST_F(AttentionRoutes, GiveHeadsWithTheirTokens) {
  const Answer answer = arrays("/head", {{"layer", "1"}, {"heads", "1"}, {"step", "4"}, {"item", "1"}, {"first", "3"}});
  EXPECT_EQ(answer.shape("weights"), (Numbers{1, 3, 3}));
  const std::vector<float> all = views::attention::some_weights({2, 2, 4, 4}, 3);
  EXPECT_EQ(answer.array<float>("weights")[4], all[(2 + 1) * 16 + 5]);
  EXPECT_EQ(answer.text("tokens_query"), R"(["t4","t5","t6"])");
  EXPECT_EQ(answer.text("step"), "3");
  EXPECT_EQ(answer.text("mode"), "eval");
  EXPECT_EQ(answer.text("mode_step"), "0");
  EXPECT_EQ(answer.text("items"), "2");
  EXPECT_EQ(answer.text("length"), "4");
  EXPECT_EQ(answer.text("recomputed"), "false");
  EXPECT_EQ(answer.text("key_value_head"), "[1]");
  EXPECT_FALSE(answer.has("tokens_note"));
}

TEST_F(AttentionRoutes, AreImmutableForTheVeryStepOnly) {
  for (const char* rest : {"/head", "/rollout", "/neuron", "/atlas", "/tile"}) {
    EXPECT_TRUE(ask(rest, {{"step", "3"}})->immutable) << rest;
    EXPECT_FALSE(ask(rest, {{"step", "4"}})->immutable) << rest;  // step 4 may come yet
    EXPECT_FALSE(ask(rest)->immutable) << rest;
  }
  EXPECT_FALSE(ask("")->immutable);
  EXPECT_FALSE(ask("/steps")->immutable);
  EXPECT_FALSE(ask("/metrics")->immutable);
}

TEST_F(AttentionRoutes, GiveTheRolloutAsOneMatrix) {
  const Answer answer = arrays("/rollout", {{"layer", "1"}, {"step", "4"}, {"item", "1"}, {"first", "3"}});
  EXPECT_EQ(answer.shape("weights"), (Numbers{1, 3, 3}));
  EXPECT_EQ(answer.text("tokens_key"), R"(["t4","t5","t6"])");
  EXPECT_EQ(answer.text("step"), "3");
  EXPECT_EQ(answer.text("layer"), "1");
  EXPECT_FALSE(answer.has("heads"));
  EXPECT_EQ(ask("/rollout", {{"layer", "2"}}).status().code(), Code::kOutOfRange);
  EXPECT_EQ(ask("/rollout", {{"heads", "0"}}).status().code(), Code::kInvalidArgument);
}

TEST_F(AttentionRoutes, GiveAFilmAsAFile) {
  const auto film = ask("/film", {{"layer", "1"}, {"head", "1"}, {"item", "1"}, {"first", "3"}});
  ASSERT_TRUE(film.ok()) << film.status().to_string();
  EXPECT_EQ(film->type, "image/svg+xml");
  EXPECT_EQ(film->file_name, "bert-attention-layer1-head1-film.svg");
  EXPECT_FALSE(film->immutable) << "steps may come yet";
  EXPECT_NE(film->body->find(">step 5 (eval 2)<"), std::string::npos) << *film->body;
  EXPECT_NE(film->body->find(">t6<"), std::string::npos) << *film->body;
  EXPECT_EQ(film->body->find(">t7<"), std::string::npos) << "a fourth token";
  EXPECT_EQ(ask("/film", {{"first", "65"}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask("/film", {{"head", "2"}}).status().code(), Code::kOutOfRange);
}

TEST_F(AttentionRoutes, GiveRows) {
  const Answer answer = arrays("/rows", {{"heads", "1,0"}, {"queries", "3,1"}, {"step", "5"}});
  EXPECT_EQ(answer.shape("weights"), (Numbers{2, 2, 4}));
  const std::vector<float> all = views::attention::some_weights({2, 2, 4, 4}, 5);
  EXPECT_EQ(answer.array<float>("weights")[0], all[16 + 12]);
  EXPECT_EQ(answer.array<float>("weights")[12], all[4]);
  EXPECT_EQ(answer.text("queries"), "[3,1]");
}

// Row sums of product are dot, softmax sums to one: what the page checks again.
TEST_F(AttentionRoutes, GiveNeuronsWhoseNumbersAddUp) {
  const Answer answer = arrays("/neuron", {{"head", "1"}, {"query", "2"}});
  const auto product = answer.array<float>("product");
  const auto dot = answer.array<float>("dot");
  const auto softmax = answer.array<float>("softmax");
  ASSERT_EQ(answer.shape("product"), (Numbers{4, 3}));
  for (std::size_t key = 0; key < 4; ++key) {
    EXPECT_NEAR(product[key * 3] + product[key * 3 + 1] + product[key * 3 + 2], dot[key], 1e-6);
  }
  EXPECT_NEAR(std::accumulate(softmax.begin(), softmax.end(), 0.0), 1, 1e-6);
  EXPECT_EQ(answer.shape("query"), Numbers{3});
  EXPECT_EQ(answer.shape("captured"), Numbers{4});
  EXPECT_NEAR(std::stod(answer.text("scale")), 1 / std::sqrt(3.0), 1e-12);
}

TEST_F(AttentionRoutes, GiveTheAtlasAndMetricsOfAllSteps) {
  const Answer atlas = arrays("/atlas", {{"size", "4"}});
  EXPECT_EQ(atlas.shape("max"), (Numbers{2, 2, 4, 4}));
  EXPECT_EQ(atlas.shape("metrics"), (Numbers{2, 2, 8}));
  EXPECT_EQ(format::Json::parse(atlas.text("metrics")).at(0), "entropy");
  const Answer metrics = arrays("/metrics", {{"item", "1"}});
  EXPECT_EQ(metrics.array<double>("steps"), (std::vector<double>{3, 5}));
  EXPECT_EQ(metrics.shape("metrics"), (Numbers{2, 2, 2, 8}));
  EXPECT_EQ(metrics.text("pending"), "0");
}

TEST_F(AttentionRoutes, GiveTiles) {
  const Answer tile = arrays("/tile", {{"layer", "1"}, {"head", "1"}, {"level", "0"}});
  EXPECT_EQ(tile.shape("max"), (Numbers{4, 4}));
  EXPECT_EQ(tile.text("levels"), "1");
}

TEST_F(AttentionRoutes, RefuseWhatIsNotThere) {
  EXPECT_EQ(ask("/head", {{"layer", "2"}}).status().code(), Code::kOutOfRange);
  EXPECT_EQ(ask("/head", {{"layer", "x"}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask("/head", {{"laier", "1"}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask("/head", {{"step", "2"}}).status().code(), Code::kOutOfRange);
  EXPECT_EQ(ask("/rows").status().message(), "parameter \"queries\" is missing");
  EXPECT_EQ(ask("/rows", {{"queries", ""}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask("/neuron", {{"query", "4"}}).status().code(), Code::kOutOfRange);
  EXPECT_EQ(ask("/tile", {{"level", "1"}}).status().code(), Code::kOutOfRange);
  EXPECT_EQ(ask("/atlas", {{"size", "4096"}}).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::answers
