#include "read/trial/run_reader.h"

#include <algorithm>
#include <span>
#include <utility>

#include "read/trial/thread_time.h"

namespace trainwarden::trial {
namespace {

struct HeldStep {
  std::int64_t step = 0;
  std::uint8_t forms = 0;  // as a Posting's
};

// Of one tensor, of all together when it is null.
std::span<const Posting> postings_of(WorkerJournal& worker, const CatalogTensor* tensor) {
  if (!worker.readable()) return {};
  if (tensor == nullptr) return worker.tensor_index().steps();
  const auto index = worker.tensor(*tensor);
  return index ? worker.tensor_index().of(*index) : std::span<const Posting>();
}

constexpr bool is_bit_of(Kept kept, journal::RecordForm form) {
  return static_cast<int>(kept) == 1 << static_cast<int>(form);
}
static_assert(is_bit_of(Kept::kValue, journal::RecordForm::kValue) &&
              is_bit_of(Kept::kStatistics, journal::RecordForm::kStatistics) &&
              is_bit_of(Kept::kScalar, journal::RecordForm::kScalar) &&
              is_bit_of(Kept::kShape, journal::RecordForm::kShape) &&
              is_bit_of(Kept::kReductions, journal::RecordForm::kReductions));

std::uint8_t forms_of(Kept kept, std::uint8_t known_forms) {
  constexpr auto kFull = static_cast<std::uint8_t>(Kept::kValue | Kept::kScalar);
  if (kept != Kept::kFullest) return static_cast<std::uint8_t>(kept);
  return (known_forms & kFull) != 0 ? kFull : static_cast<std::uint8_t>(Kept::kAny);
}

// Takes in who is new among the writers, and what all of them have written since.
template <class Journal>
Status refresh_all(RunSource& source, const std::vector<SourceWorker>& writers,
                   std::vector<std::unique_ptr<Journal>>& journals) {
  for (const SourceWorker& writer : writers) {
    const bool known = std::any_of(journals.begin(), journals.end(),
                                   [&](const auto& journal) { return journal->name() == writer.name; });
    if (!known) journals.push_back(std::make_unique<Journal>(source, writer));
  }
  Status failure;
  for (const auto& journal : journals) {
    const Status status = journal->refresh();
    if (!status.ok() && failure.ok()) failure = status.with_context(journal->name());
  }
  return failure;
}

}  // namespace

RunReader::RunReader(std::unique_ptr<RunSource> source, const TrialOptions& options, std::shared_ptr<ReadBudget> budget)
    : source_(std::move(source)),
      step_table_(source_->info().world_size, options.incomplete_step_window),
      catalog_(std::move(budget)) {}

Result<std::unique_ptr<RunReader>> RunReader::open(std::shared_ptr<const storage::Storage> storage, const Clock& clock,
                                                   const TrialOptions& options) {
  auto budget = std::make_shared<ReadBudget>();
  TRAINWARDEN_ASSIGN_OR_RETURN(auto source, open_run_source(std::move(storage), clock, options, budget));
  std::unique_ptr<RunReader> run(new RunReader(std::move(source), options, std::move(budget)));
  TRAINWARDEN_RETURN_IF_ERROR(run->refresh());
  return run;
}

Status RunReader::refresh() {
  const std::int64_t begin_ns = thread_cpu_ns();
  Status status = refresh_all_parts();
  refresh_ns_ += thread_cpu_ns() - begin_ns;
  return status;
}

Status RunReader::refresh_all_parts() {
  Status failure = refresh_source();
  for (const auto& worker : workers_) {
    Status status = worker->refresh();
    if (!status.ok() && failure.ok()) failure = status.with_context(worker->name());
    step_table_.set_worker_ended(worker->rank(), source_->has_ended(worker->life()));
  }
  if (const Status status = refresh_side_journals(); failure.ok()) failure = status;
  // What could not be read now may show that the run goes on: no end is concluded from it.
  if (failure.ok()) state_ = source_->state(lives());
  step_table_.set_finished(state_ != RunState::kRunning);
  step_table_.settle();
  return failure;
}

Status RunReader::refresh_side_journals() {
  Status failure = refresh_all(*source_, source_->outputs(), outputs_);
  if (const Status status = refresh_all(*source_, source_->machines(), machines_); failure.ok()) failure = status;
  return failure;
}

// Of the workers; of a program that has none, of who reads what it prints, and if nobody does, of samplers.
std::vector<WorkerLife> RunReader::lives() const {
  std::vector<WorkerLife> lives;
  for (const auto& worker : workers_) lives.push_back(worker->life());
  if (!lives.empty()) return lives;
  for (const auto& output : outputs_) lives.push_back(output->life());
  if (!lives.empty()) return lives;
  for (const auto& machine : machines_) lives.push_back(machine->life());
  return lives;
}

std::vector<SampledJournal*> RunReader::sampled_journals() const {
  std::vector<SampledJournal*> journals;
  for (const auto& worker : workers_) journals.push_back(worker.get());
  for (const auto& output : outputs_) journals.push_back(output.get());
  for (const auto& machine : machines_) journals.push_back(machine.get());
  return journals;
}

Status RunReader::refresh_source() {
  Status status = source_->refresh(step_table_.last_complete_step());
  step_table_.set_worker_count(source_->info().world_size);
  for (const Collection& collection : source_->take_collections()) catalog_.add_manifest(collection);
  for (const SourceWorker& worker : source_->workers()) add_worker(worker);
  return status;
}

void RunReader::add_worker(const SourceWorker& worker) {
  const auto place = std::lower_bound(workers_.begin(), workers_.end(), worker.name,
                                      [](const auto& known, const std::string& name) { return known->name() < name; });
  if (place != workers_.end() && (*place)->name() == worker.name) return;
  workers_.insert(place, std::make_unique<WorkerJournal>(*source_, worker, step_table_, catalog_));
}

WorkerJournal* RunReader::find_worker(std::string_view name) const {
  const auto place = std::lower_bound(workers_.begin(), workers_.end(), name,
                                      [](const auto& worker, std::string_view text) { return worker->name() < text; });
  return place != workers_.end() && (*place)->name() == name ? place->get() : nullptr;
}

std::vector<RunLoss> RunReader::losses() const {
  std::vector<RunLoss> losses;
  for (const auto& worker : workers_) {
    losses.insert(losses.end(), worker->losses().begin(), worker->losses().end());
  }
  for (const auto& output : outputs_) losses.insert(losses.end(), output->losses().begin(), output->losses().end());
  for (const auto& machine : machines_) losses.insert(losses.end(), machine->losses().begin(), machine->losses().end());
  const std::vector<RunLoss> shared = source_->losses(state_);
  losses.insert(losses.end(), shared.begin(), shared.end());
  const std::vector<RunLoss> left_out = catalog_.losses();
  losses.insert(losses.end(), left_out.begin(), left_out.end());
  return losses;
}

std::vector<std::int64_t> RunReader::steps_of(const CatalogTensor* tensor, Kept kept, Mode mode,
                                              bool include_incomplete) {
  std::vector<HeldStep> held;
  std::uint8_t known_forms = 0;  // at any step, of any mode
  const StepRow* step = nullptr;
  for (const auto& worker : workers_) {
    const std::span<const Posting> postings = postings_of(*worker, tensor);
    held.reserve(held.size() + postings.size());
    for (const Posting& posting : postings) {
      const std::int64_t global_step = worker->reader().steps()[posting.step_index].global_step;
      step = step_table_.find(global_step, step);
      if (step == nullptr || worker->is_replaced(posting.step_index)) continue;
      if (!include_incomplete && global_step > step_table_.last_complete_step()) continue;
      known_forms = static_cast<std::uint8_t>(known_forms | posting.forms);
      if (mode != Mode::kGlobal && step->mode != mode) continue;
      held.push_back({mode == Mode::kGlobal ? global_step : step->mode_step, posting.forms});
    }
  }
  const std::uint8_t wanted = forms_of(kept, known_forms);
  std::erase_if(held, [&](const HeldStep& each) { return (each.forms & wanted) == 0; });
  std::vector<std::int64_t> steps;
  steps.reserve(held.size());
  for (const HeldStep& each : held) steps.push_back(each.step);
  if (!std::is_sorted(steps.begin(), steps.end())) std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

std::optional<std::int64_t> RunReader::newest_step_of(const CatalogTensor& tensor, Kept kept, Mode mode) {
  std::optional<std::int64_t> newest;
  for (const auto& worker : workers_) {
    const std::span<const Posting> postings = postings_of(*worker, &tensor);
    for (std::size_t i = postings.size(); i > 0; --i) {
      const auto& [step_index, forms] = postings[i - 1];
      const journal::StepEntry& step = worker->reader().steps()[step_index];
      if (newest && worker->in_order() && step.global_step <= *newest) break;
      if ((forms & static_cast<std::uint8_t>(kept)) == 0 || (mode != Mode::kGlobal && step.mode != mode)) continue;
      if (!step_table_.is_complete(step.global_step) || worker->is_replaced(step_index)) continue;
      newest = std::max(newest.value_or(step.global_step), step.global_step);
    }
  }
  return newest;
}

}  // namespace trainwarden::trial
