// slack: a message to an incoming webhook as Slack has them, which Mattermost and others have too.
#pragma once

#include <string>
#include <string_view>

#include "react/actions/action_kind.h"

namespace trainwarden::network {

actions::ActionKind slack_kind();

// {"text": ...} of a headline and what follows it. Names from a run cannot link, mention or format anything in it, and
// it is cut off at kSlackTextLimit characters.
std::string slack_message(std::string_view headline, std::string_view text);

inline constexpr std::size_t kSlackTextLimit = 8000;  // Slack takes 40,000, Mattermost 16,383

}  // namespace trainwarden::network
