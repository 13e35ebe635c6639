#include "react/network/network_actions.h"

#include "react/network/mail_action.h"
#include "react/network/slack_action.h"
#include "react/network/sms_action.h"
#include "react/network/webhook_action.h"

namespace trainwarden::network {

const std::vector<actions::ActionKind>& network_action_kinds() {
  static const std::vector<actions::ActionKind> kKinds{webhook_kind(), slack_kind(), mail_kind(), sms_kind()};
  return kKinds;
}

}  // namespace trainwarden::network
