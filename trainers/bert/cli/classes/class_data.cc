#include "cli/classes/class_data.h"

#include <algorithm>
#include <stdexcept>

#include <torch/nn/functional/loss.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "cli/text_batch.h"

namespace bert {
namespace {

namespace fs = std::filesystem;

std::int64_t number_of_class(const std::vector<std::string>& names, const std::string& label, const fs::path& path) {
  const auto found = std::find(names.begin(), names.end(), label);
  if (found != names.end()) return found - names.begin();
  throw std::runtime_error(path.string() + ": it has the class \"" + label + "\", which is not trained on");
}

std::vector<ClassText> encoded(std::vector<LabelledText> texts, const ClassData& data, const fs::path& path,
                               const ClassOptions& options, const Tokenizer& tokenizer) {
  std::vector<ClassText> all;
  for (LabelledText& text : texts) {
    const std::int64_t label = number_of_class(data.names, text.label, path);
    Pieces pieces = first_window(tokenizer, text.text, static_cast<std::size_t>(options.max_length));
    all.push_back({std::move(text.text), std::move(pieces), label});
  }
  return all;
}

}  // namespace

ClassData read_class_data(const ClassOptions& options, const Tokenizer& tokenizer) {
  ClassData data;
  const auto read = [&](const fs::path& path) {
    LabelledTexts texts = read_labelled_texts(path, options.fields);
    data.left_out += texts.left_out;
    if (data.names.empty()) data.names = label_names(texts.all);  // those of what is trained on, which comes first
    return encoded(std::move(texts.all), data, path, options, tokenizer);
  };
  data.train = read(options.train);
  if (data.names.size() < 2) {
    throw std::runtime_error(options.train.string() + ": expected texts of two classes or more, found only \"" +
                             data.names.front() + "\"");
  }
  if (options.run_validation) data.validation = read(options.validation);
  if (options.run_test.value_or(false)) data.test = read(options.test);
  return data;
}

ClassBatch make_class_batch(std::span<const ClassText* const> texts, std::int32_t padding, at::Device device) {
  std::vector<const Pieces*> pieces;
  std::vector<std::int64_t> labels;
  for (const ClassText* text : texts) {
    pieces.push_back(&text->pieces);
    labels.push_back(text->label);
  }
  return {make_inputs(pieces, padding, device), torch::tensor(labels, at::kLong).to(device)};
}

at::Tensor balanced_weights(const std::vector<ClassText>& texts, std::size_t classes) {
  std::vector<float> counts(classes);
  for (const ClassText& text : texts) ++counts[static_cast<std::size_t>(text.label)];
  const auto share = static_cast<float>(texts.size()) / static_cast<float>(classes);
  return share / torch::tensor(counts);
}

at::Tensor class_loss(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& weights) {
  namespace F = torch::nn::functional;
  const auto options = F::CrossEntropyFuncOptions().weight(weights).reduction(torch::kSum);
  return F::cross_entropy(logits.to(at::kFloat), labels, options);
}

}  // namespace bert
