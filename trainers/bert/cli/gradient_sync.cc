#include "cli/gradient_sync.h"

#include <vector>

#include <torch/nn/modules/embedding.h>

#include "cli/capture.h"
#include "cli/setup.h"

namespace bert {
namespace {

// The embeddings of words, by far the largest: their gradients become sparse.
std::set<std::string> make_sparse(torch::nn::Module& model) {
  std::set<std::string> weights;
  for (const auto& module : model.named_modules()) {
    auto* const embedding = module.value()->as<torch::nn::Embedding>();
    if (embedding == nullptr || !module.key().ends_with("word_embeddings")) continue;
    embedding->options.sparse(true);
    weights.insert(module.key() + ".weight");
  }
  return weights;
}

ReducerOptions reducer_options(const RankOptions& options, std::set<std::string> as_rows) {
  ReducerOptions reducer;
  reducer.bucket_bytes = options.bucket_mebibytes << 20;
  reducer.float16 = options.gradients == "float16";
  reducer.as_rows = std::move(as_rows);
  return reducer;
}

NamedTensors trained(const torch::nn::Module& model) {
  NamedTensors parameters = named_parameters(model);
  std::erase_if(parameters, [](const auto& parameter) { return !parameter.second.requires_grad(); });
  return parameters;
}

// Which are to be those of rank 0, too: buffers, and parameters that stay as they are.
NamedTensors untrained(const torch::nn::Module& model) {
  NamedTensors tensors = named_parameters(model);
  std::erase_if(tensors, [](const auto& parameter) { return parameter.second.requires_grad(); });
  for (const auto& buffer : model.named_buffers()) tensors.emplace_back(buffer.key(), buffer.value());
  return tensors;
}

NamedTensors without(NamedTensors parameters, const std::set<std::string>& names) {
  std::erase_if(parameters, [&](const auto& parameter) { return names.contains(parameter.first); });
  return parameters;
}

}  // namespace

GradientSync::GradientSync(Group& group, torch::nn::Module& model, const RankOptions& options)
    : GradientSync(group, model, options, options.embedding_rows ? make_sparse(model) : std::set<std::string>()) {}

GradientSync::GradientSync(Group& group, torch::nn::Module& model, const RankOptions& options,
                           const std::set<std::string>& as_rows)
    : ranks_(group.size()),
      dense_(without(trained(model), as_rows)),
      reducer_(group, trained(model), untrained(model), reducer_options(options, as_rows)) {}

at::Tensor GradientSync::loss_of_nothing() const {
  at::Tensor loss = dense_.front().second.sum() * 0;
  for (std::size_t i = 1; i < dense_.size(); ++i) loss = loss + dense_[i].second.sum() * 0;
  return loss;
}

void GradientSync::finish() {
  reducer_.finish();
  last_ = overlap_of(reducer_.times(), backward_ended_ns_, ranks_);
  sum_.bytes += last_.bytes;
  sum_.wire_bytes += last_.wire_bytes;
  sum_.travelled_ns += last_.travelled_ns;
  sum_.hidden_ns += last_.hidden_ns;
}

void GradientSync::save(trainwarden::Hook& hook) const {
  save_signal(hook, "trainwarden/gradient_sync/bytes", static_cast<double>(last_.bytes));
  save_signal(hook, "trainwarden/gradient_sync/travelled_seconds", static_cast<double>(last_.travelled_ns) * 1e-9);
  save_signal(hook, "trainwarden/gradient_sync/hidden_seconds", static_cast<double>(last_.hidden_ns) * 1e-9);
  save_buckets(hook, reducer_.times(), backward_ended_ns_);
  if (hook.wants_operators()) record_calls(hook);
}

void GradientSync::record_calls(trainwarden::Hook& hook) const {
  using Time = std::chrono::steady_clock::time_point;
  const auto time = [](std::int64_t ns) { return Time(std::chrono::nanoseconds(ns)); };
  std::size_t number = 0;
  for (const BucketTimes& bucket : reducer_.times()) {
    const std::string track = "gradients " + std::to_string(number++);
    const auto record = [&](const char* name, std::int64_t begin, std::int64_t end) {
      hook.operators().add(track, name, trainwarden::OperatorKind::kUser, time(begin), time(end));
    };
    if (!bucket.rows) {
      record("bucket fills", bucket.first_ns, bucket.ready_ns);
      record("bucket waits", bucket.ready_ns, bucket.launched_ns);
    }
    record("bucket travels", bucket.launched_ns, bucket.done_ns);
  }
}

}  // namespace bert
