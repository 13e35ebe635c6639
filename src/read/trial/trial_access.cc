#include "read/trial/trial_access.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/no_throw.h"
#include "read/trial/trial_impl.h"

namespace trainwarden {

Result<std::unique_ptr<Trial>> TrialAccess::open(const storage::Location& run, const TrialOptions& options,
                                                 const Clock& clock) {
  return no_throw([&]() -> Result<std::unique_ptr<Trial>> {
    TRAINWARDEN_ASSIGN_OR_RETURN(auto reader, trial::RunReader::open(run.shared_storage(), clock, options));
    auto impl = std::make_unique<Trial::Impl>(run, std::move(reader));
    return std::unique_ptr<Trial>(new Trial(std::move(impl)));
  });
}

const storage::Location& TrialAccess::location(const Trial& trial) {
  return trial.impl_->location();
}

std::int64_t TrialAccess::refresh_ns(const Trial& trial) {
  return trial.impl_->run().refresh_ns();
}

const journal::RunInfo& TrialAccess::run_info(const Trial& trial) {
  return trial.impl_->run().info();
}

std::string TrialAccess::identity(const Trial& trial) {
  return journal::run_identity(run_info(trial));
}

Status TrialAccess::check_same_run(const Trial& trial) {
  return trial.impl_->run().check_same_run();
}

Status TrialAccess::check_writable(const Trial& trial, std::string_view wanted) {
  if (trial.recorder() == "trainwarden") return {};
  return Status(Code::kFailedPrecondition,
                fmt::format("{} was recorded by {}; such folders are only read, and {} would be written into it",
                            trial.impl_->run().describe(), trial.recorder(), wanted));
}

void TrialAccess::visit_events(const Trial& trial, const WorkerEventVisitor& visit) {
  for (const auto& worker : trial.impl_->run().workers()) {
    const Status status =
        worker->visit_events(0, [&](std::size_t, const journal::EventEntry& event) { visit(worker->name(), event); });
    if (!status.ok()) log(LogLevel::kWarning, "events of {} cannot be read: {}", worker->name(), status.to_string());
  }
}

std::vector<std::string> TrialAccess::living_workers(const Trial& trial) {
  std::vector<std::string> names;
  for (const auto& worker : trial.impl_->run().workers()) {
    if (worker->life().writing && !worker->life().run_end) names.push_back(worker->name());
  }
  return names;
}

bool TrialAccess::stop_accepted(const Trial& trial) {
  bool accepted = false;
  visit_events(trial, [&](const std::string&, const journal::EventEntry& event) {
    accepted = accepted || (event.kind == format::FrameKind::kEvent &&
                            format::event_type(event.json).value_or("") == "stop_accepted");
  });
  return accepted;
}

std::optional<format::OutputReport> TrialAccess::output_report(const Trial& trial) {
  const auto& outputs = trial.impl_->run().outputs();
  if (outputs.empty()) return std::nullopt;
  format::OutputReport sum;
  for (const auto& output : outputs) format::add_report(sum, output->report());
  return sum;
}

std::size_t TrialAccess::count_sampled(const Trial& trial) {
  std::size_t frames = 0;
  for (trial::SampledJournal* const journal : trial.impl_->run().sampled_journals()) {
    if (journal->readable()) frames += journal->reader().sample_frames();
  }
  for (const auto& output : trial.impl_->run().outputs()) {
    if (output->readable()) frames += output->reader().event_count();
  }
  return frames;
}

std::span<const trial::StepRow> TrialAccess::complete_rows_after(const Trial& trial, std::int64_t global_step) {
  return trial.impl_->run().step_table().complete_rows_after(global_step);
}

std::optional<std::int64_t> TrialAccess::newest_step_of(Trial& trial, std::string_view tensor, Kept kept, Mode mode) {
  const trial::CatalogTensor* const known = catalog(trial).find(tensor);
  return known == nullptr ? std::nullopt : trial.impl_->run().newest_step_of(*known, kept, mode);
}

std::int64_t TrialAccess::step_unix_ns(const Trial& trial, std::string_view worker, std::int64_t global_step) {
  trial::WorkerJournal* const journal = trial.impl_->run().find_worker(worker);
  if (journal == nullptr || !journal->readable()) return 0;
  const auto index = journal->step_index(global_step);
  return index ? journal->reader().unix_ns(*index) : 0;
}

std::int64_t TrialAccess::step_unix_ns(const Trial& trial, std::int64_t global_step) {
  std::int64_t last = 0;
  for (const auto& worker : trial.impl_->run().workers()) {
    if (!worker->readable()) continue;
    if (const auto index = worker->step_index(global_step)) last = std::max(last, worker->reader().unix_ns(*index));
  }
  return last;
}

trial::TensorCatalog& TrialAccess::catalog(Trial& trial) {
  return trial.impl_->run().catalog();
}

std::vector<trial::WorkerJournal*> TrialAccess::journals(Trial& trial) {
  std::vector<trial::WorkerJournal*> journals;
  for (const auto& worker : trial.impl_->run().workers()) journals.push_back(worker.get());
  return journals;
}

std::vector<trial::SampledJournal*> TrialAccess::steadily_sampled(Trial& trial) {
  std::vector<trial::SampledJournal*> journals;
  for (const auto& worker : trial.impl_->run().workers()) journals.push_back(worker.get());
  for (const auto& machine : trial.impl_->run().machines()) journals.push_back(machine.get());
  return journals;
}

}  // namespace trainwarden
