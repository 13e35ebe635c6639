// WatchSession: judges a live run in a thread of its own, and stops the training when that was asked for.
#pragma once

#include <atomic>
#include <filesystem>
#include <future>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "actions/by_verdict/dispatcher.h"
#include "cli/rule_report.h"
#include "cli/watch_view.h"
#include "storage/storage.h"
#include "trainwarden/trial.h"

namespace trainwarden::cli {

struct WatchPlan {
  std::filesystem::path run;
  std::vector<rules::EngineRule> rules;
  std::vector<std::string> mute;  // keys of verdicts that nobody is to be alarmed about
  bool stop_on_fire = false;
};

// What came of it.
struct WatchResult {
  Status status;  // of reading the run; kNotFound when it never appeared
  RuleReport report;
  std::string journal;  // "watch-0"; "" when none could be written
  bool stop_requested = false;
  bool run_ended = false;  // and everything was judged
};

class WatchSession {
 public:
  // Starts at once; waits for the run to appear. `view` must outlive the session, and is the thread's until result().
  WatchSession(WatchPlan plan, WatchView& view);
  ~WatchSession();
  WatchSession(const WatchSession&) = delete;
  WatchSession& operator=(const WatchSession&) = delete;

  // The run has ended and was judged, or judging it failed.
  bool done() const;
  // Every step that there is was judged.
  bool caught_up() const { return caught_up_; }
  // No more steps are to be expected: a run that has not appeared by now never will.
  void program_ended() { program_ended_ = true; }
  // Leaves off where it is. Once.
  WatchResult result();

 private:
  void work(const std::stop_token& stop);
  Status await_run(const std::stop_token& stop);
  void judge(const std::stop_token& stop);
  void set_up_actions();
  void act_on(const rules::VerdictRecord& verdict, const std::stop_token& stop);

  WatchPlan plan_;
  WatchView& view_;
  std::atomic<bool> program_ended_ = false;
  std::atomic<bool> caught_up_ = false;

  // The thread's until it has ended.
  std::unique_ptr<storage::Storage> storage_;
  std::unique_ptr<Trial> trial_;
  std::unique_ptr<rules::Engine> engine_;
  std::unique_ptr<actions::by_verdict::Dispatcher> dispatcher_;
  WatchResult result_;

  std::promise<void> ended_;
  std::future<void> ended_future_ = ended_.get_future();
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace trainwarden::cli
