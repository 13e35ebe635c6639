// Hooks on gradients, and the end of a reduction.
#include "parallel/reducer.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/variable.h>

#include <functional>
#include <optional>

#include "parallel/bucket_plan.h"
#include "parallel/reducer_buckets.h"
#include "parallel/replicas.h"
#include "parallel/sparse_rows.h"

namespace bert {

struct Reducer::Parts {
  Parts(Group& ranks, NamedTensors named, ReducerOptions chosen)
      : group(ranks), parameters(std::move(named)), options(std::move(chosen)), ready(parameters.size(), false) {}

  Group& group;
  NamedTensors parameters;
  ReducerOptions options;
  bool local = false;
  bool observed = false;          // buckets follow the order that was seen
  std::vector<bool> ready;        // gradients of this backward
  std::vector<std::size_t> seen;  // their order
  std::optional<ReducerBuckets> buckets;
  std::vector<BucketTimes> last_times;
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators;  // live as long as their hooks
  std::vector<std::uintptr_t> hooks;

  bool as_rows(std::size_t place) const { return options.as_rows.count(parameters[place].first) > 0; }
  void build(const std::vector<std::size_t>& order);
  void gradient_ready(std::size_t place);
  void take(std::size_t place);
  std::vector<bool> used_anywhere();
  void write_means(const std::vector<bool>& used);
  void reduce_rows(std::size_t place);
  void follow_observed_order();
};

namespace {

class ReadyHook final : public torch::autograd::FunctionPostHook {
 public:
  explicit ReadyHook(std::function<void()> ready) : ready_(std::move(ready)) {}
  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    ready_();
    return outputs;
  }

 private:
  std::function<void()> ready_;
};

}  // namespace

void Reducer::Parts::build(const std::vector<std::size_t>& order) {
  std::vector<GradientSize> sizes;
  std::vector<at::Tensor> tensors;
  for (const auto& [name, parameter] : parameters) {
    sizes.push_back({parameter.numel(), parameter.scalar_type()});
    tensors.push_back(parameter);
  }
  std::vector<std::size_t> dense;
  for (const std::size_t place : order) {
    if (!as_rows(place)) dense.push_back(place);
  }
  buckets.emplace(group, tensors, plan_buckets(sizes, dense, options.first_bucket_bytes, options.bucket_bytes),
                  options.float16);
}

void Reducer::Parts::gradient_ready(std::size_t place) {
  if (local) return;
  if (ready[place]) {
    throw std::runtime_error(
        "The gradient of " + parameters[place].first +
        " was made twice: call finish() after each backward, or hold a LocalScope for all but the last.");
  }
  ready[place] = true;
  seen.push_back(place);
  take(place);
}

void Reducer::Parts::take(std::size_t place) {
  if (as_rows(place)) return;  // when backward has ended, in one order on all ranks
  const at::NoGradGuard no_grad;
  const at::Tensor gradient = parameters[place].second.grad();
  buckets->add(place, gradient.defined() && gradient.is_sparse() ? gradient.to_dense() : gradient);
}

std::vector<bool> Reducer::Parts::used_anywhere() {
  std::vector<bool> used(parameters.size(), true);
  if (!options.find_unused) return used;
  at::Tensor counts = at::zeros({static_cast<std::int64_t>(parameters.size())}, at::kLong);
  std::int64_t* count = counts.data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < parameters.size(); ++i) count[i] = parameters[i].second.grad().defined() ? 1 : 0;
  counts = counts.to(parameters.front().second.device());
  group.sum(counts).wait();
  counts = counts.to(at::kCPU);
  for (std::size_t i = 0; i < parameters.size(); ++i) used[i] = counts.data_ptr<std::int64_t>()[i] > 0;
  return used;
}

void Reducer::Parts::reduce_rows(std::size_t place) {
  at::Tensor parameter = parameters[place].second;
  at::Tensor gradient = parameter.grad();
  if (!gradient.defined()) {
    std::vector<std::int64_t> no_rows = parameter.sizes().vec();
    no_rows[0] = 0;
    gradient = at::sparse_coo_tensor(at::empty({1, 0}, parameter.options().dtype(at::kLong).requires_grad(false)),
                                     at::empty(no_rows, parameter.options().requires_grad(false)), parameter.sizes());
  }
  if (!gradient.is_sparse() || gradient.sparse_dim() != 1) {
    throw std::runtime_error(
        "The gradient of " + parameters[place].first +
        " was to travel as rows, but is dense: build its embedding with sparse gradients, or take its name "
        "out of as_rows.");
  }
  const std::int64_t begin_ns = steady_ns();
  MeanOfRows mean = mean_of_rows(group, gradient);
  parameter.mutable_grad() = std::move(mean.gradient);
  last_times.push_back({.bytes = mean.bytes,
                        .gradients = 1,
                        .first_ns = begin_ns,
                        .ready_ns = begin_ns,
                        .launched_ns = begin_ns,
                        .done_ns = steady_ns(),
                        .rows = true});
}

