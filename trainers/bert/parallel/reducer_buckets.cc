// Fills, sends and empties buckets.
#include "parallel/reducer_buckets.h"

#include <ATen/Functions.h>

namespace bert {

ReducerBuckets::ReducerBuckets(Group& group, const std::vector<at::Tensor>& parameters,
                               std::vector<std::vector<std::size_t>> plan, bool float16)
    : group_(group), parameters_(parameters), plan_(std::move(plan)), slices_(parameters.size()) {
  for (std::size_t bucket = 0; bucket < plan_.size(); ++bucket) {
    std::int64_t numbers = 0;
    for (const std::size_t place : plan_[bucket]) {
      slices_[place] = {bucket, numbers};
      numbers += parameters_[place].numel();
    }
    const at::Tensor& first = parameters_[plan_[bucket].front()];
    at::ScalarType type = first.scalar_type();
    if (float16 && type == at::kFloat) type = at::kHalf;
    if (first.is_cpu() && type == at::kBFloat16) type = at::kFloat;  // Gloo has no sums of bfloat16
    flat_.push_back(at::empty({numbers}, first.options().dtype(type).requires_grad(false)));
    times_.push_back({.bytes = static_cast<std::int64_t>(flat_.back().nbytes()), .gradients = plan_[bucket].size()});
  }
  filled_.assign(plan_.size(), 0);
  pending_.resize(plan_.size());
}

void ReducerBuckets::add(std::size_t place, const at::Tensor& gradient) {
  const auto [bucket, begin] = slices_[place];
  BucketTimes& times = times_[bucket];
  if (filled_[bucket] == 0) times.first_ns = steady_ns();
  at::Tensor slice = flat_[bucket].narrow(0, begin, parameters_[place].numel());
  if (gradient.defined()) {
    // Divided before it is rounded to float16, whose range the sum could leave.
    at::Tensor mean = slice.scalar_type() == gradient.scalar_type() ? slice : at::empty_like(slice, gradient.options());
    at::mul_out(mean, gradient.reshape({-1}), at::scalar_tensor(1.0 / group_.size(), gradient.options()));
    if (!mean.is_same(slice)) slice.copy_(mean);
  } else {
    slice.zero_();
  }
  if (++filled_[bucket] == plan_[bucket].size()) times.ready_ns = steady_ns();
  while (next_ < plan_.size() && filled_[next_] == plan_[next_].size()) {
    times_[next_].launched_ns = steady_ns();
    pending_[next_] = group_.sum(flat_[next_]);
    ++next_;
  }
}

void ReducerBuckets::wait() {
  for (std::size_t bucket = 0; bucket < plan_.size(); ++bucket) {
    pending_[bucket].wait();
    times_[bucket].done_ns = pending_[bucket].done_ns();
    filled_[bucket] = 0;
  }
  next_ = 0;
}

at::Tensor ReducerBuckets::mean(std::size_t place) const {
  const at::Tensor& parameter = parameters_[place];
  const auto [bucket, begin] = slices_[place];
  return flat_[bucket].narrow(0, begin, parameter.numel()).view(parameter.sizes()).to(parameter.scalar_type());
}

}  // namespace bert
