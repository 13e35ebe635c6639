#include "cli/classes/class_evaluation.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include <ATen/Functions.h>
#include <c10/core/InferenceMode.h>

#include "cli/shared_work.h"

namespace bert {
namespace {

// Numbers of the texts, the longest first: few sizes of batches, so that little is padded.
std::vector<std::int64_t> by_length(std::span<const ClassText> texts) {
  std::vector<std::int64_t> order(texts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return texts[static_cast<std::size_t>(a)].pieces.size() > texts[static_cast<std::size_t>(b)].pieces.size();
  });
  return order;
}

// Of each text, in their order: [texts, classes], float32, on the CPU.
at::Tensor log_probabilities(BertForClassification& model, const ClassQuestion& question, Group* group) {
  const c10::InferenceMode inference;
  const at::Device device = model->parameters().front().device();
  const std::vector<std::int64_t> order = by_length(question.texts);
  at::Tensor all = at::zeros({static_cast<std::int64_t>(order.size()), model->classifier->weight.size(0)});
  for (const Turn& turn : turns_of(group, order.size(), static_cast<std::size_t>(question.batch_size))) {
    const auto chosen = std::span(order).subspan(turn.begin, turn.end - turn.begin);
    std::vector<const ClassText*> texts;
    for (const std::int64_t number : chosen) texts.push_back(&question.texts[static_cast<std::size_t>(number)]);
    const ClassBatch batch = make_class_batch(texts, question.padding, device);
    const at::Tensor found = at::log_softmax(model->forward(batch.inputs, {.skip_padding = true}), 1, at::kFloat).cpu();
    for (std::size_t i = 0; i < chosen.size(); ++i) all[chosen[i]].copy_(found[static_cast<std::int64_t>(i)]);
  }
  return put_together(group, all);
}

}  // namespace

ClassResult judge(BertForClassification& model, const ClassQuestion& question, Group* group) {
  const bool was_training = model->is_training();
  model->eval();
  const auto begin = std::chrono::steady_clock::now();
  const at::Tensor logs =
      log_probabilities(model, question, group).clone();  // an ordinary tensor, outside of inference
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  model->train(was_training);

  std::vector<std::int64_t> labels;
  for (const ClassText& text : question.texts) labels.push_back(text.label);
  const at::Tensor label = at::tensor(labels, at::kLong);
  const at::Tensor predicted = logs.argmax(1);
  const std::span<const std::int64_t> numbers(predicted.data_ptr<std::int64_t>(), labels.size());
  return {.loss = -logs.gather(1, label.unsqueeze(1)).to(at::kDouble).mean().item<double>(),
          .scores = ClassScores(static_cast<std::size_t>(logs.size(1)), labels, numbers),
          .labels = labels,
          .probabilities = logs.exp(),
          .seconds = seconds};
}

}  // namespace bert
