// Export: the walk over a run's steps and tensors, the same for every format.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "read/transfer/output_claim.h"
#include "read/transfer/record_choice.h"
#include "read/transfer/target_writer.h"
#include "read/trial/trial_access.h"
#include "store/storage/bucket_folder.h"
#include "trainwarden/transfer.h"

namespace trainwarden {
namespace {

using journal::Record;
using journal::RecordForm;
using transfer::TargetPlan;
using transfer::TargetWriter;

Result<std::unique_ptr<TargetWriter>> open_target(const TargetPlan& plan) {
  switch (plan.options.format) {
    case ExportFormat::kSmdebug: return transfer::open_smdebug_target(plan);
    case ExportFormat::kTensorBoard: return transfer::open_tensorboard_target(plan);
    case ExportFormat::kSafetensors: return transfer::open_safetensors_target(plan);
    case ExportFormat::kNpz: return transfer::open_npz_target(plan);
    case ExportFormat::kCsv: return transfer::open_csv_target(plan);
    case ExportFormat::kJson: return transfer::open_json_target(plan);
    case ExportFormat::kMcap: return transfer::open_mcap_target(plan);
    case ExportFormat::kParquet: return transfer::open_parquet_target(plan);
  }
  return Status(Code::kInvalidArgument, "there is no such format");
}

// Where a folder stands for its bucket, in that. Others have to be reached over a network, which no library of ours
// does.
Result<std::filesystem::path> place_here(const std::filesystem::path& out) {
  const std::string address = out.string();
  if (!storage::is_bucket_address(address)) return out;
  auto folder = storage::folder_of_bucket(address);
  if (folder.ok() || folder.status().code() != Code::kUnimplemented) return folder;
  return Status(
      Code::kInvalidArgument,
      fmt::format("{}: expected a place of this machine, found one in a bucket: export there with the program, "
                  "`trainwarden export`, or here, and send it with `trainwarden cp`",
                  printable(address)));
}

// The order of a tensor's forms within a step. Where a format has one place for two of them, the first has it.
int place_of(RecordForm form) {
  switch (form) {
    case RecordForm::kValue: return 0;
    case RecordForm::kReductions: return 1;
    case RecordForm::kScalar: return 2;
    case RecordForm::kStatistics: return 3;
    case RecordForm::kShape: return 4;
  }
  return 5;
}

// A passing fault in the midst of a step cannot be passed over: half of the step is in the target.
Status for_good(const Status& status) {
  return status.code() == Code::kUnavailable ? Status(Code::kAborted, status.message()) : status;
}

}  // namespace

class Export::Impl {
 public:
  Impl(Trial& trial, ExportOptions options, transfer::RecordChoice choice, transfer::OutputClaim claim)
      : trial_(trial),
        options_(std::move(options)),
        choice_(std::move(choice)),
        claim_(std::move(claim)),
        last_step_(claim_.last_step()) {}

  Status open() {
    TRAINWARDEN_ASSIGN_OR_RETURN(target_, open_target({options_, trial_, notes_, tally_}));
    return claim_.mark(last_step_, false);
  }

  Status poll() {
    TRAINWARDEN_RETURN_IF_ERROR(trial_.refresh());
    const std::vector<std::int64_t> steps = trial_.complete_steps_after(last_step_);
    if (!steps.empty()) TRAINWARDEN_RETURN_IF_ERROR(for_good(take(steps)));
    run_ended_ = trial_.loaded_all_steps() && last_step_ >= trial_.last_complete_step();
    return {};
  }

  bool run_ended() const { return run_ended_; }

  Result<ExportReport> finish() {
    TRAINWARDEN_RETURN_IF_ERROR(target_->finish(run_ended_));
    TRAINWARDEN_RETURN_IF_ERROR(claim_.mark(last_step_, run_ended_));
    report_.files = tally_.files;
    report_.bytes = tally_.bytes;
    report_.run_ended = run_ended_;
    report_.notes = notes_.list();
    return std::move(report_);
  }

 private:
  // What was taken before a failure is marked as taken.
  Status take(const std::vector<std::int64_t>& steps) {
    TRAINWARDEN_RETURN_IF_ERROR(choice_.update(trial_));
    Status status = take_each(steps);
    Status marked = claim_.mark(last_step_, false);
    return status.ok() ? marked : status;
  }

  Status take_each(const std::vector<std::int64_t>& steps) {
    for (const std::int64_t step : steps) {
      if (options_.stop.stop_requested()) break;
      notes_.at_step(step);
      for (trial::WorkerJournal* journal : TrialAccess::journals(trial_)) {
        if (!journal->readable() || !choice_.wants_worker(journal->name())) continue;
        TRAINWARDEN_RETURN_IF_ERROR(take_step(*journal, step));
      }
      last_step_ = step;
      if (options_.on_step) options_.on_step(step);
    }
    return {};
  }

