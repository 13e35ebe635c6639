#include "read/trial/tensor_lookup.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "read/trial/step_text.h"

namespace trainwarden::trial {
namespace {

Status unknown_worker(const RunReader& run, std::string_view worker) {
  std::vector<std::string> names;
  for (const auto& known : run.workers()) names.push_back(known->name());
  return Status(Code::kNotFound,
                fmt::format("no worker \"{}\"; the run has {}", printable(worker), fmt::join(names, ", ")));
}

Status not_at_step(RunReader& run, const CatalogTensor& tensor, const TensorPlace& place) {
  const std::vector<std::int64_t> steps = run.steps_of(&tensor, Kept::kAny, place.mode, true);
  const std::string where = place.worker.empty() ? "" : fmt::format(" on worker {}", place.worker);
  return Status(Code::kOutOfRange, fmt::format("\"{}\" was not saved at {}{}; the nearest {}steps that have it: {}",
                                               printable(tensor.name), step_text(place.step, place.mode), where,
                                               place.mode == Mode::kGlobal ? "" : fmt::format("{} ", name(place.mode)),
                                               nearest_steps(steps, place.step)));
}

}  // namespace

Sighting::Sighting(WorkerJournal& worker, std::uint32_t tensor, std::span<const journal::Record> records)
    : worker_(&worker) {
  for (const journal::Record& record : records) {
    if (record.tensor == tensor) records_[static_cast<std::size_t>(record.form)] = record;
  }
}

bool Sighting::empty() const {
  return std::none_of(records_.begin(), records_.end(), [](const auto& record) { return record.has_value(); });
}

std::string Sighting::forms_text() const {
  constexpr std::array kWords = {"its value", "its statistics", "a scalar", "its shape"};
  static_assert(kWords.size() == static_cast<std::size_t>(journal::RecordForm::kReductions));
  std::vector<std::string> words;
  for (std::size_t form = 0; form < kWords.size(); ++form) {
    if (records_[form]) words.emplace_back(kWords[form]);
  }
  if (const auto& record = this->record(journal::RecordForm::kReductions)) {
    const auto saved = reader().read_reductions(*record);
    if (!saved.ok()) words.emplace_back("reductions that cannot be read");
    for (const SavedReduction& reduction : saved.value_or({})) {
      words.push_back("its " + describe(reduction.reduction, reduction.abs));
    }
  }
  return fmt::format("{}", fmt::join(words, " and "));
}

std::string place_text(const TensorPlace& place) {
  return fmt::format("\"{}\" at {}", printable(place.tensor), step_text(place.step, place.mode));
}

Status not_kept(const TensorPlace& place, const Sighting& sighting, std::string_view wanted) {
  return Status(Code::kOutOfRange,
                fmt::format("{}: {} was not kept, only {}", place_text(place), wanted, sighting.forms_text()));
}

Status value_not_kept(RunReader& run, const TensorPlace& place, const Sighting& sighting) {
  const CatalogTensor* tensor = run.catalog().find(place.tensor);
  const std::vector<std::int64_t> steps = run.steps_of(tensor, Kept::kValue, place.mode, true);
  const Status status = not_kept(place, sighting, "its value");
  return Status(status.code(), fmt::format("{}; the nearest {}steps that have it: {}", status.message(),
                                           place.mode == Mode::kGlobal ? "" : fmt::format("{} ", name(place.mode)),
                                           nearest_steps(steps, place.step)));
}

Result<CatalogTensor*> find_known_tensor(RunReader& run, std::string_view name) {
  CatalogTensor* tensor = run.catalog().find(name);
  if (tensor != nullptr) return tensor;
  return Status(Code::kNotFound, fmt::format("no tensor \"{}\" in {}{}", printable(name), run.describe(),
                                             name_hint(name, run.catalog().names())));
}

Result<std::optional<Sighting>> look_in(WorkerJournal& worker, const CatalogTensor& tensor, std::int64_t global_step) {
  const auto index = worker.tensor(tensor);
  if (!index) return std::optional<Sighting>();
  const auto records = worker.records_at(global_step, *index);
  if (!records.ok()) return records.status().with_context(worker.name());
  Sighting sighting(worker, *index, *records);
  return sighting.empty() ? std::optional<Sighting>() : std::optional(sighting);
}

Result<std::optional<Sighting>> look_for(RunReader& run, const CatalogTensor& tensor, std::int64_t global_step,
                                         std::string_view wanted_worker) {
  if (!wanted_worker.empty()) {
    WorkerJournal* const worker = run.find_worker(wanted_worker);
    return worker != nullptr ? look_in(*worker, tensor, global_step) : std::optional<Sighting>();
  }
  Status damage;
  for (const auto& worker : run.workers()) {
    auto sighting = look_in(*worker, tensor, global_step);
    if (sighting.ok() && *sighting) return sighting;
    if (!sighting.ok()) damage = sighting.status();
  }
  if (!damage.ok()) return damage;
  return std::optional<Sighting>();
}

Result<Sighting> find_tensor(RunReader& run, const TensorPlace& place) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const CatalogTensor* tensor, find_known_tensor(run, place.tensor));
  if (!place.worker.empty() && run.find_worker(place.worker) == nullptr) return unknown_worker(run, place.worker);
  const auto global_step = run.step_table().global_step(place.mode, place.step);
  if (!global_step) return not_at_step(run, *tensor, place);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto sighting, look_for(run, *tensor, *global_step, place.worker));
  if (!sighting) return not_at_step(run, *tensor, place);
  return *sighting;
}

Result<std::int64_t> find_global_step(RunReader& run, std::int64_t step, Mode mode) {
  if (const auto global_step = run.step_table().global_step(mode, step)) return *global_step;
  return Status(Code::kNotFound, fmt::format("no {} in {}; the nearest: {}", step_text(step, mode), run.describe(),
                                             nearest_steps(run.step_table().steps(mode, true), step)));
}

}  // namespace trainwarden::trial
