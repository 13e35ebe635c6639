// ParameterOwners: memory extents of parameters and buffers.
#include "parameter_owners.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "tensor_bridge.h"

namespace trainwarden::torch {

std::string class_of(const ::torch::nn::Module& module) {
  constexpr std::string_view kSuffix = "Impl";
  std::string name = module.name();
  name.resize(std::min(name.find('<'), name.size()));  // arguments of a template have colons, too
  name.erase(0, name.rfind(':') + 1);
  if (name.ends_with(kSuffix) && name.size() > kSuffix.size()) name.resize(name.size() - kSuffix.size());
  return name;
}

ParameterOwners::ParameterOwners(
    const ::torch::nn::Module& module,
    const std::function<std::size_t(const std::string& path, const std::string& type)>& number_of) {
  const auto visit = [&](const std::string& path, const ::torch::nn::Module& submodule) {
    const auto parameters = submodule.parameters(/*recurse=*/false);
    const auto buffers = submodule.buffers(/*recurse=*/false);
    if (parameters.empty() && buffers.empty()) return;
    const std::string type = class_of(submodule);
    owners_.push_back(
        {.layer = number_of(path.empty() ? type : path, type), .is_embedding = type.starts_with("Embedding")});
    for (const at::Tensor& parameter : parameters) add(parameter, owners_.size() - 1);
    for (const at::Tensor& buffer : buffers) add(buffer, owners_.size() - 1);
  };
  visit("", module);
  for (const auto& item : module.named_modules("", /*include_self=*/false)) visit(item.key(), *item.value());
  std::sort(extents_.begin(), extents_.end(),
            [](const Extent& a, const Extent& b) { return std::tie(a.begin, a.owner) < std::tie(b.begin, b.owner); });
}

void ParameterOwners::add(const at::Tensor& tensor, std::size_t owner) {
  const auto* begin = static_cast<const std::byte*>(address_of(tensor));
  if (begin != nullptr) extents_.push_back({WeakTensor(tensor), begin, begin + tensor.nbytes(), owner});
}

bool ParameterOwners::have_moved() const {
  return std::any_of(extents_.begin(), extents_.end(),
                     [](const Extent& extent) { return address_of(extent.tensor.lock()) != extent.begin; });
}

std::vector<std::size_t> ParameterOwners::owners_of(const at::Tensor& tensor) const {
  std::vector<std::size_t> owners;
  const auto* address = static_cast<const std::byte*>(address_of(tensor));
  auto extent = std::upper_bound(extents_.begin(), extents_.end(), address,
                                 [](const std::byte* wanted, const Extent& each) { return wanted < each.begin; });
  while (extent != extents_.begin() && address < (--extent)->end) owners.push_back(extent->owner);
  return owners;
}

std::optional<std::size_t> ParameterOwners::layer_of(const std::vector<at::Tensor>& operands,
                                                     LayerOperator kind) const {
  std::map<std::size_t, int> tensors_of_owner;
  for (const at::Tensor& operand : operands) {
    for (const std::size_t owner : owners_of(operand)) ++tensors_of_owner[owner];
  }
  std::optional<std::size_t> best;
  int best_score = 0;
  for (const auto& [owner, tensors] : tensors_of_owner) {
    const bool right_kind = owners_[owner].is_embedding == (kind == LayerOperator::kLookup);
    const int score = 2 * tensors + (right_kind ? 1 : 0);
    if (score > best_score) {
      best_score = score;
      best = owners_[owner].layer;
    }
  }
  return best;
}

bool ParameterOwners::owns(std::size_t layer, const at::Tensor& tensor) const {
  const auto owners = owners_of(tensor);
  return std::any_of(owners.begin(), owners.end(), [&](std::size_t owner) { return owners_[owner].layer == layer; });
}

}  // namespace trainwarden::torch
