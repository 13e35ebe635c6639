// RunListener: hears what a training answers, without keeping the run's ledger.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "react/actions/run_context.h"
#include "react/watch/run_pipeline.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::watch {

// One thread at a time.
class RunListener {
 public:
  // `wanted` is for the message when requests are of no use there: "a request to stop". `idle` is called at each look;
  // it may be null. kNotFound when there is no run, kFailedPrecondition when another recorder wrote it.
  static Result<std::unique_ptr<RunListener>> open(const storage::Location& run, std::string_view wanted,
                                                   std::function<void()> idle);

  // To this request, as of now.
  Result<actions::RunAnswer> answer_to(const format::RequestId& request);
  // TrainingJobStatus as of the last answer_to(), as `describe` shows it: "InProgress".
  Result<std::string> status() const;
  // For actions that run in this thread; valid as long as this object.
  actions::RunContext context();

 private:
  RunListener(std::unique_ptr<Trial> trial, std::function<void()> idle)
      : trial_(std::move(trial)), idle_(std::move(idle)) {}

  const std::unique_ptr<Trial> trial_;
  const std::function<void()> idle_;
  std::unique_ptr<RunPipeline> pipeline_;  // its ledger in memory: the true one may be another's
};

}  // namespace trainwarden::watch
