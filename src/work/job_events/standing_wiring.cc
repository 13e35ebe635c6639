#include "work/job_events/standing_wiring.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "react/delivery/wiring.h"
#include "work/job_events/job_stop_action.h"

namespace trainwarden::job_events {

std::vector<actions::ActionKind> kinds_for_jobs(const std::vector<actions::ActionKind>& kinds,
                                                const std::filesystem::path& jobs) {
  constexpr std::array<std::string_view, 4> kOfARun = {"stop", "save", "black-box", "profile"};
  std::vector<actions::ActionKind> all = {job_stop_kind(std::filesystem::absolute(jobs))};
  std::copy_if(kinds.begin(), kinds.end(), std::back_inserter(all), [&](const actions::ActionKind& kind) {
    return std::find(kOfARun.begin(), kOfARun.end(), kind.name) == kOfARun.end();
  });
  return all;
}

Result<delivery::Subscription> subscribe_standing(const StandingSubscription& standing,
                                                  const std::vector<actions::ActionKind>& kinds,
                                                  const SubscriptionFolder& folder) {
  delivery::Wiring wiring;
  wiring.config = folder.file_of(standing.name).string();
  TRAINWARDEN_ASSIGN_OR_RETURN(delivery::Wire wire, wire_of(standing));
  wiring.wires.push_back(std::move(wire));
  TRAINWARDEN_ASSIGN_OR_RETURN(auto subscriptions, delivery::subscribe(wiring, kinds, actions::RunContext()));
  if (subscriptions.size() == 1) return std::move(subscriptions.front());
  return Status(Code::kInvalidArgument,
                wiring.wires.front().where + ": skip-step judges inside a training, and not of jobs");
}

}  // namespace trainwarden::job_events
