// Catalogue: what the folders of jobs and experiments hold, as tables that can be searched quickly.
//
// The folders are the truth. Each reading call first reads what has changed in them, so that no process has to keep the
// catalogue; it can be removed at any time. It holds names, states, parameters and summaries, and never points, logs or
// tensors. No header but this one and those of its rows is for others, so that another database can take SQLite's
// place.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/catalogue/component_rows.h"
#include "work/catalogue/component_table.h"
#include "work/catalogue/job_table.h"
#include "work/catalogue/lineage_query.h"
#include "work/catalogue/metric_table.h"
#include "work/catalogue/run_table.h"

namespace trainwarden::catalogue {

inline constexpr std::chrono::milliseconds kAnyTime = std::chrono::hours(24);

// Many processes may use the same catalogue; of one object, one thread at a time. Codes of all calls:
// kFailedPrecondition (another program's database lies there), and those of the folders. Damage is no error: the
// catalogue is made anew. Nor is a full disk, or another process that has been writing for long: the catalogue lies in
// memory from then on. A note says so.
class Catalogue {
 public:
  // In a folder of its own, which is made. Where it cannot be, the catalogue lies in memory, and a note says so.
  static Result<Catalogue> open(const std::filesystem::path& folder);
  // Throws away what is there before.
  static Result<Catalogue> make_anew(const std::filesystem::path& folder);

  Catalogue(Catalogue&&) noexcept;
  Catalogue& operator=(Catalogue&&) noexcept;
  ~Catalogue();

  // What was found and done beside what was asked, for people; since the last call.
  std::vector<std::string> take_notes();

  // The jobs in the folder, as they are now, the newest first. None when there is no such folder.
  Result<std::vector<CataloguedJob>> jobs(const storage::Location& jobs, const SettleJob& settle);

  // What those jobs have measured so far, by the name of the job. `jobs` as jobs() returned them.
  Result<OwnedMetrics> metrics_of_jobs(const storage::Location& folder, const std::vector<CataloguedJob>& jobs,
                                       const ReadMetrics& read, std::chrono::milliseconds patience = kAnyTime);

  // The runs in the folder, as they are now, by name. kNotFound when there is no such folder.
  Result<std::vector<CataloguedRun>> runs(const storage::Location& runs, const ReadListedRun& read);
  // What they have measured, by the name of the run.
  Result<OwnedMetrics> metrics_of_runs(const storage::Location& folder, const std::vector<CataloguedRun>& runs,
                                       const ReadMetrics& read, std::chrono::milliseconds patience = kAnyTime,
                                       const Clock& clock = system_clock());

  // The experiments in the folder, the newest first, and the trials of one. None when there is no such folder.
  Result<std::vector<CataloguedExperiment>> experiments(const experiments::ExperimentStore& store);
  Result<std::vector<experiments::TrialInfo>> trials(const experiments::ExperimentStore& store,
                                                     const std::string& experiment);
  // The components that meet the condition, kMostComponents at most. kInvalidArgument for a search that is none.
  Result<std::vector<FoundComponent>> components(const experiments::ExperimentStore& store,
                                                 const SearchExpression& expression, const SortChoice& sort,
                                                 std::size_t most);
  // What led to a thing, and what came of it. kNotFound when nothing is known of it.
  Result<Lineage> lineage(const experiments::ExperimentStore& store, const std::string& start,
                          LineageDirection direction, int depth);
  // Artifacts whose node begins so, three at most.
  Result<std::vector<std::string>> artifacts_like(const experiments::ExperimentStore& store,
                                                  const std::string& beginning);

 private:
  struct Parts;
  explicit Catalogue(std::unique_ptr<Parts> parts);
  template <class Answer>
  Result<Answer> ask_experiments(const experiments::ExperimentStore& store,
                                 const std::function<Result<Answer>(Database&, std::int64_t place)>& question);
  template <class Answer>
  Result<Answer> ask(const std::function<Result<Answer>(Database&)>& question);
  template <class Answer>
  Result<Answer> ask_in_memory(const std::function<Result<Answer>(Database&)>& question, const Status& why);

  std::unique_ptr<Parts> parts_;
};

}  // namespace trainwarden::catalogue
