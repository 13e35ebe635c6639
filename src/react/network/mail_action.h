// mail: sends each event as a mail over SMTP (docs/guide/mail.md).
#pragma once

#include "react/actions/action_kind.h"

namespace trainwarden::network {

actions::ActionKind mail_kind();

}  // namespace trainwarden::network