void Reducer::Parts::write_means(const std::vector<bool>& used) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!used[i]) continue;
    if (as_rows(i)) {
      reduce_rows(i);
      continue;
    }
    at::Tensor parameter = parameters[i].second;
    at::Tensor gradient = parameter.grad();
    const at::Tensor mean = buckets->mean(i);
    if (gradient.defined() && !gradient.is_sparse()) {
      gradient.copy_(mean);
    } else {
      parameter.mutable_grad() = mean.clone();
    }
  }
}

void Reducer::Parts::follow_observed_order() {
  for (std::size_t i = parameters.size(); i-- > 0;) {
    if (!ready[i]) seen.push_back(i);
  }
  at::Tensor order = at::empty({static_cast<std::int64_t>(seen.size())}, at::kLong);
  for (std::size_t i = 0; i < seen.size(); ++i) order.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(seen[i]);
  order = order.to(parameters.front().second.device());
  group.broadcast(order, 0).wait();
  order = order.to(at::kCPU);
  for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = static_cast<std::size_t>(order.data_ptr<std::int64_t>()[i]);
  build(seen);
  observed = true;
}

Reducer::Reducer(Group& group, NamedTensors parameters, const NamedTensors& buffers, ReducerOptions options)
    : parts_(std::make_shared<Parts>(group, std::move(parameters), std::move(options))) {
  Parts& parts = *parts_;
  check_parameters(parts.parameters);
  NamedTensors all = parts.parameters;
  all.insert(all.end(), buffers.begin(), buffers.end());
  copy_from_first_rank(group, all);
  std::vector<std::size_t> order(parts.parameters.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  parts.build(order);
  for (std::size_t i = 0; i < parts.parameters.size(); ++i) {
    const std::weak_ptr<Parts> held = parts_;
    std::shared_ptr<torch::autograd::Node> accumulator =
        torch::autograd::impl::grad_accumulator(parts.parameters[i].second);
    if (!accumulator) {
      throw std::runtime_error("The parameter " + parts.parameters[i].first + " needs no gradient; leave it out.");
    }
    parts.hooks.push_back(accumulator->add_post_hook(std::make_unique<ReadyHook>([held, i] {
      if (const std::shared_ptr<Parts> alive = held.lock()) alive->gradient_ready(i);
    })));
    parts.accumulators.push_back(std::move(accumulator));
  }
}

Reducer::~Reducer() {
  for (std::size_t i = 0; i < parts_->hooks.size(); ++i) parts_->accumulators[i]->del_post_hook(parts_->hooks[i]);
}

void Reducer::finish() {
  Parts& parts = *parts_;
  std::string unused;
  for (std::size_t i = 0; i < parts.parameters.size(); ++i) {
    if (parts.ready[i] || parts.as_rows(i)) continue;
    if (parts.options.find_unused) {
      parts.take(i);
    } else {
      unused += (unused.empty() ? "" : ", ") + parts.parameters[i].first;
    }
  }
  if (!unused.empty()) {
    throw std::runtime_error("These parameters had no part in the loss: " + unused +
                             ". Leave them out, or let the reducer find unused parameters.");
  }
  const at::NoGradGuard no_grad;
  const std::vector<bool> used = parts.used_anywhere();
  parts.buckets->wait();
  parts.last_times = parts.buckets->times();
  parts.write_means(used);
  if (!parts.observed) parts.follow_observed_order();
  parts.ready.assign(parts.parameters.size(), false);
  parts.seen.clear();
}

const std::vector<BucketTimes>& Reducer::times() const {
  return parts_->last_times;
}

std::vector<std::vector<std::string>> Reducer::plan() const {
  std::vector<std::vector<std::string>> names;
  for (const std::vector<std::size_t>& bucket : parts_->buckets->plan()) {
    names.emplace_back();
    for (const std::size_t place : bucket) names.back().push_back(parts_->parameters[place].first);
  }
  return names;
}

Reducer::LocalScope::LocalScope(Reducer& reducer) : reducer_(reducer), before_(reducer.parts_->local) {
  reducer.parts_->local = true;
}

Reducer::LocalScope::~LocalScope() {
  reducer_.parts_->local = before_;
}

}  // namespace bert
