// TrialRunner: what trials run by.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "tune/search/history.h"
#include "tune/study/study.h"

namespace trainwarden::tune {

// A trial as it stands.
struct TrialLook {
  std::map<std::string, std::vector<Intermediate>> series;  // by metric, all so far; steps rise
  // It has ended by itself. Metrics of a complete one that are missing here are the last of their series.
  std::optional<TrialEnd> end;
  // It has ended because stop() asked for it, and go_on() may go on with it.
  bool was_stopped = false;
  // Why it is hopeless whatever its metrics say: what a diagnosis found. Empty: it is not.
  std::string verdict;
  // Names of metrics that it has, where one that is needed is not among them.
  std::vector<std::string> known;
};

// One thread at a time.
class TrialRunner {
 public:
  virtual ~TrialRunner() = default;
  // Starts what runs with these values under this name. kAlreadyExists: it was started before, and goes on. Any other
  // error ends the trial.
  virtual Status start(const std::string& job, const TriedValues& values) = 0;
  // kNotFound: it was never started. Any other error is told, and it is looked at again.
  virtual Result<TrialLook> look(const std::string& job) = 0;
  // Of the code and data that a trial would run with now (tune/study/repeats.h); empty: one runner has one program.
  virtual std::string fingerprint() { return {}; }
  // Asks for its end, and does not wait for it: a program has time for a last checkpoint.
  virtual Status stop(const std::string& job, const std::string& why) = 0;
  // Goes on from its last checkpoint with what was stopped.
  virtual Status go_on(const std::string& job, const std::string& why) = 0;
};

}  // namespace trainwarden::tune
