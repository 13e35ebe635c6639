// Tests of config.json.
#include "weights/config.h"

#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>
#include <unistd.h>

namespace bert {
namespace {

namespace fs = std::filesystem;

class ConfigTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("config_") + testing::UnitTest::GetInstance()->current_test_info()->name() + "-" +
               std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  ModelConfig read(const std::string& text) {
    std::ofstream(folder_ / "config.json") << text;
    return read_config(folder_);
  }
  void expect_error(const std::string& text, const std::string& part) {
    try {
      read(text);
      FAIL() << "no error for " << text;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
  // A config with more entries.
  static std::string bert_with(const std::string& more) {
    return R"({"model_type": "bert", "vocab_size": 100, "hidden_size": 24, "num_hidden_layers": 2,
               "num_attention_heads": 4, "intermediate_size": 48, "max_position_embeddings": 64)" +
           more + "}";
  }

  fs::path folder_;
};

TEST_F(ConfigTest, BertWithDefaults) {
  const ModelConfig config = read(bert_with(R"(, "hidden_dropout_prob": 0.25, "classifier_dropout": null)"));
  EXPECT_EQ(config.hidden_size, 24);
  EXPECT_EQ(config.head_size(), 6);
  EXPECT_EQ(config.type_vocab_size, 2);
  EXPECT_EQ(config.layer_norm_eps, 1e-12);
  EXPECT_EQ(config.hidden_act, Activation::kGelu);
  EXPECT_EQ(config.classifier_dropout_prob, 0.25);
  EXPECT_EQ(config.num_labels(), 2);
}

TEST_F(ConfigTest, WhatIsWrittenIsRead) {
  ModelConfig config;
  config.hidden_act = Activation::kRelu;
  config.layer_norm_eps = 1e-6;
  config.classifier_dropout_prob = 0.3;
  config.labels = {"bad", "middling", "good"};
  for (const ModelType type : {ModelType::kBert, ModelType::kDistilBert}) {
    config.type = type;
    config.num_hidden_layers = 7;
    config.span_dropout_prob = type == ModelType::kBert ? 0 : 0.15;
    write_config(folder_, config, Head::kClassification);
    const ModelConfig back = read_config(folder_);
    EXPECT_EQ(back.type, type);
    EXPECT_EQ(back.num_hidden_layers, 7);
    EXPECT_EQ(back.hidden_act, Activation::kRelu);
    EXPECT_EQ(back.classifier_dropout_prob, 0.3);
    EXPECT_EQ(back.span_dropout_prob, config.span_dropout_prob);
    EXPECT_EQ(back.labels, config.labels);
    EXPECT_EQ(back.layer_norm_eps, type == ModelType::kBert ? 1e-6 : 1e-12);
    EXPECT_EQ(back.type_vocab_size, type == ModelType::kBert ? 2 : 0);
  }
}

TEST_F(ConfigTest, SpansHaveTwoLabels) {
  ModelConfig config;
  config.labels = {"a", "b", "c"};
  write_config(folder_, config, Head::kSpan);
  EXPECT_EQ(read_config(folder_).num_labels(), 2);
}

TEST_F(ConfigTest, WhatDoesNotFitIsTold) {
  expect_error(R"({"model_type": "gpt2"})", "expected bert or distilbert, found gpt2");
  expect_error("nonsense", "JSON object");
  expect_error(R"({"model_type": "bert"})", "vocab_size: expected a whole number");
  expect_error(bert_with(R"(, "hidden_act": "swish")"), "hidden_act");
  expect_error(bert_with(R"(, "hidden_dropout_prob": 1)"), "[0, 1)");
  expect_error(bert_with(R"(, "position_embedding_type": "relative_key")"), "expected absolute");
  expect_error(bert_with(R"(, "is_decoder": true)"), "is_decoder");
  expect_error(bert_with(R"(, "pad_token_id": 100)"), "pad_token_id");
  expect_error(bert_with(R"(, "type_vocab_size": -1)"), "type_vocab_size");
  expect_error(bert_with(R"(, "type_vocab_size": 99999999999)"), "type_vocab_size");
  expect_error(bert_with(R"(, "id2label": {"0": "a", "2": "b"})"), "id2label");
  expect_error(bert_with(R"(, "num_labels": 0)"), "num_labels");
  expect_error(
      R"({"model_type": "distilbert", "vocab_size": 9, "max_position_embeddings": 9, "dim": 10, "n_heads": 3})",
      "multiple of the number of heads");
}

TEST_F(ConfigTest, NamesOfClasses) {
  EXPECT_EQ(architecture(ModelType::kBert, Head::kSpan), "BertForQuestionAnswering");
  EXPECT_EQ(architecture(ModelType::kDistilBert, Head::kClassification), "DistilBertForSequenceClassification");
  EXPECT_EQ(architecture(ModelType::kBert, Head::kMaskedWords), "BertForMaskedLM");
  EXPECT_EQ(architecture(ModelType::kBert, Head::kNone), "BertModel");
}

}  // namespace
}  // namespace bert
