// Weights of a file put into a module.
#include "weights/loading.h"

#include <stdexcept>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <c10/util/ArrayRef.h>

#include "weights/names.h"

namespace bert {
namespace {

using Copies = std::vector<std::pair<at::Tensor, at::Tensor>>;  // to, from

std::string shape_text(const at::Tensor& tensor) {
  std::string text = "[";
  for (std::int64_t i = 0; i < tensor.dim(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(tensor.size(i));
  return text + "]";
}

// What a shape that differs usually comes from.
const char* likely_cause(const std::string& name) {
  if (name.find("word_embeddings") != std::string::npos || name.starts_with("cls.predictions.bias")) {
    return "the weights belong to another vocabulary";
  }
  if (name.find("position_embeddings") != std::string::npos)
    return "the weights are for another max_position_embeddings";
  if (name.starts_with("classifier.")) return "the weights are for another number of labels";
  return "config.json and the weights are of models of different sizes";
}

void check_shape(const at::Tensor& parameter, const at::Tensor& found, const std::string& name,
                 const std::string& source) {
  if (parameter.sizes() == found.sizes()) return;
  throw std::runtime_error(source + ": tensor " + name + ": expected the shape " + shape_text(parameter) + ", found " +
                           shape_text(found) + ". Probably " + likely_cause(name));
}

// The tensors by our names.
std::map<std::string, std::pair<std::string, at::Tensor>> by_our_names(const ModelConfig& config,
                                                                       const TensorsByName& tensors,
                                                                       const std::string& source) {
  std::map<std::string, std::pair<std::string, at::Tensor>> named;
  for (const auto& [name, tensor] : tensors) {
    const auto ours = our_name(config.type, name);
    if (!ours) continue;
    const auto [known, added] = named.try_emplace(*ours, name, tensor);
    if (!added) {
      throw std::runtime_error(source + ": expected each weight once, found " + name + " and " + known->second.first +
                               ", which are the same one");
    }
  }
  return named;
}

}  // namespace

LoadReport load_weights(torch::nn::Module& module, const ModelConfig& config, const TensorsByName& tensors,
                        const std::string& source) {
  LoadReport report;
  Copies copies;
  auto named = by_our_names(config, tensors, source);
  for (const auto& parameter : module.named_parameters()) {
    const auto found = named.find(parameter.key());
    if (found == named.end()) {
      if (!is_of_head(parameter.key())) {
        throw std::runtime_error(
            source + ": expected the tensor " + file_name(config.type, parameter.key()) +
            ", found none. Is it the file of another model, or does config.json name more layers?");
      }
      report.fresh.push_back(parameter.key());
      continue;
    }
    check_shape(parameter.value(), found->second.second, parameter.key(), source);
    copies.emplace_back(parameter.value(), found->second.second);
    report.loaded.push_back(parameter.key());
    named.erase(found);
  }
  for (const auto& [ours, tensor] : named) report.unused.push_back(tensor.first);
  const at::NoGradGuard no_grad;
  for (const auto& [to, from] : copies) to.copy_(from);
  return report;
}

}  // namespace bert
