#include "read/trial/worker_journal.h"

#include <algorithm>

namespace trainwarden::trial {

WorkerJournal::WorkerJournal(RunSource& source, SourceWorker worker, StepTable& table, TensorCatalog& catalog)
    : source_(source), worker_(std::move(worker)), step_table_(table), catalog_(catalog) {}

// Life is looked at before the data: what a process wrote before it let go of its lock is then always read before the
// process is taken for gone.
Status WorkerJournal::refresh() {
  const bool writing = source_.is_writing(worker_);
  if (reader_ == nullptr) {
    TRAINWARDEN_ASSIGN_OR_RETURN(reader_, source_.open_journal(worker_));
  }
  TRAINWARDEN_RETURN_IF_ERROR(reader_->refresh());
  life_.writing = writing;
  for (const Collection& collection : reader_->collections()) catalog_.add_manifest(collection);
  take_in_tensors();
  take_in_steps();
  TRAINWARDEN_RETURN_IF_ERROR(take_in_events());
  life_.has_written = steps_read_ > 0 || events_read_ > 0 || reader_->sample_frames() > 0;
  return {};
}

std::int64_t WorkerJournal::last_unix_ns() const {
  if (last_unix_ns_ != 0 || places_.empty()) return last_unix_ns_;
  return reader_->unix_ns(places_.back().step_index);
}

void WorkerJournal::take_in_tensors() {
  const auto tensors = reader_->tensors();
  while (tensors_.size() < tensors.size()) {
    const journal::JournalTensor& entry = tensors[tensors_.size()];
    CatalogTensor& tensor = catalog_.add(entry.name, entry.collections);
    tensor_indices_.emplace(&tensor, static_cast<std::uint32_t>(tensors_.size()));
    tensors_.push_back(&tensor);
  }
}

void WorkerJournal::take_in_steps() {
  const auto steps = reader_->steps();
  const std::size_t places_before = places_.size();
  make_room(places_, steps.size() - steps_read_);
  step_table_.make_room(worker_.rank, steps.size() - steps_read_);
  for (; steps_read_ < steps.size(); ++steps_read_) {
    const journal::StepEntry& step = steps[steps_read_];
    step_table_.add(worker_.rank, {step.global_step, step.mode, step.mode_step});
    places_.push_back({step.global_step, static_cast<std::uint32_t>(steps_read_)});
    last_unix_ns_ = std::max(last_unix_ns_, step.unix_ns);
  }
  const auto earlier = [](const IndexedStep& a, const IndexedStep& b) { return a.global_step < b.global_step; };
  const auto unchecked = places_.begin() + static_cast<std::ptrdiff_t>(places_before - (places_before > 0 ? 1 : 0));
  const auto not_earlier = [&](const IndexedStep& a, const IndexedStep& b) { return !earlier(a, b); };
  in_order_ = in_order_ && std::adjacent_find(unchecked, places_.end(), not_earlier) == places_.end();
  if (in_order_ || std::is_sorted(unchecked, places_.end(), earlier)) return;
  std::stable_sort(places_.begin(), places_.end(), earlier);
}

Status WorkerJournal::take_in_events() {
  TRAINWARDEN_RETURN_IF_ERROR(visit_events(events_read_, [&](std::size_t index, const journal::EventEntry& event) {
    events_read_ = index + 1;
    if (event.kind != format::FrameKind::kEvent) return;
    const auto run_end = format::decode_run_end(event.json);
    if (run_end.ok() && *run_end) life_.run_end = **run_end;
    if (life_.run_end && format::is_run_resume(event.json)) life_.run_end.reset();
  }));
  events_read_ = reader_->event_count();
  return {};
}

Status WorkerJournal::visit_events(std::size_t first, const journal::EventVisitor& visit) const {
  return reader_ ? reader_->visit_events(first, visit) : Status();
}

std::span<const RunLoss> WorkerJournal::losses() const {
  return reader_ ? reader_->losses() : std::span<const RunLoss>();
}

std::optional<std::uint32_t> WorkerJournal::tensor(const CatalogTensor& tensor) const {
  const auto found = tensor_indices_.find(&tensor);
  if (found == tensor_indices_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::uint32_t> WorkerJournal::step_index(std::int64_t global_step) const {
  const auto after =
      std::upper_bound(places_.begin(), places_.end(), global_step,
                       [](std::int64_t step, const IndexedStep& place) { return step < place.global_step; });
  if (after == places_.begin() || std::prev(after)->global_step != global_step) return std::nullopt;
  return std::prev(after)->step_index;
}

bool WorkerJournal::is_replaced(std::uint32_t step_index) const {
  return !in_order_ && this->step_index(reader_->steps()[step_index].global_step) != step_index;
}

Result<std::span<const journal::Record>> WorkerJournal::records_at(std::int64_t global_step) {
  const auto index = step_index(global_step);
  if (!index) return std::span<const journal::Record>();
  auto records = reader_->records(*index);
  take_in_tensors();  // where the names were damaged, the records may name some again
  return records;
}

Result<std::span<const journal::Record>> WorkerJournal::records_at(std::int64_t global_step, std::uint32_t tensor) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto records, records_at(global_step));
  const auto index = step_index(global_step);
  if (std::exchange(asked_step_, index) != index) {
    asked_records_.clear();
    return records;
  }
  const auto by_tensor = [](const journal::Record& a, const journal::Record& b) { return a.tensor < b.tensor; };
  if (asked_records_.empty()) {
    asked_records_.assign(records.begin(), records.end());
    std::sort(asked_records_.begin(), asked_records_.end(), by_tensor);
  }
  journal::Record wanted;
  wanted.tensor = tensor;
  const auto [first, last] = std::equal_range(asked_records_.begin(), asked_records_.end(), wanted, by_tensor);
  return std::span<const journal::Record>(first, last);
}

TensorIndex& WorkerJournal::tensor_index() {
  if (reader_ == nullptr) return tensor_index_;
  tensor_index_.extend(*reader_);
  take_in_tensors();
  return tensor_index_;
}

}  // namespace trainwarden::trial
