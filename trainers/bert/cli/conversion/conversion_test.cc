// `bert convert` as a user runs it, on checkpoints that are made here.
#include <gtest/gtest.h>

#include "cli/program_testing.h"
#include "weights/foreign_testing.h"
#include "weights/safetensors.h"

namespace bert {
namespace {

using nlohmann::json;

// What Google's pre-trained checkpoints hold.
struct PreTrained : torch::nn::Module {
  explicit PreTrained(const ModelConfig& config) {
    register_module("bert", BertModel(config, true));
    register_module("cls", WordHead(config))
        ->register_module("seq_relationship", torch::nn::Linear(config.hidden_size, 2));
  }
};

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// What Google's code calls a parameter of ours.
std::string tensorflow_name(std::string name) {
  for (const auto& [ours, theirs] : {std::pair{"cls.predictions.bias", "cls/predictions/output_bias"},
                                     {"cls.seq_relationship.weight", "cls/seq_relationship/output_weights"},
                                     {"cls.seq_relationship.bias", "cls/seq_relationship/output_bias"},
                                     {"qa_outputs.weight", "cls/squad/output_weights"},
                                     {"qa_outputs.bias", "cls/squad/output_bias"}}) {
    if (name == ours) return theirs;
  }
  replace_all(name, "layer.", "layer_");
  replace_all(name, "LayerNorm.weight", "LayerNorm.gamma");
  replace_all(name, "LayerNorm.bias", "LayerNorm.beta");
  replace_all(name, "_embeddings.weight", "_embeddings");
  replace_all(name, "weight", "kernel");
  replace_all(name, ".", "/");
  return name;
}

std::string numbers_of(const at::Tensor& tensor) {
  const at::Tensor whole = tensor.contiguous();
  return {static_cast<const char*>(whole.data_ptr()), whole.nbytes()};
}

class ConvertProgram : public BertProgram {
 protected:
  void SetUp() override {
    BertProgram::SetUp();
    fs::create_directories(folder_ / "google");
    fs::copy(folder_ / "vocab.txt", folder_ / "google");
    write_config(folder_ / "google", small_config(), Head::kNone);
    fs::rename(folder_ / "google/config.json", folder_ / "google/bert_config.json");
  }

  // Writes a checkpoint as Google's code does; the tensor `without` is left out.
  void put_checkpoint(const torch::nn::Module& model, const std::string& without = "") const {
    std::map<std::string, std::string> entries = {{"", number_field(1, 1)}};
    std::string data;
    for (const auto& parameter : model.named_parameters()) {
      if (parameter.key() == without) continue;
      const std::string name = tensorflow_name(parameter.key());
      const at::Tensor value = parameter.value().detach();
      const at::Tensor stored = name.ends_with("kernel") ? value.t() : value;
      const std::string bytes = numbers_of(stored);
      entries[name] =
          bundle_entry(1, {stored.sizes().begin(), stored.sizes().end()}, data.size(), bytes.size(), crc32c_of(bytes));
      data += bytes;
    }
    std::ofstream(folder_ / "google/bert_model.ckpt.data-00000-of-00001", std::ios::binary) << data;
    std::ofstream(folder_ / "google/bert_model.ckpt.index", std::ios::binary)
        << table({entries.begin(), entries.end()});
  }

  Outcome convert(const std::string& arguments) const {
    return run(std::string(BERT_PROGRAM) + " convert --out " + (folder_ / "out").string() + " " + arguments);
  }
  Outcome convert_google() const { return convert((folder_ / "google").string()); }

