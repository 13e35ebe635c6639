#include "judge/rules/needs.h"

#include <utility>

namespace trainwarden::rules {
namespace {

Collection need(std::string collection, const KeepForm& keep, std::int64_t save_interval) {
  return {.name = std::move(collection), .save = SavePolicy::every(save_interval), .keep = keep};
}

}  // namespace

Collection need_statistics(std::string collection, std::int64_t save_interval) {
  return need(std::move(collection), KeepForm::reduced(), save_interval);
}

Collection need_histogram(std::string collection, std::int64_t save_interval) {
  return need(std::move(collection), {.values = false, .statistics = true, .histogram = true}, save_interval);
}

Collection need_hash(std::string collection, std::int64_t save_interval) {
  return need(std::move(collection), {.values = false, .statistics = true, .hash = true}, save_interval);
}

Collection need_values(std::string collection, std::int64_t save_interval) {
  return need(std::move(collection), KeepForm::whole(), save_interval);
}

Collection need_signals() {
  return need_values("signals", 1);
}

std::vector<Collection> needs_of(const TensorSelection& selection, std::string_view own, const KeepForm& keep,
                                 std::int64_t save_interval) {
  std::vector<Collection> needs;
  for (const std::string& collection : selection.collections) needs.push_back(need(collection, keep, save_interval));
  if (!selection.patterns.empty()) {
    needs.push_back(need(std::string(own), keep, save_interval));
    needs.back().include = selection.patterns;
  }
  if (selection.all) needs.push_back(need("all", keep, save_interval));
  return needs;
}

}  // namespace trainwarden::rules
