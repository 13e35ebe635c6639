// WorkDesk: the jobs, experiments and studies that the page shows beside the runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "ui/answers/route.h"
#include "ui/work_answers/open_studies.h"
#include "ui/work_answers/shared_catalogue.h"
#include "work/catalogue/job_table.h"
#include "work/catalogue/metric_table.h"
#include "work/experiments/experiment_store.h"
#include "work/jobs/job_record.h"

namespace trainwarden::work_answers {

struct WorkPlaces {
  storage::Location jobs;
  std::filesystem::path job_catalogue;  // the folder of the catalogue that has them
  storage::Location experiments;
  std::filesystem::path experiment_catalogue;
  storage::Location studies;
};

// What only the program can do, which knows the backends and starts processes. Called from many threads at once.
struct JobActions {
  // Begins a look: what it returns says where jobs stand from now on, and is used once.
  std::function<catalogue::SettleJob()> settling;
  // `message` becomes that of the transition. Errors as of JobRecord::request_stop() and resume().
  std::function<Result<jobs::Transition>(jobs::JobRecord& job, const std::string& message)> stop;
  std::function<Result<jobs::Transition>(jobs::JobRecord& job, const std::string& message)> resume;
  // Sees to it that jobs that wait for their turn are looked after. May be empty.
  std::function<void()> tend;
};

struct JobList {
  std::vector<catalogue::CataloguedJob> jobs;
  catalogue::OwnedMetrics metrics;
};

// All methods may be called from many threads at once.
class WorkDesk {
 public:
  WorkDesk(WorkPlaces places, JobActions actions);

  const WorkPlaces& places() const { return places_; }
  const JobActions& actions() const { return actions_; }

  // The newest first, as they were within the last half second: many pages ask every few seconds.
  Result<std::shared_ptr<const JobList>> jobs();
  // One of them, as it stands now.
  struct JobNow {
    jobs::JobRecord record;
    std::vector<jobs::Transition> transitions;  // the last says why it waits when it does
  };
  Result<JobNow> job(const std::string& name) const;  // errors of JobRecord::open()
  void forget_jobs();                                 // somebody has changed one

  const experiments::ExperimentStore& experiments() const { return experiments_; }
  SharedCatalogue& experiment_catalogue() { return experiment_catalogue_; }
  OpenStudies& studies() { return studies_; }

 private:
  Result<JobList> look();
  void add_reasons(std::vector<catalogue::CataloguedJob>& jobs) const;

  const WorkPlaces places_;
  const JobActions actions_;
  SharedCatalogue job_catalogue_;
  std::mutex jobs_mutex_;
  std::shared_ptr<const JobList> jobs_;
  std::int64_t looked_ns_ = 0;  // steady clock
  std::int64_t tended_ns_ = 0;
  const experiments::ExperimentStore experiments_;
  SharedCatalogue experiment_catalogue_;
  OpenStudies studies_;
};

// Their addresses; `desk` must outlive them.
std::vector<answers::Route> job_routes(WorkDesk& desk);         // job_routes.cc
std::vector<answers::Route> experiment_routes(WorkDesk& desk);  // experiment_routes.cc: and lineage
std::vector<answers::Route> study_routes(WorkDesk& desk);       // study_routes.cc

// All of them, as areas of a server.
std::vector<answers::Area> work_areas(WorkDesk& desk);

}  // namespace trainwarden::work_answers