  void expect_error(const Outcome& ended, int code, const std::string& message) const {
    EXPECT_EQ(ended.code, code) << ended.text;
    EXPECT_NE(ended.text.find(message), std::string::npos) << ended.text;
    EXPECT_FALSE(fs::exists(folder_ / "out")) << "half a folder is left";
    EXPECT_FALSE(fs::exists(folder_ / "out.partial"));
  }
};

TEST_F(ConvertProgram, GooglesCheckpointKeepsAllItsWeights) {
  const PreTrained model(small_config());
  put_checkpoint(model);
  const Outcome ended = convert_google();
  ASSERT_EQ(ended.code, 0) << ended.text;
  const TensorsByName converted = read_safetensors(folder_ / "out/model.safetensors");
  EXPECT_EQ(converted.size(), model.named_parameters().size());
  for (const auto& parameter : model.named_parameters()) {
    ASSERT_EQ(converted.count(parameter.key()), 1u) << parameter.key();
    EXPECT_TRUE(torch::equal(converted.at(parameter.key()), parameter.value())) << parameter.key();
  }
  EXPECT_EQ(json_in(folder_ / "out/config.json").at("architectures"), json::parse(R"(["BertForMaskedLM"])"));
  EXPECT_EQ(json_in(folder_ / "out/tokenizer_config.json").at("do_lower_case"), true);
  EXPECT_EQ(bytes_of(folder_ / "out/vocab.txt"), bytes_of(folder_ / "google/vocab.txt"));

  put_lines(folder_ / "texts.txt", {"aword bword", "cword dword", "eword fword"});
  const Outcome trained = run(std::string(BERT_PROGRAM) + " train-words --no-hook --max-steps 1 --max-length 8" +
                              " --model " + (folder_ / "out").string() + " --texts " +
                              (folder_ / "texts.txt").string() + " --out " + (folder_ / "trained").string());
  EXPECT_EQ(trained.code, 0) << trained.text;
}

TEST_F(ConvertProgram, AModelForSpansIsOne) {
  put_checkpoint(*BertForSpans(small_config()));
  const Outcome ended = convert((folder_ / "google/bert_model.ckpt").string() + " --cased");
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_NE(ended.text.find("BertForQuestionAnswering"), std::string::npos) << ended.text;
  EXPECT_EQ(json_in(folder_ / "out/tokenizer_config.json").at("do_lower_case"), false);
}

TEST_F(ConvertProgram, FilesThatAreNotWholeAreTold) {
  const PreTrained model(small_config());
  put_checkpoint(model);
  const fs::path data = folder_ / "google/bert_model.ckpt.data-00000-of-00001";
  const std::string whole = bytes_of(data);
  std::ofstream(data, std::ios::binary) << whole.substr(0, whole.size() - 1);
  expect_error(convert_google(), 1, "bert_model.ckpt");
  put_checkpoint(model, "bert.encoder.layer.1.output.dense.weight");
  expect_error(convert_google(), 1, "bert.encoder.layer.1.output.dense.weight");
  put_checkpoint(model, "bert.pooler.dense.bias");
  expect_error(convert_google(), 1, "expected the weight bert.pooler.dense.bias, found none");
  put_checkpoint(model);
  put_lines(folder_ / "google/vocab.txt", {"[PAD]", "[UNK]", "[CLS]"});
  expect_error(convert_google(), 1, "vocab.txt");
  fs::remove(folder_ / "google/vocab.txt");
  expect_error(convert_google(), 1, "expected the vocabulary beside it");
  fs::copy(folder_ / "vocab.txt", folder_ / "google");
  fs::remove(folder_ / "google/bert_config.json");
  expect_error(convert_google(), 1, "bert_config.json");
}

TEST_F(ConvertProgram, WhatIsNoModelIsTold) {
  put_lines(folder_ / "any.bin", {"text"});
  expect_error(convert((folder_ / "any.bin").string()), 2, "expected NAME.index");
  expect_error(convert((folder_ / "google").string()), 2, "found 0; name the file");
  put_lines(folder_ / "google/any.params", {"text"});
  expect_error(convert_google(), 1, "any.params");
}

TEST_F(ConvertProgram, NothingIsWrittenOver) {
  put_checkpoint(PreTrained(small_config()));
  put_lines(folder_ / "out/mine.txt", {"mine"});
  const Outcome ended = convert_google();
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.text.find("something is there already"), std::string::npos) << ended.text;
  EXPECT_EQ(bytes_of(folder_ / "out/mine.txt"), "mine\n");
  EXPECT_FALSE(fs::exists(folder_ / "out/config.json"));
}

TEST_F(ConvertProgram, GluonsEncoderAndVocabularyAreTaken) {
  const BertForSpans model(small_config());
  std::vector<std::string> arrays, names;
  for (const auto& parameter : model->named_parameters()) {
    std::string name = parameter.key();
    for (const auto& [ours, theirs] : {std::pair{"bert.embeddings.word_embeddings.", "word_embed.0."},
                                       {"bert.embeddings.token_type_embeddings.", "token_type_embed.0."},
                                       {"bert.embeddings.position_embeddings.weight", "encoder.position_weight"},
                                       {"bert.embeddings.LayerNorm.", "encoder.layer_norm."},
                                       {".attention.self.", ".attention_cell.proj_"},
                                       {".attention.output.dense.", ".proj."},
                                       {".attention.output.LayerNorm.", ".layer_norm."},
                                       {".intermediate.dense.", ".ffn.ffn_1."},
                                       {".output.dense.", ".ffn.ffn_2."},
                                       {".output.LayerNorm.", ".ffn.layer_norm."},
                                       {"bert.encoder.layer.", "encoder.transformer_cells."},
                                       {"qa_outputs.", "span_classifier."},
                                       {"layer_norm.weight", "layer_norm.gamma"},
                                       {"layer_norm.bias", "layer_norm.beta"}}) {
      replace_all(name, ours, theirs);
    }
    const at::Tensor value = parameter.value().detach();
    arrays.push_back(gluon_array(0xf993fac9, {value.sizes().begin(), value.sizes().end()}, 0, numbers_of(value)));
    names.push_back(name);
  }
  std::ofstream(folder_ / "google/bert.params", std::ios::binary) << gluon_list(arrays, names);
  std::ifstream pieces(folder_ / "vocab.txt");
  json listed = json::array();
  for (std::string piece; std::getline(pieces, piece);) listed.push_back(piece);
  put_lines(folder_ / "google/book.vocab", {json{{"idx_to_token", listed}}.dump()});
  const Outcome ended = convert_google();
  ASSERT_EQ(ended.code, 0) << ended.text;
  const TensorsByName converted = read_safetensors(folder_ / "out/model.safetensors");
  for (const auto& parameter : model->named_parameters())
    EXPECT_TRUE(torch::equal(converted.at(parameter.key()), parameter.value())) << parameter.key();
  EXPECT_EQ(bytes_of(folder_ / "out/vocab.txt"), bytes_of(folder_ / "google/vocab.txt"));
  std::ofstream(folder_ / "google/book.vocab") << "{}";
  fs::remove_all(folder_ / "out");
  expect_error(convert_google(), 1, "idx_to_token");
}

}  // namespace
}  // namespace bert
