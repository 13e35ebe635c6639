// Judging: a live run is judged in a thread of its own, and what follows is delivered.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "react/watch/rule_report.h"
#include "react/watch/run_watch.h"
#include "trainwarden/trial.h"
#include "work/launch/observer.h"

namespace trainwarden::launch {

struct JudgingPlan {
  std::filesystem::path run;
  std::vector<rules::EngineRule> rules;
  std::vector<std::string> mute;  // keys of verdicts that nobody is to be alarmed about
  watch::Subscribe subscribe;     // what follows; null: nothing
  bool asks_training = false;     // what follows writes requests into the run
  bool own_program = false;       // we have started the program, and learn how it ended
  double budget = 0;              // what capture and all beside it may take of the training's time; 0: no limit
};

// What came of it.
struct JudgingResult {
  Status status;  // of reading the run; kNotFound when it never appeared
  watch::RuleReport report;
  std::string journal;          // "watch-0"; "" when none could be written
  bool stop_requested = false;  // by an action, or it was stopped by somebody else
  bool run_ended = false;       // and everything was judged
  delivery::Backlog backlog;    // what is still to be delivered
};

class Judging {
 public:
  // Starts at once; waits for the run to appear. `observer` must outlive this object, and is the thread's until
  // result().
  Judging(JudgingPlan plan, Observer& observer);
  ~Judging();
  Judging(const Judging&) = delete;
  Judging& operator=(const Judging&) = delete;

  // The run has ended and was judged, or judging it failed.
  bool done() const;
  // Every step that there is was judged.
  bool caught_up() const { return caught_up_; }
  // Judging is over, and what follows is waited for.
  bool settling() const { return settling_; }
  // No more steps are to be expected: a run that has not appeared by now never will.
  void program_ended(const events::ProgramEnd& end);
  // Leaves off where it is. Once.
  JudgingResult result();

 private:
  void work(const std::stop_token& stop);
  Status await_run(const std::stop_token& stop);
  Status start();
  void judge(const std::stop_token& stop);
  bool is_over(const std::stop_token& stop) const;
  void settle(const std::stop_token& stop);
  void take_program_end();
  void pause(std::chrono::milliseconds interval, const std::stop_token& stop);
  void show_deliveries();

  JudgingPlan plan_;
  Observer& observer_;
  std::atomic<bool> caught_up_ = false;
  std::atomic<bool> settling_ = false;

  std::mutex mutex_;
  std::condition_variable_any ended_early_;                                   // program_ended_ was set
  std::optional<events::ProgramEnd> program_end_;                             // under mutex_
  std::vector<std::pair<events::DeliveryRecord, events::Event>> deliveries_;  // the same: not shown yet
  std::atomic<bool> program_ended_ = false;

  // The thread's until it has ended.
  std::unique_ptr<Trial> trial_;
  std::unique_ptr<watch::RunWatch> watch_;
  JudgingResult result_;

  std::promise<void> ended_;
  std::future<void> ended_future_ = ended_.get_future();
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace trainwarden::launch
