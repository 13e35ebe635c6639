// Standing subscriptions as a courier takes them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "react/actions/action_kind.h"
#include "react/delivery/subscription.h"
#include "trainwarden/status.h"
#include "work/job_events/subscription_folder.h"

namespace trainwarden::job_events {

// Which actions there are for jobs: of those of runs the ones that need no run, and "stop" for the job. `jobs`: their
// folder.
std::vector<actions::ActionKind> kinds_for_jobs(const std::vector<actions::ActionKind>& kinds,
                                                const std::filesystem::path& jobs);

// kInvalidArgument with what is wrong with it, as delivery::subscribe().
Result<delivery::Subscription> subscribe_standing(const StandingSubscription& standing,
                                                  const std::vector<actions::ActionKind>& kinds_for_jobs,
                                                  const SubscriptionFolder& folder);

}  // namespace trainwarden::job_events
