// webhook: sends events to a URL, as the HTTP binding of CloudEvents says (docs/guide/webhooks.md).
#pragma once

#include "react/actions/action_kind.h"

namespace trainwarden::network {

actions::ActionKind webhook_kind();

}  // namespace trainwarden::network
