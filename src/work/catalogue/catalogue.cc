#include "work/catalogue/catalogue.h"

#include <utility>

#include "work/catalogue/catalogue_file.h"
#include "work/catalogue/database.h"

namespace trainwarden::catalogue {
namespace {

// The number of a folder whose rows the catalogue holds.
Result<std::int64_t> place_of(Database& database, const char* kind, const storage::Location& folder) {
  const std::string address = folder.absolute().address();
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement find, database.prepare("SELECT id FROM place WHERE kind = ? AND address = ?"));
  find.bind(1, kind).bind(2, address);
  TRAINWARDEN_ASSIGN_OR_RETURN(const bool found, find.step());
  if (found) return find.integer(0);
  TRAINWARDEN_ASSIGN_OR_RETURN(
      Statement add, database.prepare("INSERT INTO place(kind, address) VALUES(?, ?) ON CONFLICT DO NOTHING"));
  TRAINWARDEN_RETURN_IF_ERROR(add.bind(1, kind).bind(2, address).run());
  TRAINWARDEN_RETURN_IF_ERROR(find.step().status());
  return find.integer(0);
}

}  // namespace

struct Catalogue::Parts {
  std::filesystem::path folder;
  CatalogueFile file;
};

Catalogue::Catalogue(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Catalogue::Catalogue(Catalogue&&) noexcept = default;
Catalogue& Catalogue::operator=(Catalogue&&) noexcept = default;
Catalogue::~Catalogue() = default;

Result<Catalogue> Catalogue::open(const std::filesystem::path& folder) {
  TRAINWARDEN_ASSIGN_OR_RETURN(CatalogueFile file, open_catalogue_file(folder, is_on_network(folder)));
  return Catalogue(std::make_unique<Parts>(Parts{folder, std::move(file)}));
}

Result<Catalogue> Catalogue::make_anew(const std::filesystem::path& folder) {
  // Says whether it is ours to be thrown away.
  TRAINWARDEN_RETURN_IF_ERROR(open(folder).status());
  TRAINWARDEN_RETURN_IF_ERROR(remove_catalogue_file(folder));
  return open(folder);
}

std::vector<std::string> Catalogue::take_notes() {
  return std::exchange(parts_->file.notes, {});
}

// Once more when it is the file that is at fault.
template <class Answer>
Result<Answer> Catalogue::ask(const std::function<Result<Answer>(Database&)>& question) {
  Result<Answer> answer = question(parts_->file.database);
  const Code code = answer.status().code();
  if (code == Code::kUnavailable || code == Code::kResourceExhausted) {
    return ask_in_memory(question, answer.status());
  }
  if (code != Code::kDataLoss) return answer;
  TRAINWARDEN_ASSIGN_OR_RETURN(Database nothing, Database::open_in_memory());
  parts_->file.database = std::move(nothing);  // lets go of the damaged file
  TRAINWARDEN_RETURN_IF_ERROR(remove_catalogue_file(parts_->folder));
  TRAINWARDEN_ASSIGN_OR_RETURN(CatalogueFile anew, open_catalogue_file(parts_->folder, is_on_network(parts_->folder)));
  anew.notes.push_back("the catalogue is made anew: " + answer.status().message());
  parts_->file = std::move(anew);
  return question(parts_->file.database);
}

// The folder may as well be what cannot be reached: then the file stays.
template <class Answer>
Result<Answer> Catalogue::ask_in_memory(const std::function<Result<Answer>(Database&)>& question, const Status& why) {
  TRAINWARDEN_ASSIGN_OR_RETURN(CatalogueFile in_memory, open_catalogue_in_memory(why));
  Result<Answer> answer = question(in_memory.database);
  if (answer.ok()) parts_->file = std::move(in_memory);
  return answer;
}

Result<std::vector<CataloguedJob>> Catalogue::jobs(const storage::Location& jobs, const SettleJob& settle) {
  return ask<std::vector<CataloguedJob>>([&](Database& database) -> Result<std::vector<CataloguedJob>> {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t place, place_of(database, "jobs", jobs));
    TRAINWARDEN_RETURN_IF_ERROR(update_jobs(database, place, jobs, settle));
    return read_jobs(database, place);
  });
}

