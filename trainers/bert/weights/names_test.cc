// Tests of the names of tensors.
#include "weights/names.h"

#include <gtest/gtest.h>

namespace bert {
namespace {

TEST(NamesTest, BertWithAndWithoutPrefix) {
  const std::string name = "bert.encoder.layer.11.attention.self.query.weight";
  EXPECT_EQ(our_name(ModelType::kBert, name), name);
  EXPECT_EQ(our_name(ModelType::kBert, "encoder.layer.11.attention.self.query.weight"), name);
  EXPECT_EQ(our_name(ModelType::kBert, "pooler.dense.bias"), "bert.pooler.dense.bias");
  EXPECT_EQ(our_name(ModelType::kBert, "qa_outputs.bias"), "qa_outputs.bias");
  EXPECT_EQ(file_name(ModelType::kBert, name), name);
}

TEST(NamesTest, OldNamesOfNorms) {
  EXPECT_EQ(our_name(ModelType::kBert, "bert.embeddings.LayerNorm.gamma"), "bert.embeddings.LayerNorm.weight");
  EXPECT_EQ(our_name(ModelType::kBert, "embeddings.LayerNorm.beta"), "bert.embeddings.LayerNorm.bias");
}

TEST(NamesTest, WhatIsNoWeightOfItsOwn) {
  EXPECT_EQ(our_name(ModelType::kBert, "embeddings.position_ids"), std::nullopt);
  EXPECT_EQ(our_name(ModelType::kBert, "cls.predictions.decoder.weight"), std::nullopt);
  EXPECT_EQ(our_name(ModelType::kBert, "cls.predictions.decoder.bias"), std::nullopt);
  EXPECT_EQ(our_name(ModelType::kDistilBert, "vocab_projector.weight"), std::nullopt);
}

TEST(NamesTest, DistilBertBothWays) {
  const std::pair<const char*, const char*> pairs[] = {
      {"bert.embeddings.word_embeddings.weight", "distilbert.embeddings.word_embeddings.weight"},
      {"bert.encoder.layer.3.attention.self.query.weight", "distilbert.transformer.layer.3.attention.q_lin.weight"},
      {"bert.encoder.layer.3.attention.self.key.bias", "distilbert.transformer.layer.3.attention.k_lin.bias"},
      {"bert.encoder.layer.3.attention.self.value.bias", "distilbert.transformer.layer.3.attention.v_lin.bias"},
      {"bert.encoder.layer.3.attention.output.dense.bias", "distilbert.transformer.layer.3.attention.out_lin.bias"},
      {"bert.encoder.layer.3.attention.output.LayerNorm.bias", "distilbert.transformer.layer.3.sa_layer_norm.bias"},
      {"bert.encoder.layer.3.intermediate.dense.bias", "distilbert.transformer.layer.3.ffn.lin1.bias"},
      {"bert.encoder.layer.3.output.dense.weight", "distilbert.transformer.layer.3.ffn.lin2.weight"},
      {"bert.encoder.layer.3.output.LayerNorm.weight", "distilbert.transformer.layer.3.output_layer_norm.weight"},
      {"cls.predictions.transform.dense.weight", "vocab_transform.weight"},
      {"cls.predictions.transform.LayerNorm.weight", "vocab_layer_norm.weight"},
      {"cls.predictions.bias", "vocab_projector.bias"},
      {"qa_outputs.weight", "qa_outputs.weight"},
      {"pre_classifier.weight", "pre_classifier.weight"},
  };
  for (const auto& [ours, distilled] : pairs) {
    EXPECT_EQ(our_name(ModelType::kDistilBert, distilled), ours);
    EXPECT_EQ(file_name(ModelType::kDistilBert, ours), distilled);
  }
  EXPECT_EQ(our_name(ModelType::kDistilBert, "transformer.layer.0.ffn.lin1.bias"),
            "bert.encoder.layer.0.intermediate.dense.bias");
}

TEST(NamesTest, HeadsMayBeFresh) {
  EXPECT_TRUE(is_of_head("qa_outputs.weight"));
  EXPECT_TRUE(is_of_head("bert.pooler.dense.weight"));
  EXPECT_FALSE(is_of_head("bert.embeddings.word_embeddings.weight"));
}

}  // namespace
}  // namespace bert
