// Labelled texts as what a classifier is trained on and judged by.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "cli/classes/class_options.h"
#include "model/model.h"
#include "text/tokenizer.h"
#include "words/documents.h"

namespace bert {

struct ClassText {
  std::string text;
  Pieces pieces;
  std::int64_t label = 0;  // its place among the names
};

struct ClassData {
  std::vector<std::string> names;  // of the classes that are trained on
  std::vector<ClassText> train, validation, test;
  std::size_t left_out = 0;  // of all three: without a text or a label
};

// Throws as read_labelled_texts(), and where validation or test have a class that training has not.
ClassData read_class_data(const ClassOptions& options, const Tokenizer& tokenizer);

struct ClassBatch {
  Inputs inputs;      // [B, T] each
  at::Tensor labels;  // int64 [B]
};

ClassBatch make_class_batch(std::span<const ClassText* const> texts, std::int32_t padding, at::Device device);

// Weight of each class in the loss, float32 [classes]: texts / (classes · texts of the class), so that each class has
// the same in all, and a text 1 on average.
at::Tensor balanced_weights(const std::vector<ClassText>& texts, std::size_t classes);

// Cross entropy: -log of the probability of the label, times its class's weight, summed over texts. `logits`:
// [B, classes], of any floating type; `weights` may be undefined, which is 1 for all. A float32 scalar.
at::Tensor class_loss(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& weights);

}  // namespace bert
