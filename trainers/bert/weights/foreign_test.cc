// Tests of checkpoints of TensorFlow and GluonNLP, on files that are made here byte by byte.
#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <unistd.h>

#include "weights/foreign_testing.h"
#include "weights/gluon_params.h"
#include "weights/tensorflow_checkpoint.h"

namespace bert {
namespace {

namespace fs = std::filesystem;

class ForeignTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("foreign_") + testing::UnitTest::GetInstance()->current_test_info()->name() + "-" +
               std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path put(const char* name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  // A checkpoint with a kernel of 32 bytes of zeros and a step of eight of ones.
  fs::path checkpoint() {
    put("bert.ckpt.data-00000-of-00001", std::string(32, '\0') + std::string(32, '\xff'));
    return put("bert.ckpt.index",
               table({{"", number_field(1, 1)},
                      {"bert/pooler/dense/bias/adam_m", bundle_entry(1, {8}, 0, 32, 1)},
                      {"bert/pooler/dense/kernel", bundle_entry(1, {2, 4}, 0, 32, crc32c_of(std::string(32, '\0')))},
                      {"global_step", bundle_entry(9, {4}, 32, 32, crc32c_of(std::string(32, '\xff')))},
                      {"text", bundle_entry(7, {1}, 0, 1, 0)}}));
  }

  fs::path folder_;
};

TEST_F(ForeignTest, ChecksumsAreThoseOfTheStandard) {
  EXPECT_EQ(crc32c_of(std::string(32, '\0')), 0x8a9136aa);  // RFC 3720, B.4
  EXPECT_EQ(crc32c_of(std::string(32, '\xff')), 0x62a8ab43);
}

TEST_F(ForeignTest, TensorflowTensorsAreRead) {
  const TensorsByName tensors = read_tensorflow_checkpoint(checkpoint());
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_TRUE(torch::equal(tensors.at("bert/pooler/dense/kernel"), torch::zeros({2, 4})));
  EXPECT_TRUE(torch::equal(tensors.at("global_step"), torch::full({4}, -1, torch::kLong)));
}

TEST_F(ForeignTest, DamagedTensorflowFilesAreTold) {
  const fs::path index = checkpoint();
  put("bert.ckpt.data-00000-of-00001", std::string(31, '\0') + "\1" + std::string(32, '\xff'));
  EXPECT_THROW(read_tensorflow_checkpoint(index), std::runtime_error);
  put("bert.ckpt.data-00000-of-00001", std::string(63, '\0'));
  EXPECT_THROW(read_tensorflow_checkpoint(index), std::runtime_error);
  fs::remove(folder_ / "bert.ckpt.data-00000-of-00001");
  EXPECT_THROW(read_tensorflow_checkpoint(index), std::runtime_error);
  std::ifstream in(checkpoint(), std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(in), {});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(read_tensorflow_checkpoint(put("bert.ckpt.index", whole.substr(0, size))), std::runtime_error) << size;
  }
  // Whatever one byte becomes, it is read or told.
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(~changed[at]);
    try {
      EXPECT_LT(read_tensorflow_checkpoint(put("bert.ckpt.index", changed)).size(), 5u);
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(folder_.string()), std::string::npos) << error.what();
    }
  }
}

TEST_F(ForeignTest, TensorflowNamesBecomeOurs) {
  const at::Tensor kernel = torch::arange(6).view({2, 3});
  const std::pair<const char*, const char*> names[] = {
      {"bert/embeddings/word_embeddings", "bert.embeddings.word_embeddings.weight"},
      {"bert/embeddings/position_embeddings", "bert.embeddings.position_embeddings.weight"},
      {"bert/embeddings/LayerNorm/gamma", "bert.embeddings.LayerNorm.weight"},
      {"bert/encoder/layer_11/attention/self/query/bias", "bert.encoder.layer.11.attention.self.query.bias"},
      {"bert/encoder/layer_0/attention/output/LayerNorm/beta", "bert.encoder.layer.0.attention.output.LayerNorm.bias"},
      {"bert/encoder/layer_0/output/dense/kernel", "bert.encoder.layer.0.output.dense.weight"},
      {"cls/predictions/output_bias", "cls.predictions.bias"},
      {"cls/predictions/transform/dense/kernel", "cls.predictions.transform.dense.weight"},
      {"cls/squad/output_weights", "qa_outputs.weight"},
      {"cls/seq_relationship/output_weights", "cls.seq_relationship.weight"},
      {"output_bias", "classifier.bias"}};
  TensorsByName tensors{{"global_step", kernel}};
  for (const auto& [theirs, ours] : names) tensors[theirs] = kernel;
  const TensorsByName renamed = from_tensorflow_names(tensors);
  EXPECT_EQ(renamed.size(), std::size(names));
  for (const auto& [theirs, ours] : names) {
    ASSERT_EQ(renamed.count(ours), 1u) << ours;
    const bool is_kernel = std::string(theirs).ends_with("kernel");
    EXPECT_TRUE(torch::equal(renamed.at(ours), is_kernel ? kernel.t() : kernel)) << ours;
  }
}

