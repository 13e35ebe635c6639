#include "work/catalogue/job_table.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "core/base/clock.h"
#include "work/catalogue/folder_changes.h"
#include "work/catalogue/marked_table.h"
#include "work/document/document.h"
#include "work/jobs/hyperparameters.h"
#include "work/jobs/job_record.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::catalogue {
namespace {

constexpr std::size_t kJobsInTransaction = 1000;

// Those that have ended and may be resumed, which changes nothing in their folder but in `state`.
Result<std::set<std::string>> resumable_jobs(Database& database, std::int64_t place) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement rows,
                               database.prepare("SELECT name FROM job WHERE place = ? AND mark <> 0 AND phase <> ?"));
  rows.bind(1, place).bind(2, name(jobs::JobPhase::kCompleted));
  std::set<std::string> names;
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) return names;
    names.insert(rows.text(0));
  }
}

format::OrderedJson json_of(const document::DocumentValue& value) {
  using Kind = document::DocumentValue::Kind;
  if (value.is(Kind::kInteger)) return value.integer;
  if (value.is(Kind::kNumber)) return value.number;
  return jobs::argument_text(value);
}

// What the user's file says of it; a file that was written for another version may say less.
void read_spec_of(const std::string& text, CataloguedJob& job) {
  const Result<document::DocumentValue> top = document::parse(text, "job");
  if (!top.ok()) return;
  document::Mistakes ignored;
  const jobs::JobSpec spec = jobs::read_job_spec(*top, ignored);
  job.experiment = spec.experiment.experiment;
  job.trial = spec.experiment.trial;
  format::OrderedJson parameters = format::OrderedJson::object();
  for (const auto& [name, value] : spec.hyperparameters) parameters[name] = json_of(value);
  job.hyperparameters = format::dump_json(parameters);
}

Status read_standing(jobs::JobRecord& record, const SettleJob& settle, CataloguedJob& job) {
  TRAINWARDEN_ASSIGN_OR_RETURN(job.now, settle(record));
  if (job.now.seq == 1) return Status();  // it has only been submitted
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<jobs::Transition> transitions, record.transitions());
  job.ran_ns = jobs::run_ns_of(transitions, system_clock().unix_ns());
  return Status();
}

CataloguedJob read_job(const storage::Location& jobs, const MarkedName& seen, const SettleJob& settle) {
  CataloguedJob job;
  job.name = seen.name;
  job.hyperparameters = "{}";
  Result<jobs::JobRecord> record = jobs::JobRecord::open(jobs, job.name);
  if (!record.ok()) {
    job.unreadable = record.status();
    return job;
  }
  job.mark = seen.mark;
  job.submitted_unix_ns = record->order().submitted_unix_ns;
  job.run = record->order().run;
  read_spec_of(record->order().spec, job);
  job.unreadable = read_standing(*record, settle, job);
  if (!job.unreadable.ok() || !is_terminal(job.now.status)) job.mark = 0;
  return job;
}

Status write_jobs(Database& database, std::int64_t place, std::span<const CataloguedJob> seen) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(database));
  TRAINWARDEN_ASSIGN_OR_RETURN(
      Statement put, database.prepare("REPLACE INTO job(place, name, mark, submitted, run, seq, changed, phase, "
                                      "cause, message, experiment, trial, parameters, ran, unreadable) "
                                      "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  for (const CataloguedJob& job : seen) {
    put.bind(1, place).bind(2, job.name).bind(3, job.mark);
    put.bind(4, job.submitted_unix_ns).bind(5, job.run).bind(6, job.now.seq).bind(7, job.now.unix_ns);
    put.bind(8, name(job.now.status)).bind(9, job.now.cause).bind(10, job.now.message);
    put.bind(11, job.experiment).bind(12, job.trial).bind(13, job.hyperparameters);
    put.bind(14, job.ran_ns);
    job.unreadable.ok() ? put.bind_null(15) : put.bind(15, job.unreadable.message());
    TRAINWARDEN_RETURN_IF_ERROR(put.run());
  }
  return transaction.commit();
}

Result<jobs::Transition> transition_of(const Statement& row) {
  jobs::Transition now;
  now.seq = row.integer(4);
  now.unix_ns = row.integer(5);
  TRAINWARDEN_ASSIGN_OR_RETURN(now.status, jobs::phase_named(row.text(6), "the catalogue"));
  now.cause = row.text(7);
  now.message = row.text(8);
  return now;
}

}  // namespace

Status update_jobs(Database& database, std::int64_t place, const storage::Location& jobs, const SettleJob& settle) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto folders, entries_of(jobs.storage(), "", storage::FileInfo::Kind::kFolder));
  std::erase_if(folders, [](const storage::Entry& folder) { return !jobs::is_job_name(folder.name); });
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::set<std::string> resumable, resumable_jobs(database, place));
  for (storage::Entry& folder : folders) {
    if (!resumable.contains(folder.name)) continue;
    const auto state = jobs.storage().info(folder.name + "/" + jobs::kStateFolder);
    if (state.ok()) folder.info.changed_unix_ns = std::max(folder.info.changed_unix_ns, state->changed_unix_ns);
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(KnownMarks known, known_marks(database, "job", place));
  FolderChanges changes = compare(folders, std::move(known));
  std::vector<CataloguedJob> seen;
  for (const MarkedName& changed : changes.changed) {
    if (!jobs.storage().exists(changed.name + "/" + jobs::kOrderFile)) {
      changes.gone.push_back(changed.name);  // if it ever was a job
      continue;
    }
    seen.push_back(read_job(jobs, changed, settle));
    if (seen.size() < kJobsInTransaction) continue;
    TRAINWARDEN_RETURN_IF_ERROR(write_jobs(database, place, seen));
    seen.clear();
  }
  if (!seen.empty()) TRAINWARDEN_RETURN_IF_ERROR(write_jobs(database, place, seen));
  return forget_measured(database, "job", place, changes.gone);
}

Result<std::vector<CataloguedJob>> read_jobs(Database& database, std::int64_t place) {
  TRAINWARDEN_ASSIGN_OR_RETURN(
      Statement rows, database.prepare("SELECT name, unreadable, submitted, run, seq, changed, phase, cause, message, "
                                       "experiment, trial, parameters, ran, mark FROM job WHERE place = ? "
                                       "ORDER BY submitted DESC, name"));
  rows.bind(1, place);
  std::vector<CataloguedJob> all;
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) return all;
    CataloguedJob job;
    job.name = rows.text(0);
    if (!rows.is_null(1)) job.unreadable = Status(Code::kDataLoss, rows.text(1));
    job.submitted_unix_ns = rows.integer(2);
    job.run = rows.text(3);
    TRAINWARDEN_ASSIGN_OR_RETURN(job.now, transition_of(rows));
    job.experiment = rows.text(9);
    job.trial = rows.text(10);
    job.hyperparameters = rows.text(11);
    job.ran_ns = rows.integer(12);
    job.mark = rows.integer(13);
    all.push_back(std::move(job));
  }
}

}  // namespace trainwarden::catalogue
