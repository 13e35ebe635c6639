// `trainwarden events --job NAME`: what became of a job. Its transitions are the events: nothing has to be recorded.
#pragma once

#include "ui/cli/options/event_filter.h"
#include "ui/cli/options/job_choice.h"

namespace trainwarden::cli {

// How events are shown.
struct EventForm {
  const EventChoice& choice;
  bool follow = false;  // until the job has ended
  bool raw = false;
  bool json = false;
};

int show_events_of_job(const JobChoice& job, const EventFilter& filter, const EventForm& form);

}  // namespace trainwarden::cli
