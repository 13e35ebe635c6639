// What a wiring would do on what, for people and for programs. No secret is shown, and no parameter that may hold one.
#pragma once

#include <string>
#include <vector>

#include "ui/cli/options/action_choice.h"
#include "ui/cli/terminal/json_out.h"

namespace trainwarden::cli {

// A wire and the subscription that was made of it; none for "skip-step".
struct WiredAction {
  const delivery::Wire* wire = nullptr;
  const delivery::Subscription* subscription = nullptr;
};
// `subscriptions`: what `wiring` makes. Both must outlive the answer.
std::vector<WiredAction> wired_actions(const ActionWiring& wiring,
                                       const std::vector<delivery::Subscription>& subscriptions);

// "VanishingGradient, LossNotDecreasing", "any rule", or the pattern.
std::string condition_text(const delivery::Wire& wire);

std::string wiring_table(const std::vector<WiredAction>& actions);
std::string secret_table(const std::vector<NamedSecret>& secrets);
OrderedJson json_of(const WiredAction& action);
OrderedJson json_of(const NamedSecret& secret);

}  // namespace trainwarden::cli
