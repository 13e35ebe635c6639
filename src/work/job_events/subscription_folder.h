// SubscriptionFolder: the standing subscriptions of a folder of jobs, which cover all jobs in it.
//
//   JOBS/.subscriptions/NAME.json    which events, and what is done about them; written once; its owner alone may read
//                                    it, as an action may have a secret in it; its second line is their seal
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "react/delivery/wiring.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::job_events {

struct StandingSubscription {
  std::string name;
  std::string pattern;               // as JSON; empty: what the action says, alerts of any rule when it says nothing
  std::string action;                // "webhook:url=https://...", as `run --on-fire` takes it
  std::int64_t created_unix_ns = 0;  // it gets what happened from then on
  friend bool operator==(const StandingSubscription&, const StandingSubscription&) = default;
};

std::string encode_subscription(const StandingSubscription& subscription);  // one line of JSON
// kDataLoss when it is none, kUnimplemented when it is of a newer version; `what` names the text in the message.
Result<StandingSubscription> decode_subscription(std::string_view text, std::string_view what);

// As an action file would have it. kInvalidArgument when the action cannot be understood, or has a secret from the
// environment: who delivers has another one.
Result<delivery::Wire> wire_of(const StandingSubscription& subscription);

// Many processes may use one at once. Errors: those of the file system.
class SubscriptionFolder {
 public:
  // `jobs` is a folder of this machine.
  explicit SubscriptionFolder(const std::filesystem::path& jobs);

  bool any() const;  // cheap
  // kAlreadyExists when there is one of this name, kInvalidArgument when it is no name, kResourceExhausted when there
  // are too many.
  Status add(const StandingSubscription& subscription);
  Status remove(const std::string& name);          // kNotFound with the nearest name
  Result<std::vector<std::string>> names() const;  // rising
  // kPermissionDenied when this user has not added it to this folder (work/jobs/owner_seal.h).
  Result<StandingSubscription> read(const std::string& name) const;
  std::filesystem::path file_of(const std::string& name) const;
  // Changes whenever one is added or removed.
  std::string signature() const;

 private:
  Result<StandingSubscription> read_sealed(std::string_view text, const std::string& name) const;

  std::filesystem::path jobs_;
  storage::Location place_;
};

}  // namespace trainwarden::job_events
