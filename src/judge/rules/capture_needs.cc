#include "judge/rules/capture_needs.h"

#include <algorithm>

#include "data/format/collection_json.h"

namespace trainwarden::rules {
namespace {

KeepForm joined(const KeepForm& a, const KeepForm& b) {
  return {.values = a.values || b.values,
          .statistics = a.statistics || b.statistics,
          .histogram = a.histogram || b.histogram,
          .hash = a.hash || b.hash,
          .shape = a.shape || b.shape};
}

// Of the same tensors at the same steps.
bool coincide(const Collection& a, const Collection& b) {
  return a.name == b.name && a.save == b.save && a.include == b.include && a.tensor_names == b.tensor_names;
}

void add(Collection need, const std::string& rule_id, std::vector<CaptureNeed>& needs) {
  const auto same = std::find_if(needs.begin(), needs.end(),
                                 [&](const CaptureNeed& other) { return coincide(other.collection, need); });
  if (same == needs.end()) {
    needs.push_back({std::move(need), {rule_id}});
    return;
  }
  same->collection.keep = joined(same->collection.keep.value_or(KeepForm()), need.keep.value_or(KeepForm()));
  if (same->rule_ids.back() != rule_id) same->rule_ids.push_back(rule_id);
}

}  // namespace

std::vector<CaptureNeed> union_of_needs(std::span<const EngineRule> rules) {
  const std::vector<std::string> ids = rule_ids(rules);
  std::vector<CaptureNeed> needs;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    for (Collection& need : rules[i].rule->needs()) add(std::move(need), ids[i], needs);
  }
  std::stable_sort(needs.begin(), needs.end(),
                   [](const CaptureNeed& a, const CaptureNeed& b) { return a.collection.name < b.collection.name; });
  return needs;
}

std::string encode_needs(std::span<const CaptureNeed> needs) {
  std::vector<Collection> collections;
  for (const CaptureNeed& need : needs) collections.push_back(need.collection);
  return format::dump_json(format::collections_to_json(collections));
}

}  // namespace trainwarden::rules
