#include "work/catalogue/component_table.h"

#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "work/catalogue/folder_changes.h"
#include "work/catalogue/marked_table.h"
#include "work/experiments/lineage.h"
#include "work/jobs/job_record.h"

namespace trainwarden::catalogue {
namespace {

using experiments::Component;
using experiments::ComponentRecord;
using experiments::ExperimentStore;

constexpr std::size_t kComponentsInTransaction = 500;
constexpr std::string_view kJsonEnding = ".json";
constexpr std::size_t kMaxUnreadText = 1000;

// The tables that belong to a component.
constexpr const char* kParts[] = {"component_trial", "parameter", "metric", "artifact", "tag"};

struct SeenComponent {
  Component component;
  std::int64_t mark = 0;
};

// The files NAME.json of a folder, compared with a table of them.
Result<FolderChanges> file_changes(Database& database, const char* table, std::int64_t place,
                                   const storage::Storage& storage, const char* folder) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto files, entries_of(storage, folder, storage::FileInfo::Kind::kFile));
  std::erase_if(files, [](const storage::Entry& file) { return !file.name.ends_with(kJsonEnding); });
  for (storage::Entry& file : files) file.name.resize(file.name.size() - kJsonEnding.size());
  TRAINWARDEN_ASSIGN_OR_RETURN(KnownMarks known, known_marks(database, table, place));
  return compare(files, std::move(known));
}

Status put_experiment(Database& database, std::int64_t place, const ExperimentStore& store, const MarkedName& changed) {
  const auto info = store.read_experiment(changed.name);
  if (!info.ok() || info->name != changed.name) return forget(database, "experiment", place, {changed.name});
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement put, database.prepare("REPLACE INTO experiment VALUES(?, ?, ?, ?, ?, ?)"));
  put.bind(1, place).bind(2, info->name).bind(3, changed.mark).bind(4, info->display_name);
  return put.bind(5, info->description).bind(6, info->created_unix_ns).run();
}

Status put_trial(Database& database, std::int64_t place, const ExperimentStore& store, const MarkedName& changed) {
  const auto info = store.read_trial(changed.name);
  if (!info.ok() || info->name != changed.name) return forget(database, "trial", place, {changed.name});
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement put, database.prepare("REPLACE INTO trial VALUES(?, ?, ?, ?, ?, ?)"));
  put.bind(1, place).bind(2, info->name).bind(3, changed.mark).bind(4, info->experiment);
  return put.bind(5, info->display_name).bind(6, info->created_unix_ns).run();
}

Status put_association(Database& database, std::int64_t place, const ExperimentStore& store,
                       const MarkedName& changed) {
  const auto found = experiments::read_association(store, changed.name);
  if (!found.ok()) return forget(database, "association", place, {changed.name});
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement put, database.prepare("REPLACE INTO association VALUES(?, ?, ?, ?, ?, ?)"));
  put.bind(1, place).bind(2, changed.name).bind(3, changed.mark).bind(4, found->source);
  return put.bind(5, found->destination).bind(6, found->type).run();
}

using PutFile = Status (*)(Database&, std::int64_t, const ExperimentStore&, const MarkedName&);

Status update_files(Database& database, const char* table, std::int64_t place, const ExperimentStore& store,
                    const char* folder, PutFile put_file) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const FolderChanges changes,
                               file_changes(database, table, place, store.folder().storage(), folder));
  if (changes.changed.empty() && changes.gone.empty()) return Status();
  TRAINWARDEN_ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(database));
  for (const MarkedName& changed : changes.changed) {
    TRAINWARDEN_RETURN_IF_ERROR(put_file(database, place, store, changed));
  }
  TRAINWARDEN_RETURN_IF_ERROR(forget(database, table, place, changes.gone));
  return transaction.commit();
}

// Binds "NULL" for a number that is none: SQLite has no NaN.
Statement& bind_number(Statement& statement, int place, double number) {
  return std::isnan(number) ? statement.bind_null(place) : statement.bind(place, number);
}

Status put_trials_and_tags(Database& database, std::int64_t id, const ComponentRecord& record) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement trial, database.prepare("INSERT INTO component_trial VALUES(?, ?)"));
  for (const std::string& name : record.trials) TRAINWARDEN_RETURN_IF_ERROR(trial.bind(1, id).bind(2, name).run());
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement tag, database.prepare("INSERT INTO tag VALUES(?, ?, ?)"));
  for (const auto& [name, value] : record.tags) {
    TRAINWARDEN_RETURN_IF_ERROR(tag.bind(1, id).bind(2, name).bind(3, value).run());
  }
  return Status();
}

