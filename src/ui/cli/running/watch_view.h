// WatchView: what a person sees of a run that is being judged.
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <string>
#include <utility>

#include "judge/rules/engine.h"
#include "react/delivery/courier.h"
#include "react/events/delivery_record.h"
#include "react/events/event.h"
#include "trainwarden/trial.h"
#include "ui/cli/terminal/status_line.h"
#include "work/launch/observer.h"

namespace trainwarden::cli {

// How much is printed while it goes on.
enum class Chatter {
  kVerdicts,  // a line for each verdict and action
  kProgress,  // and where the training is: one line that is rewritten on a terminal, else one every few seconds
};

// Used by one thread: the one that judges.
class WatchView : public launch::Observer {
 public:
  WatchView(std::FILE* stream, Chatter chatter);

  void on_verdict(const rules::VerdictRecord& verdict) override;
  void on_delivery(const events::DeliveryRecord& delivery, const events::Event& event) override;
  void on_note(const std::string& text) override { line_.print(text); }
  // Cheap when it is too early for another look.
  void on_progress(Trial& trial, const rules::Engine& engine) override;
  void on_end() override { line_.clear(); }

 private:
  bool is_time(std::int64_t now_ns);
  double steps_per_second(std::int64_t step, std::int64_t now_ns);

  StatusLine line_;
  Chatter chatter_;
  std::int64_t interval_ns_;
  std::int64_t next_ns_ = 0;
  std::int64_t printed_step_ = -1;
  std::deque<std::pair<std::int64_t, std::int64_t>> recent_;  // step and when, of the last seconds
};

// "stop: VanishingGradient fired at step 120 (train 100): accepted after 5 ms"
std::string delivery_text(const events::DeliveryRecord& delivery, const events::Event& event);
// Says on standard error what is still to be delivered, and how; nothing when all is.
void print_backlog(const std::filesystem::path& run, const delivery::Backlog& backlog);
// "step 120 (train 100)  34.2 steps/s  loss 0.412  rules: 2 ok, ExplodingTensor FIRED"
std::string progress_text(Trial& trial, const std::vector<rules::RuleStatusRecord>& statuses, double steps_per_second);

}  // namespace trainwarden::cli
