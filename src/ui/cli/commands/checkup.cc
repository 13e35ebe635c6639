#include "ui/cli/commands/checkup.h"

#include <algorithm>

#include <fmt/format.h>

#include "data/format/step_end.h"
#include "read/trial/smdebug/smdebug_source.h"
#include "read/trial/trial_access.h"
#include "store/journal/journal_reader.h"
#include "trainwarden/version.h"

namespace trainwarden::cli {
namespace {

Result<JournalCheckup> examine_journal(const storage::Storage& storage, const journal::RunInfo& info,
                                       const std::string& writer) {
  JournalCheckup checkup;
  checkup.writer = writer;
  checkup.live = journal::has_living_writer(storage, writer);
  const journal::JournalReaderOptions options{.live = checkup.live, .verify_payloads = true};
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto reader, journal::JournalReader::open(storage, info, writer, options));
  TRAINWARDEN_RETURN_IF_ERROR(reader->refresh());
  TRAINWARDEN_RETURN_IF_ERROR(reader->verify_all());
  checkup.steps = reader->steps().size();
  checkup.tensors = reader->tensors().size();
  checkup.events = reader->event_count();
  checkup.losses.assign(reader->losses().begin(), reader->losses().end());
  return checkup;
}

// Of a run that another recorder wrote.
Result<Checkup> examine_foreign(const storage::Location& run) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial, TrialAccess::open(run));
  Checkup checkup;
  checkup.recorder = trial->recorder();
  checkup.info = TrialAccess::run_info(*trial);
  checkup.losses = trial->losses();
  for (trial::WorkerJournal* worker : TrialAccess::journals(*trial)) {
    journal::JournalReader& reader = worker->reader();
    TRAINWARDEN_RETURN_IF_ERROR(reader.verify_all());
    JournalCheckup& journal = checkup.journals.emplace_back();
    journal.writer = worker->name();
    journal.live = worker->life().writing;
    journal.steps = reader.steps().size();
    journal.tensors = reader.tensors().size();
    journal.losses.assign(reader.losses().begin(), reader.losses().end());
  }
  return checkup;
}

// `gc` took it away because its user wanted the room.
bool is_deliberate(const RunLoss& loss) {
  return loss.by_writer && loss.cause == format::kThinnedCause;
}

}  // namespace

bool Checkup::healthy() const {
  const auto nothing_lost = [](const std::vector<RunLoss>& all) {
    return std::all_of(all.begin(), all.end(), is_deliberate);
  };
  return nothing_lost(losses) && std::all_of(journals.begin(), journals.end(), [&](const JournalCheckup& journal) {
           return nothing_lost(journal.losses);
         });
}

Result<Checkup> examine(const storage::Location& run) {
  const storage::Storage& storage = run.storage();
  if (!storage.exists(journal::kRunFile) && trial::holds_smdebug_run(storage)) return examine_foreign(run);
  Checkup checkup;
  checkup.recorder = "trainwarden";
  TRAINWARDEN_ASSIGN_OR_RETURN(checkup.info, journal::read_run(storage));
  if (checkup.info.format_version > kFormatVersion) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("{} has format version {}, this program reads up to {}; use a newer trainwarden",
                              run.address(), checkup.info.format_version, kFormatVersion));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto writers, journal::list_journals(storage));
  for (const std::string& writer : writers) {
    TRAINWARDEN_ASSIGN_OR_RETURN(auto journal, examine_journal(storage, checkup.info, writer));
    checkup.journals.push_back(std::move(journal));
  }
  return checkup;
}

}  // namespace trainwarden::cli