Status put_parameters(Database& database, std::int64_t id, const ComponentRecord& record) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement put, database.prepare("INSERT INTO parameter VALUES(?, ?, ?, ?)"));
  for (const auto& [name, value] : record.parameters) {
    put.bind(1, id).bind(2, name).bind_null(3).bind_null(4);
    if (const double* const number = std::get_if<double>(&value)) {
      put.bind(3, *number);
    } else {
      put.bind(4, std::get<std::string>(value));
    }
    TRAINWARDEN_RETURN_IF_ERROR(put.run());
  }
  return Status();
}

Status put_metrics(Database& database, std::int64_t id, const ComponentRecord& record) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement put,
                               database.prepare("INSERT INTO metric VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  for (const auto& [name, summary] : record.metrics) {
    put.bind(1, id).bind(2, name);
    put.bind(3, static_cast<std::int64_t>(summary.count)).bind(4, static_cast<std::int64_t>(summary.finite));
    int place = 5;
    for (const double number : {summary.min, summary.max, summary.mean, summary.m2, summary.deviation()}) {
      summary.finite == 0 ? put.bind_null(place) : bind_number(put, place, number);
      ++place;
    }
    bind_number(put, 10, summary.last).bind(11, summary.last_unix_ns);
    TRAINWARDEN_RETURN_IF_ERROR(put.run());
  }
  return Status();
}

Status put_artifacts(Database& database, std::int64_t id, bool is_output,
                     const std::map<std::string, experiments::ArtifactUse>& artifacts) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement put,
                               database.prepare("INSERT INTO artifact VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  for (const auto& [name, use] : artifacts) {
    put.bind(1, id).bind(2, std::int64_t{is_output}).bind(3, name).bind(4, use.uri).bind(5, use.media_type);
    put.bind(6, use.type).bind(7, use.hash);
    use.bytes ? put.bind(8, static_cast<std::int64_t>(*use.bytes)) : put.bind_null(8);
    TRAINWARDEN_RETURN_IF_ERROR(put.bind(9, use.note).bind(10, experiments::node_of(use)).run());
  }
  return Status();
}

Result<std::int64_t> component_id(Database& database, std::int64_t place, const std::string& name) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement find,
                               database.prepare("SELECT id FROM component WHERE place = ? AND name = ?"));
  find.bind(1, place).bind(2, name);
  TRAINWARDEN_ASSIGN_OR_RETURN(const bool found, find.step());
  return found ? find.integer(0) : std::int64_t{0};
}

Status drop_parts(Database& database, std::int64_t id) {
  for (const char* const table : kParts) {
    TRAINWARDEN_ASSIGN_OR_RETURN(Statement drop,
                                 database.prepare(fmt::format("DELETE FROM {} WHERE component = ?", table)));
    TRAINWARDEN_RETURN_IF_ERROR(drop.bind(1, id).run());
  }
  return Status();
}

std::string unread_text(const std::vector<std::string>& unread) {
  std::string text;
  for (const std::string& why : unread) text += (text.empty() ? "" : "; ") + why;
  if (text.size() > kMaxUnreadText) text = text.substr(0, kMaxUnreadText) + "...";
  return with_valid_utf8(text);
}

Status put_row(Database& database, std::int64_t place, const SeenComponent& seen) {
  const ComponentRecord& now = seen.component.now;
  TRAINWARDEN_ASSIGN_OR_RETURN(
      Statement put, database.prepare("INSERT INTO component(place, name, mark, display, run_name, source, status, "
                                      "message, began, ended, created, changed, unread) "
                                      "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  put.bind(1, place).bind(2, seen.component.name).bind(3, seen.mark).bind(4, now.display_name).bind(5, now.run_name);
  put.bind(6, now.source).bind(7, now.status).bind(8, now.message);
  now.start_unix_ns ? put.bind(9, *now.start_unix_ns) : put.bind_null(9);
  now.end_unix_ns ? put.bind(10, *now.end_unix_ns) : put.bind_null(10);
  put.bind(11, seen.component.created_unix_ns).bind(12, now.unix_ns).bind(13, unread_text(seen.component.unread));
  return put.run();
}

Status put_component(Database& database, std::int64_t place, const SeenComponent& seen) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t old, component_id(database, place, seen.component.name));
  if (old != 0) TRAINWARDEN_RETURN_IF_ERROR(drop_parts(database, old));
  TRAINWARDEN_RETURN_IF_ERROR(forget(database, "component", place, {seen.component.name}));
  TRAINWARDEN_RETURN_IF_ERROR(put_row(database, place, seen));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t id, component_id(database, place, seen.component.name));
  const ComponentRecord& now = seen.component.now;
  TRAINWARDEN_RETURN_IF_ERROR(put_trials_and_tags(database, id, now));
  TRAINWARDEN_RETURN_IF_ERROR(put_parameters(database, id, now));
  TRAINWARDEN_RETURN_IF_ERROR(put_metrics(database, id, now));
  TRAINWARDEN_RETURN_IF_ERROR(put_artifacts(database, id, false, now.inputs));
  return put_artifacts(database, id, true, now.outputs);
}