  Status take_step(trial::WorkerJournal& journal, std::int64_t global_step) {
    const auto index = journal.step_index(global_step);
    if (!index) return {};
    const journal::StepEntry entry = journal.reader().steps()[*index];
    if (!choice_.wants_step(global_step, entry.mode, entry.mode_step)) return {};
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<Record> records, wanted_records(journal, global_step));
    if (records.empty()) return {};
    TRAINWARDEN_RETURN_IF_ERROR(target_->begin_step(
        {journal.name(), global_step, entry.mode, entry.mode_step, journal.reader().unix_ns(*index)}));
    for (const Record& record : records) {
      Status status = write(journal, record, global_step);
      if (status.code() == Code::kDataLoss) {
        note_damage(journal.tensor(record.tensor).name);
      } else if (status.code() == Code::kUnimplemented) {
        notes_.lost("of a type that is not known here", journal.tensor(record.tensor).name);
      } else if (!status.ok()) {
        return status;
      }
    }
    ++report_.steps;
    return target_->end_step();
  }

  // By name, and of one name values first.
  Result<std::vector<Record>> wanted_records(trial::WorkerJournal& journal, std::int64_t global_step) {
    const auto found = journal.records_at(global_step);
    if (!found.ok()) {
      if (found.status().code() != Code::kDataLoss) return found.status();
      note_damage("the whole step");
      return std::vector<Record>();
    }
    std::vector<Record> records;
    std::copy_if(found->begin(), found->end(), std::back_inserter(records),
                 [&](const Record& record) { return choice_.wants_tensor(journal.tensor(record.tensor).name); });
    std::stable_sort(records.begin(), records.end(), [&](const Record& a, const Record& b) {
      const int order = journal.tensor(a.tensor).name.compare(journal.tensor(b.tensor).name);
      return order != 0 ? order < 0 : place_of(a.form) < place_of(b.form);
    });
    return records;
  }

  Status write(trial::WorkerJournal& journal, const Record& record, std::int64_t global_step) {
    const std::string& tensor = journal.tensor(record.tensor).name;
    journal::JournalReader& reader = journal.reader();
    switch (record.form) {
      case RecordForm::kValue: {
        TRAINWARDEN_ASSIGN_OR_RETURN(const SharedTensorValue value,
                                     trial_.shared_value(tensor, global_step, Mode::kGlobal, journal.name()));
        if (!options_.texts && value.view.dtype == DType::kString) {
          notes_.lost("texts, as was asked for", tensor);
          return {};
        }
        return counted(target_->write_value(tensor, value));
      }
      case RecordForm::kScalar: {
        TRAINWARDEN_ASSIGN_OR_RETURN(const double value, reader.read_scalar(record));
        return counted(target_->write_scalar(tensor, value));
      }
      case RecordForm::kReductions: {
        TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<SavedReduction> reductions, reader.read_reductions(record));
        return counted(target_->write_reductions(tensor, reductions));
      }
      case RecordForm::kStatistics:
      case RecordForm::kShape: {
        TRAINWARDEN_ASSIGN_OR_RETURN(const journal::StatisticsRow row, reader.read_statistics(record));
        if (row.shape_only) return counted(target_->write_shape(tensor, row.dtype, row.shape));
        return counted(target_->write_statistics(tensor, row));
      }
    }
    return {};
  }

  Status counted(Status written) {
    if (written.ok()) ++report_.records;
    return written;
  }

  void note_damage(std::string_view tensor) {
    ++report_.damaged;
    notes_.lost("damaged in the run", tensor);
  }

  Trial& trial_;
  const ExportOptions options_;
  transfer::RecordChoice choice_;
  transfer::OutputClaim claim_;
  transfer::ExportNotes notes_;
  transfer::OutputTally tally_;
  std::unique_ptr<TargetWriter> target_;
  std::int64_t last_step_;  // global, that was taken
  bool run_ended_ = false;
  ExportReport report_;
};

Result<std::unique_ptr<Export>> Export::start(Trial& trial, ExportOptions options) {
  return no_throw([&]() -> Result<std::unique_ptr<Export>> {
    TRAINWARDEN_ASSIGN_OR_RETURN(options.out, place_here(options.out));
    TRAINWARDEN_ASSIGN_OR_RETURN(auto choice, transfer::RecordChoice::compile(options.choice));
    TRAINWARDEN_ASSIGN_OR_RETURN(auto claim, transfer::OutputClaim::take(options, trial.run_id()));
    auto impl = std::make_unique<Impl>(trial, std::move(options), std::move(choice), std::move(claim));
    TRAINWARDEN_RETURN_IF_ERROR(impl->open());
    return std::unique_ptr<Export>(new Export(std::move(impl)));
  });
}

Export::Export(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Export::~Export() = default;

Status Export::poll() {
  return no_throw([&] { return impl_->poll(); });
}
bool Export::run_ended() const {
  return impl_->run_ended();
}
Result<ExportReport> Export::finish() {
  return no_throw([&] { return impl_->finish(); });
}

}  // namespace trainwarden
