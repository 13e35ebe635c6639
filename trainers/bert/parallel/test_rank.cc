// bert_parallel_rank MODE FILE: one rank of a small training, which parallel_test starts many of.
#include <torch/nn/functional/activation.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "parallel/group.h"
#include "parallel/reducer.h"
#include "parallel/replicas.h"
#include "training/batch_order.h"
#include "training/determinism.h"

namespace {

constexpr std::int64_t kGlobalBatch = 8;
constexpr int kSteps = 6;
constexpr int kFaultStep = 3;

struct Mode {
  explicit Mode(const std::string& text) : text_(text) {}
  bool has(const char* word) const { return text_.find(word) != std::string::npos; }

 private:
  const std::string text_;
};

struct Net : torch::nn::Module {
  Net(bool sparse, std::int64_t hidden) {
    // Used last but named first: the order in which gradients are made is not that of names.
    last = register_module("last", torch::nn::Linear(hidden, 4));
    words = register_module("words", torch::nn::Embedding(torch::nn::EmbeddingOptions(50, 16).sparse(sparse)));
    first = register_module("first", torch::nn::Linear(16, hidden));
    sometimes = register_module("sometimes", torch::nn::Linear(hidden, hidden));
    never = register_module("never", torch::nn::Linear(3, 3));
  }
  torch::Tensor forward(const torch::Tensor& pieces, bool with_sometimes) {
    torch::Tensor hidden = torch::tanh(first(words(pieces).mean(1)));
    if (with_sometimes) hidden = torch::tanh(sometimes(hidden));
    return last(hidden);
  }
  torch::nn::Embedding words{nullptr};
  torch::nn::Linear first{nullptr}, sometimes{nullptr}, never{nullptr}, last{nullptr};
};

bert::NamedTensors parameters_of(Net& net, bool with_never) {
  bert::NamedTensors all;
  for (const auto& item : net.named_parameters()) {
    if (with_never || item.key().rfind("never", 0) != 0) all.emplace_back(item.key(), item.value());
  }
  return all;
}

// [examples, 5] pieces that depend on the example alone, and a target.
std::pair<torch::Tensor, torch::Tensor> data_of(const std::vector<std::int64_t>& examples) {
  const torch::Tensor ids = torch::tensor(examples);
  const torch::Tensor pieces = (ids.unsqueeze(1) * 7 + torch::arange(5) * 13).remainder(50);
  const torch::Tensor target =
      torch::stack({ids.sin(), ids.cos(), (ids * 2).sin(), (ids * 3).cos()}, 1).to(torch::kFloat);
  return {pieces, target};
}

void fault(const Mode& mode, int rank, int step) {
  if (rank != 1 || step != kFaultStep) return;
  if (mode.has("die")) ::kill(::getpid(), SIGKILL);
  if (mode.has("stop")) ::kill(::getpid(), SIGSTOP);
  while (mode.has("hang")) ::pause();
}

void backward(Net& net, const Mode& mode, const std::vector<std::int64_t>& examples, int rank, int step) {
  const auto [pieces, target] = data_of(examples);
  // Where it may be unused, rank 0 leaves it out in odd steps, and all ranks do in step 4.
  const bool with_sometimes = !mode.has("unused") || ((rank != 0 || step % 2 == 0) && step != 4);
  (net.forward(pieces, with_sometimes) - target).square().mean().backward();
}

// What no rank used has no gradient, and what one used has one on all.
void check_used(const Net& net, int step) {
  if (net.never->weight.grad().defined()) throw std::runtime_error("A gradient of what no rank uses.");
  if (net.sometimes->weight.grad().defined() != (step != 4))
    throw std::runtime_error("Not a gradient where one rank has one.");
}

void move(const bert::NamedTensors& parameters, double factor) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, parameter] : parameters) {
    const torch::Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    torch::Tensor(parameter).sub_(gradient.is_sparse() ? gradient.to_dense() : gradient, 0.5 * factor);
    parameter.mutable_grad() = torch::Tensor();
  }
}