// Where its job stands is the job's to say, which may go on after its end unless it is Completed. True: look again.
bool follow_job(ComponentRecord& now) {
  if (now.source.empty() || now.status == "Completed") return false;
  const std::filesystem::path folder = now.source;
  if (!folder.is_absolute()) return false;
  const auto job = jobs::JobRecord::open(folder.parent_path(), folder.filename().string());
  if (!job.ok()) return now.status == "InProgress";
  const auto standing = job->current();
  if (!standing.ok()) return true;
  now.status = std::string(name(jobs::status_of(standing->status)));
  now.message = with_valid_utf8(standing->message).substr(0, experiments::kMaxMessage);
  if (jobs::is_terminal(standing->status)) now.end_unix_ns = standing->unix_ns;
  return true;
}

Status write_components(Database& database, std::int64_t place, std::span<const SeenComponent> all) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(database));
  for (const SeenComponent& seen : all) TRAINWARDEN_RETURN_IF_ERROR(put_component(database, place, seen));
  return transaction.commit();
}

Status forget_components(Database& database, std::int64_t place, const std::vector<std::string>& gone) {
  if (gone.empty()) return Status();
  TRAINWARDEN_ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(database));
  for (const std::string& name : gone) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t id, component_id(database, place, name));
    TRAINWARDEN_RETURN_IF_ERROR(drop_parts(database, id));
  }
  TRAINWARDEN_RETURN_IF_ERROR(forget(database, "component", place, gone));
  return transaction.commit();
}

Status update_components(Database& database, std::int64_t place, const ExperimentStore& store) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto folders, entries_of(store.folder().storage(), experiments::kComponentsFolder,
                                                        storage::FileInfo::Kind::kFolder));
  std::erase_if(folders, [](const storage::Entry& folder) { return !experiments::is_entity_name(folder.name); });
  TRAINWARDEN_ASSIGN_OR_RETURN(KnownMarks known, known_marks(database, "component", place));
  FolderChanges changes = compare(folders, std::move(known));
  std::vector<SeenComponent> seen;
  for (const auto& [name, mark] : changes.changed) {
    Result<Component> component = store.read_component(name);
    if (!component.ok()) {
      changes.gone.push_back(name);
      continue;
    }
    const bool follows = follow_job(component->now);
    seen.push_back({*std::move(component), follows ? 0 : mark});
    if (seen.size() < kComponentsInTransaction) continue;
    TRAINWARDEN_RETURN_IF_ERROR(write_components(database, place, seen));
    seen.clear();
  }
  if (!seen.empty()) TRAINWARDEN_RETURN_IF_ERROR(write_components(database, place, seen));
  return forget_components(database, place, changes.gone);
}

}  // namespace

Status update_experiments(Database& database, std::int64_t place, const ExperimentStore& store) {
  TRAINWARDEN_RETURN_IF_ERROR(
      update_files(database, "experiment", place, store, experiments::kExperimentsFolder, put_experiment));
  TRAINWARDEN_RETURN_IF_ERROR(update_files(database, "trial", place, store, experiments::kTrialsFolder, put_trial));
  TRAINWARDEN_RETURN_IF_ERROR(
      update_files(database, "association", place, store, experiments::kAssociationsFolder, put_association));
  return update_components(database, place, store);
}

Result<std::vector<CataloguedExperiment>> read_experiments(Database& database, std::int64_t place) {
  TRAINWARDEN_ASSIGN_OR_RETURN(
      Statement rows,
      database.prepare("SELECT e.name, e.display, e.description, e.created, "
                       "(SELECT count(*) FROM trial t WHERE t.place = e.place AND t.experiment = e.name), "
                       "(SELECT count(DISTINCT c.id) FROM trial t JOIN component_trial ct ON ct.trial = t.name "
                       "JOIN component c ON c.id = ct.component AND c.place = e.place "
                       "WHERE t.place = e.place AND t.experiment = e.name) "
                       "FROM experiment e WHERE e.place = ? ORDER BY e.created DESC, e.name"));
  rows.bind(1, place);
  std::vector<CataloguedExperiment> all;
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) return all;
    all.push_back({{rows.text(0), rows.text(1), rows.text(2), rows.integer(3), {}}, rows.integer(4), rows.integer(5)});
  }
}

Result<std::vector<experiments::TrialInfo>> read_trials(Database& database, std::int64_t place,
                                                        const std::string& experiment) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement rows,
                               database.prepare("SELECT name, display, created FROM trial "
                                                "WHERE place = ? AND experiment = ? ORDER BY created, name"));
  rows.bind(1, place).bind(2, experiment);
  std::vector<experiments::TrialInfo> all;
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) return all;
    all.push_back({rows.text(0), experiment, rows.text(1), rows.integer(2)});
  }
}

}  // namespace trainwarden::catalogue
