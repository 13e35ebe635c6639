// Checks of named tensors, and the copy between two lists.
#include "training/named_tensors.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

namespace bert {
namespace {

constexpr int kNamesShown = 5;

// The first few names of a list that may have hundreds.
class Names {
 public:
  explicit Names(std::string title) : title_(std::move(title)) {}
  void add(const std::string& text) {
    if (count_ < kNamesShown) shown_ += (count_ == 0 ? "" : ", ") + text;
    ++count_;
  }
  void write(std::string& text) const {
    if (count_ == 0) return;
    text += "; " + title_ + ": " + shown_;
    if (count_ > kNamesShown) text += " and " + std::to_string(count_ - kNamesShown) + " more";
  }

 private:
  std::string title_, shown_;
  int count_ = 0;
};

std::string described(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.dtype().name() << ' ' << tensor.sizes();
  return text.str();
}

}  // namespace

void copy_by_name(const NamedTensors& from, const NamedTensors& to, const std::string& what) {
  std::map<std::string, at::Tensor> stored(from.begin(), from.end());
  Names missing("missing"), unexpected("unexpected"), different("different");
  for (const auto& [name, target] : to) {
    const auto found = stored.find(name);
    if (found == stored.end()) {
      missing.add(name);
      continue;
    }
    if (found->second.sizes() != target.sizes() || found->second.scalar_type() != target.scalar_type()) {
      different.add(name + " (expected " + described(target) + ", found " + described(found->second) + ")");
    }
    stored.erase(found);
  }
  for (const auto& [name, tensor] : stored) unexpected.add(name);
  std::string faults;
  for (const Names* names : {&missing, &unexpected, &different}) names->write(faults);
  if (!faults.empty()) {
    throw std::runtime_error(what + " does not fit" + faults + ". Take the one of the same model and optimizer.");
  }

  const at::NoGradGuard no_grad;
  stored = {from.begin(), from.end()};
  for (const auto& [name, target] : to) at::Tensor(target).copy_(stored.at(name));
}

void check_parameters(const NamedTensors& parameters) {
  std::set<std::string> names;
  for (const auto& [name, tensor] : parameters) {
    const auto fail = [&name = name](const std::string& what) {
      throw std::runtime_error("Parameter " + name + ": " + what);
    };
    if (!tensor.defined()) fail("expected a tensor, found none.");
    if (!names.insert(name).second) fail("the name is there twice; give each parameter its own.");
    const at::ScalarType type = tensor.scalar_type();
    if (type != at::kFloat && type != at::kBFloat16 && type != at::kHalf) {
      fail("expected float32, bfloat16 or float16, found " + std::string(tensor.dtype().name()) + ".");
    }
    if (!tensor.is_leaf()) fail("expected a leaf; pass the parameter itself, not what was computed from it.");
    if (tensor.is_sparse() || !tensor.is_contiguous()) fail("expected contiguous memory; call contiguous() first.");
    if (tensor.device() != parameters.front().second.device()) {
      fail("expected all parameters on " + parameters.front().second.device().str() + ", found this on " +
           tensor.device().str() + ".");
    }
  }
}

}  // namespace bert
