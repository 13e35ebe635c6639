#include "ui/views/tensor_list.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <unordered_map>

#include "read/trial/trial_access.h"

namespace trainwarden::views {
namespace {

using journal::RecordForm;
using trial::CatalogTensor;
using trial::Posting;
using trial::WorkerJournal;

// What is gathered of the run's tensors, and how far each worker's journal was read for it.
class Gathering {
 public:
  void extend(Trial& trial) {
    if (any_repeats(trial)) *this = Gathering();
    for (WorkerJournal* worker : TrialAccess::journals(trial)) {
      if (worker->readable()) take_in(*worker);
    }
  }

  const ListedTensor* find(const CatalogTensor& tensor) const {
    const auto found = tensors_.find(&tensor);
    return found == tensors_.end() ? nullptr : &found->second;
  }

 private:
  struct Progress {
    std::size_t steps = 0;
    std::int64_t highest_step = std::numeric_limits<std::int64_t>::min();
    std::vector<std::size_t> postings;  // by the reader's index of the tensor
  };
  // Where the newest shape of a tensor is.
  struct Newest {
    std::int64_t step = 0;
    std::uint32_t tensor = 0;
  };

  // Has a worker ended a step again that it had ended before? Then what was counted of it counts no more.
  bool any_repeats(Trial& trial) const {
    for (WorkerJournal* worker : TrialAccess::journals(trial)) {
      const auto known = progress_.find(worker);
      if (known == progress_.end() || !worker->readable()) continue;
      const auto steps = worker->reader().steps();
      for (std::size_t i = known->second.steps; i < steps.size(); ++i) {
        if (steps[i].global_step <= known->second.highest_step) return true;
      }
    }
    return false;
  }

  void take_in(WorkerJournal& worker) {
    trial::TensorIndex& index = worker.tensor_index();
    Progress& progress = progress_[&worker];
    const std::size_t tensors = worker.reader().tensors().size();
    progress.postings.resize(tensors, 0);
    std::vector<Newest> newest;
    for (std::uint32_t tensor = 0; tensor < tensors; ++tensor) {
      const auto postings = index.of(tensor).subspan(progress.postings[tensor]);
      progress.postings[tensor] += postings.size();
      const auto step = count(worker, tensor, postings);
      if (step) newest.push_back({*step, tensor});
    }
    const auto steps = worker.reader().steps();
    for (; progress.steps < steps.size(); ++progress.steps) {
      progress.highest_step = std::max(progress.highest_step, steps[progress.steps].global_step);
    }
    read_shapes(worker, std::move(newest));
  }

  // The newest step among `postings`.
  std::optional<std::int64_t> count(WorkerJournal& worker, std::uint32_t tensor, std::span<const Posting> postings) {
    std::optional<std::int64_t> newest;
    if (postings.empty()) return newest;
    ListedTensor& listed = tensors_[&worker.tensor(tensor)];
    for (const Posting& posting : postings) {
      const std::int64_t step = worker.reader().steps()[posting.step_index].global_step;
      if (worker.step_index(step) != posting.step_index) continue;  // the step was ended again later
      listed.values += posting.has(RecordForm::kValue) ? 1 : 0;
      listed.statistics += posting.has(RecordForm::kStatistics) ? 1 : 0;
      listed.scalars += posting.has(RecordForm::kScalar) ? 1 : 0;
      listed.reductions += posting.has(RecordForm::kReductions) ? 1 : 0;
      if (listed.first_step < 0 || step < listed.first_step) listed.first_step = step;
      listed.last_step = std::max(listed.last_step, step);
      newest = std::max(newest.value_or(step), step);
    }
    return newest;
  }

  // Step by step, because a step's frames are decoded once for all tensors in them.
  void read_shapes(WorkerJournal& worker, std::vector<Newest> newest) {
    std::sort(newest.begin(), newest.end(), [](const Newest& a, const Newest& b) {
      return std::pair(a.step, a.tensor) < std::pair(b.step, b.tensor);
    });
    for (auto step = newest.begin(); step != newest.end();) {
      const auto end = std::find_if(step, newest.end(), [&](const Newest& other) { return other.step != step->step; });
      const auto records = worker.records_at(step->step);
      if (records.ok()) {
        for (const journal::Record& record : *records) {
          const auto wanted = std::lower_bound(step, end, record.tensor,
                                               [](const Newest& a, std::uint32_t tensor) { return a.tensor < tensor; });
          if (wanted != end && wanted->tensor == record.tensor) read_shape(worker, record, step->step);
        }
      }
      step = end;
    }
  }

  void read_shape(WorkerJournal& worker, const journal::Record& record, std::int64_t step) {
    ListedTensor& listed = tensors_[&worker.tensor(record.tensor)];
    if (step < listed.last_step) return;  // another worker has a newer one
    if (record.form == RecordForm::kReductions) return;
    if (record.form == RecordForm::kScalar) {
      listed.dtype = DType::kFloat64;
      listed.shape = Shape();
      listed.has_shape = true;
      return;
    }
    const auto newest = worker.reader().read_shape(record);
    if (!newest.ok()) return;
    std::tie(listed.dtype, listed.shape) = *newest;
    listed.has_shape = true;
  }

  std::unordered_map<const WorkerJournal*, Progress> progress_;
  std::unordered_map<const CatalogTensor*, ListedTensor> tensors_;
};

struct ListMemory {
  Gathering gathering;
  TensorList list;
};

void write_list(Trial& trial, const Gathering& gathering, TensorList& list) {
  trial::TensorCatalog& catalog = TrialAccess::catalog(trial);
  std::set<std::string> ids;
  list.tensors.clear();
  list.collections.clear();
  for (auto& [name, tensor] : catalog.tensors()) {
    const ListedTensor* gathered = gathering.find(tensor);
    ListedTensor listed = gathered == nullptr ? ListedTensor() : *gathered;
    listed.name = name;
    listed.id = tensor_id_of(name);
    if (!ids.insert(listed.id).second) continue;  // two names with the same digits: the first has them
    const auto index = static_cast<std::uint32_t>(list.tensors.size());
    for (const std::string& collection : catalog.collections_of(tensor)) list.collections[collection].push_back(index);
    list.tensors.push_back(std::move(listed));
  }
}

}  // namespace

Result<const TensorList*> tensor_list(OpenRun::Use& use) {
  auto& memory = use.memory<ListMemory>();
  if (memory.list.version != use.version()) {
    memory.gathering.extend(use.trial());
    write_list(use.trial(), memory.gathering, memory.list);
    memory.list.version = use.version();
  }
  return &memory.list;
}

Result<FoundTensor> find_listed(OpenRun::Use& use, std::string_view name) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const TensorList* list, tensor_list(use));
  const auto found =
      std::lower_bound(list->tensors.begin(), list->tensors.end(), name,
                       [](const ListedTensor& tensor, std::string_view wanted) { return tensor.name < wanted; });
  if (found == list->tensors.end() || found->name != name) {
    const auto info = use.trial().tensor_info(name);  // says which names are near
    return info.ok() ? Status(Code::kNotFound, "the tensor has come just now; ask again") : info.status();
  }
  FoundTensor tensor{&*found, {}};
  const auto index = static_cast<std::uint32_t>(found - list->tensors.begin());
  for (const auto& [collection, members] : list->collections) {
    if (std::binary_search(members.begin(), members.end(), index)) tensor.collections.push_back(collection);
  }
  return tensor;
}

}  // namespace trainwarden::views