TEST_F(ForeignTest, GluonArraysAreRead) {
  const std::string two = bytes_of(1.5f) + bytes_of(-2.0f);
  const std::string whole = gluon_list({gluon_array(0xf993fac8, {2}, 0, two), gluon_array(0xf993fac9, {2, 1}, 0, two),
                                        gluon_array(0xf993faca, {1}, 6, bytes_of(std::int64_t{7}))},
                                       {"arg:a", "b", "c"});
  const TensorsByName tensors = read_gluon_params(put("a.params", whole));
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_TRUE(torch::equal(tensors.at("a"), torch::tensor({1.5f, -2.0f})));
  EXPECT_EQ(tensors.at("b").sizes(), at::IntArrayRef({2, 1}));
  EXPECT_EQ(tensors.at("c").item<std::int64_t>(), 7);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(read_gluon_params(put("a.params", whole.substr(0, size))), std::runtime_error) << size;
  }
}

TEST_F(ForeignTest, HostileGluonFilesAreTold) {
  const std::string four = bytes_of(1.0f);
  const auto throws = [&](const std::string& bytes) {
    EXPECT_THROW(read_gluon_params(put("a.params", bytes)), std::runtime_error);
  };
  throws(gluon_list({gluon_array(0xf993fac9, {INT64_MAX, INT64_MAX}, 0, four)}, {"a"}));
  throws(gluon_list({gluon_array(0xf993fac9, {-1}, 0, four)}, {"a"}));
  throws(gluon_list({gluon_array(0xf993fac9, {1}, 5, four)}, {"a"}));
  throws(gluon_list({gluon_array(0xf993fac9, {1}, 0, four)}, {}));
  throws(gluon_list({gluon_array(1, {1}, 0, four)}, {"a"}));
  const std::string array = gluon_array(0xf993fac9, {1}, 0, four);
  throws(gluon_list({array, array}, {"a", "a"}));
}

TEST_F(ForeignTest, GluonNamesBecomeOurs) {
  const std::pair<const char*, const char*> names[] = {
      {"word_embed.0.weight", "bert.embeddings.word_embeddings.weight"},
      {"token_type_embed.0.weight", "bert.embeddings.token_type_embeddings.weight"},
      {"encoder.position_weight", "bert.embeddings.position_embeddings.weight"},
      {"encoder.layer_norm.gamma", "bert.embeddings.LayerNorm.weight"},
      {"encoder.transformer_cells.3.attention_cell.proj_query.weight",
       "bert.encoder.layer.3.attention.self.query.weight"},
      {"encoder.transformer_cells.3.proj.bias", "bert.encoder.layer.3.attention.output.dense.bias"},
      {"encoder.transformer_cells.3.layer_norm.beta", "bert.encoder.layer.3.attention.output.LayerNorm.bias"},
      {"encoder.transformer_cells.3.ffn.ffn_1.weight", "bert.encoder.layer.3.intermediate.dense.weight"},
      {"encoder.transformer_cells.3.ffn.ffn_2.bias", "bert.encoder.layer.3.output.dense.bias"},
      {"encoder.transformer_cells.3.ffn.layer_norm.gamma", "bert.encoder.layer.3.output.LayerNorm.weight"},
      {"pooler.weight", "bert.pooler.dense.weight"},
      {"decoder.0.weight", "cls.predictions.transform.dense.weight"},
      {"decoder.2.gamma", "cls.predictions.transform.LayerNorm.weight"},
      {"decoder.3.bias", "cls.predictions.bias"},
      {"classifier.weight", "cls.seq_relationship.weight"},
      {"span_classifier.weight", "qa_outputs.weight"}};
  TensorsByName tensors;
  for (const auto& [theirs, ours] : names) tensors[theirs] = torch::ones({1});
  const TensorsByName renamed = from_gluon_names(tensors);
  EXPECT_EQ(renamed.size(), std::size(names));
  for (const auto& [theirs, ours] : names) EXPECT_EQ(renamed.count(ours), 1u) << theirs;
  EXPECT_EQ(from_gluon_names({{"bert.pooler.bias", torch::ones({1})}}).count("bert.pooler.dense.bias"), 1u);
}

}  // namespace
}  // namespace bert
