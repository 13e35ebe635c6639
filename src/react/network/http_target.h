// HttpTarget: where webhook and slack send to, as the user named it, and what an answer of HTTP means for an event.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "react/actions/action.h"
#include "react/actions/action_kind.h"
#include "react/network/http_client.h"
#include "trainwarden/status.h"

namespace trainwarden::network {

class HttpTarget {
 public:
  // Takes url, timeout, ca_file and allow_http. What is wrong with them is returned by parameters.status().
  explicit HttpTarget(actions::ActionParameters& parameters);

  std::string place() const { return place_; }
  // Reads the URL when it is a secret, and sends. Errors: as post(), and those of parse_target_url() and
  // Secret::read().
  Result<PostAnswer> send(std::vector<std::pair<std::string, std::string>> headers, std::string body,
                          const std::stop_token& stop) const;

 private:
  actions::ActionParameters::TextOrSecret url_;
  exchange::TransferLimits limits_;
  bool allow_http_ = false;
  std::string place_;
};

// The parameters that it takes, for ActionKind.
std::vector<actions::ActionParameterDescription> http_target_parameters();

// 2xx: done. 410: the target is gone. 408, 425, 429 and 5xx: try again, after Retry-After where it is given. All
// others, redirects among them: give up.
actions::ActionOutcome outcome_of(const PostAnswer& answer, std::string_view place);
// There was no answer, or nothing could be sent. Try again, for networks and secrets that are being renewed come back;
// give up when an address is forbidden or a URL, header or secret is none.
actions::ActionOutcome outcome_without_answer(const Status& status);

}  // namespace trainwarden::network