Result<OwnedMetrics> Catalogue::metrics_of_jobs(const storage::Location& folder, const std::vector<CataloguedJob>& jobs,
                                                const ReadMetrics& read, std::chrono::milliseconds patience) {
  std::vector<MetricOwner> owners;
  for (const CataloguedJob& job : jobs) {
    const bool may_have_some = job.unreadable.ok() && !job.run.empty() && job.now.seq > 1;
    if (may_have_some) owners.push_back({job.name, job.run, job.mark});
  }
  return ask<OwnedMetrics>([&](Database& database) -> Result<OwnedMetrics> {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t place, place_of(database, "jobs", folder));
    return current_metrics(database, place, owners, read, patience, system_clock());
  });
}

Result<std::vector<CataloguedRun>> Catalogue::runs(const storage::Location& runs, const ReadListedRun& read) {
  return ask<std::vector<CataloguedRun>>([&](Database& database) -> Result<std::vector<CataloguedRun>> {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t place, place_of(database, "runs", runs));
    TRAINWARDEN_RETURN_IF_ERROR(update_runs(database, place, runs, read));
    return read_runs(database, place);
  });
}

Result<OwnedMetrics> Catalogue::metrics_of_runs(const storage::Location& folder, const std::vector<CataloguedRun>& runs,
                                                const ReadMetrics& read, std::chrono::milliseconds patience,
                                                const Clock& clock) {
  std::vector<MetricOwner> owners;
  for (const CataloguedRun& run : runs) {
    if (run.unreadable.ok()) owners.push_back({run.name, folder.child(run.name), run.mark});
  }
  return ask<OwnedMetrics>([&](Database& database) -> Result<OwnedMetrics> {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t place, place_of(database, "runs", folder));
    return current_metrics(database, place, owners, read, patience, clock);
  });
}

template <class Answer>
Result<Answer> Catalogue::ask_experiments(
    const experiments::ExperimentStore& store,
    const std::function<Result<Answer>(Database&, std::int64_t place)>& question) {
  return ask<Answer>([&](Database& database) -> Result<Answer> {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t place, place_of(database, "experiments", store.folder()));
    TRAINWARDEN_RETURN_IF_ERROR(update_experiments(database, place, store));
    return question(database, place);
  });
}

Result<std::vector<CataloguedExperiment>> Catalogue::experiments(const experiments::ExperimentStore& store) {
  return ask_experiments<std::vector<CataloguedExperiment>>(store, read_experiments);
}

Result<std::vector<experiments::TrialInfo>> Catalogue::trials(const experiments::ExperimentStore& store,
                                                              const std::string& experiment) {
  return ask_experiments<std::vector<experiments::TrialInfo>>(
      store, [&](Database& database, std::int64_t place) { return read_trials(database, place, experiment); });
}

Result<std::vector<FoundComponent>> Catalogue::components(const experiments::ExperimentStore& store,
                                                          const SearchExpression& expression, const SortChoice& sort,
                                                          std::size_t most) {
  // A search that is none is found out before anything is read.
  TRAINWARDEN_RETURN_IF_ERROR(condition_of(expression).status());
  TRAINWARDEN_RETURN_IF_ERROR(sort_key_of(sort.property).status());
  return ask_experiments<std::vector<FoundComponent>>(store, [&](Database& database, std::int64_t place) {
    return find_components(database, place, expression, sort, most);
  });
}

Result<Lineage> Catalogue::lineage(const experiments::ExperimentStore& store, const std::string& start,
                                   LineageDirection direction, int depth) {
  return ask_experiments<Lineage>(store, [&](Database& database, std::int64_t place) {
    return query_lineage(database, place, start, direction, depth);
  });
}

Result<std::vector<std::string>> Catalogue::artifacts_like(const experiments::ExperimentStore& store,
                                                           const std::string& beginning) {
  return ask_experiments<std::vector<std::string>>(
      store, [&](Database& database, std::int64_t place) { return nodes_like(database, place, beginning); });
}

}  // namespace trainwarden::catalogue
