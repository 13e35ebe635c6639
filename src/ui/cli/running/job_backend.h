// JobBackend: who runs jobs. Outside of this file and those of the backends, nobody knows which there are.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"
#include "work/jobs/backend.h"
#include "work/jobs/job_record.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::cli {

// One thread at a time.
class JobBackend {
 public:
  virtual ~JobBackend() = default;
  // For messages: "on this machine".
  virtual std::string_view where() const = 0;
  // Of what this job says, the keys that nothing is done about yet.
  virtual std::vector<std::string> not_done_yet(const jobs::JobSpec& spec) const = 0;

  // Before the job is made in `jobs`, the whole path of the folder of jobs: completes its order.
  virtual Status prepare(const jobs::JobSpec& spec, const std::filesystem::path& jobs, jobs::JobOrder& order) = 0;
  // Just before the job is there, its order whole: what has to be there first.
  virtual Status announce(const std::filesystem::path& /*jobs*/, const jobs::JobOrder&) { return {}; }
  // The job could not be made: takes that back. Another one may have its name.
  virtual void withdraw(const std::filesystem::path& /*jobs*/, const jobs::JobOrder&) {}
  // A job that was made just now begins, or waits for its turn. When it is refused it has failed, and the error says
  // why. kUnavailable when nobody knows whether it was taken: settle() will tell.
  virtual Status submit(jobs::JobRecord& job, const jobs::JobSpec& spec) = 0;
  // Where it stands now. Of a job that waits the message may say why, which is not written down.
  virtual Result<jobs::Transition> settle(jobs::JobRecord& job) = 0;
  // Asks it to stop, and says where it stands then. Again is fine.
  virtual Result<jobs::Transition> stop(jobs::JobRecord& job, const std::string& message) = 0;
  // The next attempt of a job that has ended. Errors as those of JobRecord::resume() and submit().
  virtual Result<jobs::Transition> resume(jobs::JobRecord& job, const std::string& message) = 0;
  // Starts again what has to live for the job to go on, when it does not.
  virtual Status keep(const jobs::JobRecord& job) = 0;

  // Whether its jobs run a copy of the sources that lies on this machine.
  virtual bool copies_sources() const { return true; }
  // Before a job that has ended is removed here: what of it lies elsewhere.
  virtual Status remove(const jobs::JobRecord&) { return {}; }
};

// All backends, each made when it is needed first. One thread at a time.
class JobBackends {
 public:
  JobBackend& of(jobs::Backend backend);
  Result<jobs::Transition> settle(jobs::JobRecord& job);
  // For commands that only look, and so that somebody delivers its events to who has subscribed: what is wrong is a
  // warning.
  void keep(const jobs::JobRecord& job);

 private:
  std::array<std::unique_ptr<JobBackend>, jobs::kBackendNames.size()> made_;
};

}  // namespace trainwarden::cli
