// Observer: who wants to hear of a program that is launched, or of a run that is judged, while it goes on.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "core/process/exit_record.h"
#include "judge/rules/engine.h"
#include "judge/rules/verdict_record.h"
#include "react/events/delivery_record.h"
#include "react/events/event.h"
#include "trainwarden/trial.h"

namespace trainwarden::launch {

// Each does nothing unless it is overridden. All but the first two come from the thread that judges, one at a time:
// what takes long delays the next verdict. None may throw.
class Observer {
 public:
  virtual ~Observer() = default;

  // The program runs as this process; its run may not be there yet. From the thread that launches, before all others.
  virtual void on_start(const std::filesystem::path& run, pid_t program) {
    static_cast<void>(run);
    static_cast<void>(program);
  }
  // The program has ended, and its run is judged to its end afterwards. From the same thread.
  virtual void on_program_end(const process::ExitRecord& exit) { static_cast<void>(exit); }
  // Each change of the run and of a rule, and each alert, from the run's first on: also those that an earlier process
  // has recorded.
  virtual void on_event(const events::Event& event) { static_cast<void>(event); }
  virtual void on_verdict(const rules::VerdictRecord& verdict) { static_cast<void>(verdict); }  // fired, or failed
  virtual void on_delivery(const events::DeliveryRecord& delivery, const events::Event& event) {
    static_cast<void>(delivery);
    static_cast<void>(event);
  }
  virtual void on_note(const std::string& text) { static_cast<void>(text); }  // for people: a line
  // After each look at the run, many times a second.
  virtual void on_progress(Trial& trial, const rules::Engine& engine) {
    static_cast<void>(trial);
    static_cast<void>(engine);
  }
  // Nothing follows: everything is judged and delivered, or was left off.
  virtual void on_end() {}
};

}  // namespace trainwarden::launch
