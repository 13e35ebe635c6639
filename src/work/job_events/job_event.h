// Each transition of a job as an event. It follows from the job's order and its transitions alone, so that whoever
// makes it makes the same one: same id, same text. Nothing is written when a job moves on but the transition itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/format/json.h"
#include "react/events/event.h"
#include "work/jobs/job_order.h"
#include "work/jobs/job_state.h"

namespace trainwarden::job_events {

// Tells the job from one that is submitted under its name later: name and time of its submission, [a-z0-9-], 80 bytes
// at most. An event's id and key are this, a hyphen and its number.
std::string job_identity(const jobs::JobOrder& order);

// The events of one job. The order is read once.
class JobEventMaker {
 public:
  explicit JobEventMaker(const jobs::JobOrder& order);

  // That of all[place], after those before it; its seq is that of the transition. Hyper-parameters with the name or the
  // look of a secret are masked.
  events::Event event(const std::vector<jobs::Transition>& all, std::size_t place) const;

 private:
  format::OrderedJson data(const std::vector<jobs::Transition>& all, std::size_t place) const;

  jobs::JobOrder order_;
  std::string identity_;
  format::OrderedJson request_;  // what was asked for: "HyperParameters", "InputDataConfig", ...
};

}  // namespace trainwarden::job_events
