#include "work/job_events/subscription_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "core/base/file_descriptor.h"
#include "core/base/text.h"
#include "data/format/json.h"
#include "work/jobs/job_spec.h"
#include "work/jobs/owner_seal.h"

namespace trainwarden::job_events {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSubscriptionsFolder = ".subscriptions";
constexpr std::string_view kEnding = ".json";
constexpr int kVersion = 1;
constexpr std::uint64_t kMaxSubscriptionBytes = std::uint64_t{1} << 20;

std::string subscription_file(const std::string& name) {
  return name + std::string(kEnding);
}

Status system_failure(const fs::path& file, const char* what) {
  const Code code = errno == EEXIST ? Code::kAlreadyExists : Code::kInternal;
  return Status(code, fmt::format("cannot {} {}: {}", what, printable(file.string()), std::strerror(errno)));
}

Status write_private(const fs::path& file, std::string_view text) {
  const FileDescriptor made(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!made.is_open()) return system_failure(file, "write");
  while (!text.empty()) {
    const ssize_t written = ::write(made.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_failure(file, "write");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return Status();
}

Status too_many() {
  return Status(Code::kResourceExhausted,
                fmt::format("expected at most {} standing subscriptions, as each has a thread of its own; remove one",
                            delivery::kMaxSubscriptions));
}

}  // namespace

std::string encode_subscription(const StandingSubscription& subscription) {
  return format::dump_json({{"version", kVersion},
                            {"name", subscription.name},
                            {"pattern", subscription.pattern},
                            {"action", subscription.action},
                            {"created", subscription.created_unix_ns}}) +
         "\n";
}

Result<StandingSubscription> decode_subscription(std::string_view text, std::string_view what) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(text, what));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t version, format::int_field(json, "version", 1));
  if (version > kVersion) {
    return Status(Code::kUnimplemented, fmt::format("{}: version {} is newer than this program", what, version));
  }
  StandingSubscription subscription;
  TRAINWARDEN_ASSIGN_OR_RETURN(subscription.name, format::string_field(json, "name"));
  TRAINWARDEN_ASSIGN_OR_RETURN(subscription.pattern, format::string_field(json, "pattern"));
  TRAINWARDEN_ASSIGN_OR_RETURN(subscription.action, format::string_field(json, "action"));
  TRAINWARDEN_ASSIGN_OR_RETURN(subscription.created_unix_ns, format::int_field(json, "created", 0));
  return subscription;
}

Result<delivery::Wire> wire_of(const StandingSubscription& subscription) {
  TRAINWARDEN_ASSIGN_OR_RETURN(delivery::Wire wire, delivery::parse_wire(subscription.action));
  wire.where = fmt::format("subscription {}", printable(subscription.name));
  if (!subscription.pattern.empty()) {
    const bool says_itself = !wire.event.empty() || wire.rules != std::vector<std::string>{"*"};
    if (says_itself) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{}: expected a pattern, or rule= or event= of the action, found both", wire.where));
    }
    wire.rules.clear();
    wire.event = subscription.pattern;
  }
  wire.name = subscription.name;
  for (const auto& [name, value] : wire.parameters) {
    const auto* secret = std::get_if<actions::Secret>(&value);
    if (secret == nullptr || !secret->describe().starts_with('$')) continue;
    return Status(
        Code::kInvalidArgument,
        fmt::format("{}: {}: expected file:PATH, found a variable of the environment, which who delivers does "
                    "not have",
                    wire.where, name));
  }
  return wire;
}

SubscriptionFolder::SubscriptionFolder(const fs::path& jobs)
    : jobs_(fs::absolute(jobs)), place_(jobs_ / kSubscriptionsFolder) {}

bool SubscriptionFolder::any() const {
  const auto all = names();
  return all.ok() && !all->empty();
}

fs::path SubscriptionFolder::file_of(const std::string& name) const {
  return place_.path() / subscription_file(name);
}

Result<std::vector<std::string>> SubscriptionFolder::names() const {
  const Result<std::vector<std::string>> files = place_.storage().list("");
  if (files.status().code() == Code::kNotFound) return std::vector<std::string>();
  if (!files.ok()) return files;
  std::vector<std::string> names;
  for (const std::string& file : *files) {
    if (!file.ends_with(kEnding)) continue;
    std::string name = file.substr(0, file.size() - kEnding.size());
    if (jobs::is_job_name(name)) names.push_back(std::move(name));
  }
  return names;
}

Result<StandingSubscription> SubscriptionFolder::read(const std::string& name) const {
  if (jobs::is_job_name(name)) {
    const Result<std::string> text = place_.storage().read(subscription_file(name), kMaxSubscriptionBytes);
    if (text.ok()) return read_sealed(*text, name);
    if (text.status().code() != Code::kNotFound) return text.status();
  }
  return Status(Code::kNotFound, fmt::format("there is no standing subscription \"{}\" in {}{}", printable(name),
                                             printable(jobs_.string()), did_you_mean(name, names().value_or({}))));
}

Result<StandingSubscription> SubscriptionFolder::read_sealed(std::string_view text, const std::string& name) const {
  const std::size_t end = std::min(text.find('\n'), text.size());
  TRAINWARDEN_RETURN_IF_ERROR(jobs::check_owner_seal(text.substr(0, end), jobs_, trim(text.substr(end)),
                                                     fmt::format("subscription {}", printable(name))));
  return decode_subscription(text.substr(0, end), place_.storage().describe(subscription_file(name)));
}

// Whole or not at all: it is written under another name, and gets its own by a link, which never takes a place that is
// taken.
Status SubscriptionFolder::add(const StandingSubscription& subscription) {
  if (!jobs::is_job_name(subscription.name)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("NAME: expected letters and digits with single hyphens between them, found \"{}\"",
                              printable(subscription.name)));
  }
  TRAINWARDEN_RETURN_IF_ERROR(place_.storage().create_folder(""));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> there, names());
  if (there.size() >= delivery::kMaxSubscriptions) return too_many();
  const fs::path file = file_of(subscription.name);
  const fs::path aside = place_.path() / fmt::format(".{}.{}", subscription.name, ::getpid());
  const std::string text = encode_subscription(subscription);
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string seal, jobs::owner_seal(trim(text), jobs_));
  Status status = write_private(aside, text + seal + "\n");
  if (status.ok() && ::link(aside.c_str(), file.c_str()) != 0) status = system_failure(file, "write");
  ::unlink(aside.c_str());
  if (status.code() != Code::kAlreadyExists) return status;
  return Status(Code::kAlreadyExists,
                fmt::format("there is a standing subscription \"{}\" already; remove it first", subscription.name));
}

Status SubscriptionFolder::remove(const std::string& name) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> there, names());
  if (std::find(there.begin(), there.end(), name) == there.end()) return read(name).status();
  const fs::path file = file_of(name);
  if (::unlink(file.c_str()) == 0 || errno == ENOENT) return Status();
  return system_failure(file, "remove");
}

std::string SubscriptionFolder::signature() const {
  std::string signature;
  const auto entries = place_.storage().entries("");
  if (!entries.ok()) return signature;
  for (const storage::Entry& entry : *entries) {
    if (!entry.name.ends_with(kEnding)) continue;
    signature += fmt::format("{}:{}:{};", entry.name, entry.info.identity, entry.info.changed_unix_ns);
  }
  return signature;
}

}  // namespace trainwarden::job_events
