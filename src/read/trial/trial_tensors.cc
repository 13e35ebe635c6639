// Trial: which tensors there are.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "core/base/regex.h"
#include "read/trial/tensor_lookup.h"
#include "read/trial/trial_impl.h"

namespace trainwarden {
namespace {

using trial::CatalogTensor;
using trial::RunReader;
using trial::WorkerJournal;
using Tensors = std::vector<CatalogTensor*>;

// The tensors that the step holds, by name. Workers whose step is damaged are left out, unless all are.
Result<Tensors> tensors_at(RunReader& run, std::int64_t global_step) {
  Tensors tensors;
  Status damage;
  for (const auto& worker : run.workers()) {
    const auto records = worker->records_at(global_step);
    if (!records.ok()) damage = records.status().with_context(worker->name());
    if (!records.ok()) continue;
    for (const journal::Record& record : *records) tensors.push_back(&worker->tensor(record.tensor));
  }
  if (tensors.empty() && !damage.ok()) return damage;
  std::sort(tensors.begin(), tensors.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
  return tensors;
}

Result<Tensors> candidates(RunReader& run, const TensorQuery& query) {
  const Mode mode = query.mode.value_or(Mode::kGlobal);
  if (query.step) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t global_step, trial::find_global_step(run, *query.step, mode));
    return tensors_at(run, global_step);
  }
  Tensors tensors;
  for (auto& [name, tensor] : run.catalog().tensors()) {
    if (mode == Mode::kGlobal || !run.steps_of(&tensor, Kept::kAny, mode, true).empty()) tensors.push_back(&tensor);
  }
  return tensors;
}

// Counts the forms of the tensor over all steps, and finds its newest record with a shape.
void count_forms(WorkerJournal& worker, std::uint32_t tensor, TensorInfo& info) {
  for (const trial::Posting& posting : worker.tensor_index().of(tensor)) {
    const std::int64_t global_step = worker.reader().steps()[posting.step_index].global_step;
    if (worker.step_index(global_step) != posting.step_index) continue;  // the step was ended again later
    info.values += posting.has(journal::RecordForm::kValue) ? 1 : 0;
    info.statistics += posting.has(journal::RecordForm::kStatistics) ? 1 : 0;
    info.scalars += posting.has(journal::RecordForm::kScalar) ? 1 : 0;
    info.reductions += posting.has(journal::RecordForm::kReductions) ? 1 : 0;
  }
}

// Of the newest step that holds it; what cannot be read leaves the defaults.
void read_newest_shape(RunReader& run, const CatalogTensor& tensor, TensorInfo& info) {
  const std::vector<std::int64_t> steps = run.steps_of(&tensor, Kept::kAny, Mode::kGlobal, true);
  if (steps.empty()) return;
  const auto sighting = trial::find_tensor(run, {.tensor = tensor.name, .step = steps.back()});
  if (!sighting.ok()) return;
  if (sighting->has(journal::RecordForm::kScalar)) info.dtype = DType::kFloat64;
  info.has_shape = sighting->has(journal::RecordForm::kScalar);
  for (const auto form : {journal::RecordForm::kShape, journal::RecordForm::kStatistics, journal::RecordForm::kValue}) {
    if (!sighting->has(form)) continue;
    const auto shape = sighting->reader().read_shape(*sighting->record(form));
    if (!shape.ok()) continue;
    std::tie(info.dtype, info.shape) = *shape;
    info.has_shape = true;
  }
}

}  // namespace

Result<std::vector<std::string>> Trial::tensor_names(const TensorQuery& query) const {
  return no_throw([&]() -> Result<std::vector<std::string>> {
    trial::TensorCatalog& catalog = impl_->run().catalog();
    TRAINWARDEN_ASSIGN_OR_RETURN(const RegexSet patterns, RegexSet::compile(query.include));
    if (!query.collection.empty()) TRAINWARDEN_RETURN_IF_ERROR(catalog.check_collection(query.collection));
    TRAINWARDEN_ASSIGN_OR_RETURN(const Tensors tensors, candidates(impl_->run(), query));
    std::vector<std::string> names;
    for (CatalogTensor* tensor : tensors) {
      if (!patterns.empty() && !patterns.found_in(tensor->name)) continue;
      if (!query.collection.empty() && !catalog.collections_of(*tensor).contains(query.collection)) continue;
      names.push_back(tensor->name);
    }
    return names;
  });
}

bool Trial::has_tensor(std::string_view name) const {
  return impl_->run().catalog().find(name) != nullptr;
}

Result<TensorInfo> Trial::tensor_info(std::string_view name) const {
  return no_throw([&]() -> Result<TensorInfo> {
    RunReader& run = impl_->run();
    TRAINWARDEN_ASSIGN_OR_RETURN(CatalogTensor * tensor, trial::find_known_tensor(run, name));
    TensorInfo info;
    info.name = tensor->name;
    const auto& collections = run.catalog().collections_of(*tensor);
    info.collections.assign(collections.begin(), collections.end());
    for (const auto& worker : run.workers()) {
      if (const auto index = worker->tensor(*tensor)) count_forms(*worker, *index, info);
    }
    read_newest_shape(run, *tensor, info);
    return info;
  });
}

std::vector<std::int64_t> Trial::steps_of(std::string_view tensor, Mode mode, Kept kept,
                                          bool include_incomplete) const {
  const CatalogTensor* known = impl_->run().catalog().find(tensor);
  if (known == nullptr) return {};
  return impl_->run().steps_of(known, kept, mode, include_incomplete);
}

std::vector<std::int64_t> Trial::steps_with(Kept kept, Mode mode, bool include_incomplete) const {
  return impl_->run().steps_of(nullptr, kept, mode, include_incomplete);
}

std::vector<std::string> Trial::collections() const {
  return impl_->run().catalog().collection_names();
}

Result<Collection> Trial::collection(std::string_view name) const {
  return no_throw([&] { return impl_->run().catalog().collection(name); });
}

}  // namespace trainwarden
