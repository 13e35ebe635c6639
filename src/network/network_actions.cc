#include "network/network_actions.h"

#include "network/mail_action.h"
#include "network/slack_action.h"
#include "network/sms_action.h"
#include "network/webhook_action.h"

namespace trainwarden::network {

const std::vector<actions::ActionKind>& network_action_kinds() {
  static const std::vector<actions::ActionKind> kKinds{webhook_kind(), slack_kind(), mail_kind(), sms_kind()};
  return kKinds;
}

}  // namespace trainwarden::network
