#include "read/trial/tensor_catalog.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "read/trial/thread_time.h"
#include "store/journal/segment_decoder.h"

namespace trainwarden::trial {
namespace {

// In memory, about.
constexpr std::uint64_t kCollectionCost = 1024;
constexpr std::uint64_t kListedCost = 192;    // of a name that a collection lists
constexpr std::uint64_t kPatternCost = 4096;  // compiled, at least
constexpr std::uint64_t kPatternCostPerByte = 64;
constexpr std::uint64_t kSearchesEachLook = 64;
constexpr const char* kManifestsPlace = "collections";

}  // namespace

CatalogTensor& TensorCatalog::add(std::string_view name, std::span<const std::string> collections) {
  auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    found = tensors_.emplace(std::string(name), CatalogTensor()).first;
    found->second.name = found->first;
    ++announced_version_;
  }
  CatalogTensor& tensor = found->second;
  for (const std::string& collection : collections) {
    if (!tensor.announced_collections.insert(collection).second) continue;
    tensor.collections_version = 0;
    ++announced_version_;
    announced_collections_.insert(collection);
  }
  return tensor;
}

void TensorCatalog::add_manifest(const Collection& collection) {
  auto found = manifests_.find(collection.name);
  if (found == manifests_.end()) {
    if (!afford(kCollectionCost + collection.name.size(), entries_left_out_)) return;
    found = manifests_.try_emplace(collection.name).first;
    found->second.collection.name = collection.name;
  }
  Manifest& manifest = found->second;
  manifest.collection.save = collection.save;
  manifest.collection.keep = collection.keep;
  for (const std::string& tensor : collection.tensor_names) {
    if (manifest.tensor_names.contains(tensor)) continue;
    if (!afford(kListedCost + 2 * tensor.size(), entries_left_out_)) break;
    manifest.tensor_names.insert(tensor);
    manifest.collection.tensor_names.push_back(tensor);
    listed_[tensor].push_back(&manifest);
    ++manifests_version_;
  }
  for (const std::string& text : collection.include) {
    if (manifest.include.contains(text)) continue;
    if (!afford(kPatternCost + kPatternCostPerByte * text.size(), patterns_left_out_)) break;
    manifest.include.insert(text);
    add_pattern(manifest, text);
  }
}

bool TensorCatalog::afford(std::uint64_t bytes, std::uint64_t& left_out) {
  const bool enough = budget_->hold(bytes, kManifestsPlace).ok();
  if (!enough) left_out = 1;
  return enough;
}

void TensorCatalog::add_pattern(Manifest& manifest, const std::string& text) {
  manifest.collection.include.push_back(text);
  Result<Regex> pattern = Regex::compile(text);
  if (!pattern.ok()) {
    log(LogLevel::kWarning, "collection {} of the run: {}", printable(manifest.collection.name),
        pattern.status().message());
    return;
  }
  if (manifest.patterns.empty()) with_patterns_.push_back(&manifest);
  manifest.patterns.push_back(*std::move(pattern));
  ++manifests_version_;
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

bool TensorCatalog::may_search() {
  if (searches_left_out_ > 0 || !budget_->search_patterns(1, kManifestsPlace).ok()) return false;
  return ++searches_ % kSearchesEachLook != 0 || look_at_clock();
}

// What was spent since the last look.
bool TensorCatalog::look_at_clock() {
  const std::int64_t before_ns = std::exchange(looked_cpu_ns_, thread_cpu_ns());
  const auto spent_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(looked_cpu_ns_ - before_ns, 0));
  return budget_->search_patterns_for(spent_ns, kManifestsPlace).ok();
}

bool TensorCatalog::finds(const Manifest& manifest, std::string_view tensor) {
  for (const Regex& pattern : manifest.patterns) {
    if (!may_search()) {
      ++searches_left_out_;
      return false;
    }
    if (pattern.found_in(tensor)) return true;
  }
  return false;
}

const std::set<std::string, std::less<>>& TensorCatalog::collections_of(CatalogTensor& tensor) {
  if (tensor.collections_version == manifests_version_) return tensor.collections;
  tensor.collections = tensor.announced_collections;
  const auto listed = listed_.find(tensor.name);
  if (listed != listed_.end()) {
    for (const Manifest* manifest : listed->second) tensor.collections.insert(manifest->collection.name);
  }
  if (!with_patterns_.empty()) looked_cpu_ns_ = thread_cpu_ns();
  for (const Manifest* manifest : with_patterns_) {
    if (finds(*manifest, tensor.name)) tensor.collections.insert(manifest->collection.name);
  }
  if (!with_patterns_.empty() && !look_at_clock()) ++searches_left_out_;
  tensor.collections_version = manifests_version_;
  return tensor.collections;
}

std::vector<RunLoss> TensorCatalog::losses() const {
  std::vector<RunLoss> losses;
  if (entries_left_out_ > 0) {
    losses.push_back(
        {kManifestsPlace, fmt::format("collections left out: {}", journal::kOverBudget), entries_left_out_, 0});
  }
  if (patterns_left_out_ > 0) {
    losses.push_back(
        {kManifestsPlace, fmt::format("patterns left out: {}", journal::kOverBudget), patterns_left_out_, 0});
  }
  if (searches_left_out_ > 0) {
    losses.push_back({kManifestsPlace, fmt::format("tensors not looked at by patterns: {}", journal::kOverBudget),
                      searches_left_out_, 0});
  }
  return losses;
}

std::vector<std::string> TensorCatalog::collection_names() const {
  std::set<std::string, std::less<>> names = announced_collections_;
  for (const auto& [name, manifest] : manifests_) names.insert(name);
  return {names.begin(), names.end()};
}

Status TensorCatalog::check_collection(std::string_view name) const {
  if (manifests_.contains(name) || announced_collections_.contains(name)) return {};
  const std::vector<std::string> known = collection_names();
  return Status(Code::kNotFound, fmt::format("no collection \"{}\"{}; the run has {}", printable(name),
                                             did_you_mean(name, known), fmt::join(known, ", ")));
}

// Of all collections at once: who asks for one mostly asks for all.
void TensorCatalog::find_members() {
  if (members_manifests_version_ == manifests_version_ && members_announced_version_ == announced_version_) return;
  members_.clear();
  for (auto& [name, tensor] : tensors_) {
    for (const std::string& collection : collections_of(tensor)) members_[collection].push_back(name);
  }
  members_manifests_version_ = manifests_version_;
  members_announced_version_ = announced_version_;
}

Result<Collection> TensorCatalog::collection(std::string_view name) {
  TRAINWARDEN_RETURN_IF_ERROR(check_collection(name));
  const auto manifest = manifests_.find(name);
  Collection collection;
  if (manifest != manifests_.end()) collection = manifest->second.collection;
  collection.name = name;
  find_members();
  std::set<std::string> members(collection.tensor_names.begin(), collection.tensor_names.end());
  const auto found = members_.find(name);
  if (found != members_.end()) members.insert(found->second.begin(), found->second.end());
  collection.tensor_names.assign(members.begin(), members.end());
  return collection;
}

}  // namespace trainwarden::trial
