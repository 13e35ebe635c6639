#include "trial/tensor_catalog.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/log.h"
#include "base/text.h"

namespace trainwarden::trial {
namespace {

// Appends what `values` does not hold yet; true when there was any.
bool add_missing(std::vector<std::string>& values, const std::vector<std::string>& more) {
  const std::size_t before = values.size();
  for (const std::string& value : more) {
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values.size() > before;
}

}  // namespace

CatalogTensor& TensorCatalog::add(std::string_view name, std::span<const std::string> collections) {
  auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    found = tensors_.emplace(std::string(name), CatalogTensor()).first;
    found->second.name = found->first;
  }
  CatalogTensor& tensor = found->second;
  for (const std::string& collection : collections) {
    if (tensor.told_collections.insert(collection).second) tensor.collections_version = 0;
    told_collections_.insert(collection);
  }
  return tensor;
}

void TensorCatalog::add_manifest(const Collection& collection) {
  const auto [found, is_new] = manifests_.try_emplace(collection.name);
  Manifest& manifest = found->second;
  if (is_new) manifest.collection.name = collection.name;
  manifest.collection.save = collection.save;
  manifest.collection.keep = collection.keep;
  const std::size_t known_patterns = manifest.collection.include.size();
  const bool more_patterns = add_missing(manifest.collection.include, collection.include);
  const bool more_names = add_missing(manifest.collection.tensor_names, collection.tensor_names);
  if (more_patterns || more_names) ++manifests_version_;
  for (std::size_t i = known_patterns; i < manifest.collection.include.size(); ++i) {
    Result<Pattern> pattern = Pattern::compile(manifest.collection.include[i]);
    if (pattern.ok()) {
      manifest.patterns.push_back(*std::move(pattern));
    } else {
      log(LogLevel::kWarning, "collection {} of the run: {}", collection.name, pattern.status().message());
    }
  }
}

CatalogTensor* TensorCatalog::find(std::string_view name) {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

std::vector<std::string> TensorCatalog::names() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_) names.push_back(name);
  return names;
}

bool TensorCatalog::lists(const Manifest& manifest, std::string_view tensor) const {
  const auto& names = manifest.collection.tensor_names;
  if (std::find(names.begin(), names.end(), tensor) != names.end()) return true;
  return std::any_of(manifest.patterns.begin(), manifest.patterns.end(),
                     [&](const Pattern& pattern) { return pattern.found_in(tensor); });
}

const std::set<std::string, std::less<>>& TensorCatalog::collections_of(CatalogTensor& tensor) {
  if (tensor.collections_version == manifests_version_) return tensor.collections;
  tensor.collections = tensor.told_collections;
  for (const auto& [name, manifest] : manifests_) {
    if (lists(manifest, tensor.name)) tensor.collections.insert(name);
  }
  tensor.collections_version = manifests_version_;
  return tensor.collections;
}

std::vector<std::string> TensorCatalog::collection_names() const {
  std::set<std::string, std::less<>> names = told_collections_;
  for (const auto& [name, manifest] : manifests_) names.insert(name);
  return {names.begin(), names.end()};
}

Status TensorCatalog::check_collection(std::string_view name) const {
  if (manifests_.contains(name) || told_collections_.contains(name)) return {};
  const std::vector<std::string> known = collection_names();
  return Status(Code::kNotFound, fmt::format("no collection \"{}\"{}; the run has {}", printable(name),
                                             did_you_mean(name, known), fmt::join(known, ", ")));
}

Result<Collection> TensorCatalog::collection(std::string_view name) {
  TRAINWARDEN_RETURN_IF_ERROR(check_collection(name));
  const auto manifest = manifests_.find(name);
  Collection collection;
  if (manifest != manifests_.end()) collection = manifest->second.collection;
  collection.name = name;
  std::set<std::string> members(collection.tensor_names.begin(), collection.tensor_names.end());
  for (auto& [tensor_name, tensor] : tensors_) {
    if (collections_of(tensor).contains(name)) members.insert(tensor_name);
  }
  collection.tensor_names.assign(members.begin(), members.end());
  return collection;
}

}  // namespace trainwarden::trial