void train(bert::Group& group, Net& net, const Mode& mode, const char* file) {
  bert::ReducerOptions options{.first_bucket_bytes = 256, .bucket_bytes = 4096};
  options.find_unused = mode.has("unused");
  options.float16 = mode.has("float16");
  if (mode.has("rows")) options.as_rows = {"words.weight"};
  const bert::NamedTensors parameters = parameters_of(net, mode.has("unused"));
  bert::Reducer reducer(group, parameters, {}, options);
  const std::int64_t parts = mode.has("accumulate") ? 2 : 1;
  bert::BatchOrder order({.examples = 64, .global_batch = kGlobalBatch, .ranks = group.size(), .rank = group.rank()});
  for (int step = 0; step < kSteps; ++step) {
    fault(mode, group.rank(), step);
    const std::vector<std::int64_t> examples = order.batch(step).examples;
    const std::size_t half = examples.size() / static_cast<std::size_t>(parts);
    if (parts == 2) {
      const bert::Reducer::LocalScope local(reducer);
      backward(net, mode, {examples.begin(), examples.begin() + static_cast<std::ptrdiff_t>(half)}, group.rank(), step);
    }
    backward(net, mode, {examples.end() - static_cast<std::ptrdiff_t>(half), examples.end()}, group.rank(), step);
    const std::int64_t backward_ended_ns = bert::steady_ns();
    reducer.finish();
    // In the first step what is never used is in the first bucket, since its name comes last.
    const bool is_first_bucket_used = step > 0 || !mode.has("unused");
    if (is_first_bucket_used && reducer.times().front().launched_ns >= backward_ended_ns)
      throw std::runtime_error("Nothing was sent before backward ended.");
    if (mode.has("unused")) check_used(net, step);
    move(parameters, 1.0 / static_cast<double>(parts));
  }
  if (!bert::ranks_that_differ(group, parameters).empty()) throw std::runtime_error("Ranks differ.");
  for (const bert::BucketTimes& bucket : reducer.times()) {
    const bool in_order =
        group.size() == 1 || (bucket.first_ns <= bucket.ready_ns && bucket.ready_ns <= bucket.launched_ns &&
                              bucket.launched_ns <= bucket.done_ns && bucket.bytes > 0);
    if (!in_order) throw std::runtime_error("Times of a bucket are not in order.");
  }
  std::ofstream out(file, std::ios::binary);
  for (const auto& [name, parameter] : parameters) {
    out.write(static_cast<const char*>(parameter.data_ptr()), static_cast<std::streamsize>(parameter.nbytes()));
  }
  const std::vector<std::vector<std::string>> plan = reducer.plan();
  std::printf("buckets %zu first %s\n", plan.size(), plan.front().front().c_str());
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return EXIT_FAILURE;
  const Mode mode(arguments[1]);
  try {
    bert::Launch launch = bert::launch_from_environment();
    launch.timeout = std::chrono::seconds(mode.has("hang") || mode.has("stop") ? 10 : 60);
    launch.beat = std::chrono::milliseconds(500);
    if (mode.has("absent")) {
      if (launch.rank == 1) return EXIT_SUCCESS;
      launch.timeout = std::chrono::seconds(3);
    }
    bert::Group group(launch, torch::kCPU);
    bert::seed_all(static_cast<std::uint64_t>(group.rank()));  // ranks differ until they are copied
    Net net(mode.has("sparse") || mode.has("rows"), mode.has("other") && group.rank() == 1 ? 33 : 32);
    train(group, net, mode, arguments[2]);
    group.barrier();
    return EXIT_SUCCESS;
  } catch (const bert::PeerLost& error) {
    bert::leave_after(error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::fflush(nullptr);
    std::_Exit(EXIT_FAILURE);
  }
}
