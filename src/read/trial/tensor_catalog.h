// TensorCatalog: the tensors of a run by name, over all workers, and the collections that they belong to.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/read_budget.h"
#include "core/base/regex.h"
#include "trainwarden/collection.h"
#include "trainwarden/run_loss.h"
#include "trainwarden/status.h"

namespace trainwarden::trial {

struct CatalogTensor {
  std::string name;
  std::set<std::string, std::less<>> announced_collections;  // by the writers
  // Answered from these until a manifest comes: see collections_of().
  std::set<std::string, std::less<>> collections;
  std::size_t collections_version = 0;
};

// One thread at a time. Addresses of tensors stay valid as long as the catalog.
class TensorCatalog {
 public:
  explicit TensorCatalog(std::shared_ptr<ReadBudget> budget = std::make_shared<ReadBudget>())
      : budget_(std::move(budget)) {}

  // Adds the tensor, or to what is known of it.
  CatalogTensor& add(std::string_view name, std::span<const std::string> collections);
  // Adds to what is known of its members; when and how it is kept, the last one says. Patterns that do not compile are
  // logged and left out.
  void add_manifest(const Collection& collection);

  CatalogTensor* find(std::string_view name);  // null when unknown
  std::map<std::string, CatalogTensor, std::less<>>& tensors() { return tensors_; }
  std::vector<std::string> names() const;  // sorted

  // Named by a writer, listed in a manifest by name, or found by a pattern of a manifest.
  const std::set<std::string, std::less<>>& collections_of(CatalogTensor& tensor);

  std::vector<std::string> collection_names() const;     // sorted
  Status check_collection(std::string_view name) const;  // kNotFound, naming the nearest, when there is none
  // With the names of all its tensors; kNotFound.
  Result<Collection> collection(std::string_view name);

  // What was left out of what the manifests say.
  std::vector<RunLoss> losses() const;

 private:
  struct Manifest {
    Collection collection;
    std::vector<Regex> patterns;
    std::unordered_set<std::string> include;  // that are in the collection's
    std::unordered_set<std::string> tensor_names;
  };
  bool afford(std::uint64_t bytes, std::uint64_t& left_out);
  void add_pattern(Manifest& manifest, const std::string& text);
  void find_members();
  // Is there time left to search on?
  bool may_search();
  bool look_at_clock();
  // Do its patterns find the tensor?
  bool finds(const Manifest& manifest, std::string_view tensor);

  std::map<std::string, CatalogTensor, std::less<>> tensors_;
  std::map<std::string, Manifest, std::less<>> manifests_;
  std::vector<const Manifest*> with_patterns_;                            // of manifests_, each once
  std::unordered_map<std::string, std::vector<const Manifest*>> listed_;  // by name of a tensor
  std::set<std::string, std::less<>> announced_collections_;
  std::size_t manifests_version_ = 1;
  std::size_t announced_version_ = 1;
  // By collection, as of these versions.
  std::map<std::string, std::vector<std::string>, std::less<>> members_;
  std::size_t members_manifests_version_ = 0;
  std::size_t members_announced_version_ = 0;

  const std::shared_ptr<ReadBudget> budget_;
  std::uint64_t entries_left_out_ = 0;  // of collections, or of names in one
  std::uint64_t patterns_left_out_ = 0;
  std::uint64_t searches_left_out_ = 0;
  std::uint64_t searches_ = 0;
  std::int64_t looked_cpu_ns_ = 0;  // at the clock
};

}  // namespace trainwarden::trial
