#include "work/ssh/ssh_target.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/bytes.h"
#include "core/base/rfc3339.h"
#include "core/base/text.h"
#include "data/format/json.h"
#include "store/storage/lease.h"
#include "store/storage/naming.h"

namespace trainwarden::ssh {
namespace {

constexpr const char* kFolder = "ssh";
constexpr const char* kTargetFile = "ssh/target.json";
constexpr const char* kSubmittedFile = "ssh/submitted.json";
constexpr const char* kConnectionFile = "ssh/connection.json";
constexpr std::array<const char*, 3> kStates = {"stands", "unreachable", "not kept"};
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{64} << 10;

constexpr std::int64_t kSendingNs = 60'000'000'000;

bool is_id(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<format::Json> read_object(const storage::Location& job, const char* file) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, job.storage().read(file, kMaxFileBytes));
  return format::parse_json_object(text, job.storage().describe(file));
}

// A folder of the host as a word of its shell.
std::string folder_word(const std::string& folder) {
  if (folder.starts_with('/')) return shell_word(folder);
  return "\"$HOME\"/" + shell_word(folder.starts_with("~/") ? folder.substr(2) : folder);
}

}  // namespace

Result<std::string> make_target_id() {
  return storage::random_name();
}

Status write_target(const storage::Location& job, const SshTarget& target) {
  TRAINWARDEN_RETURN_IF_ERROR(job.storage().create_folder(kFolder));
  const std::string text =
      format::dump_json(
          {{"host", to_string(target.host)}, {"folder", target.folder}, {"path", target.path}, {"id", target.id}}) +
      "\n";
  return job.storage().put_if_absent(kTargetFile, as_bytes(text));
}

Result<SshTarget> read_target(const storage::Location& job) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, read_object(job, kTargetFile));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string host, format::string_field(json, "host"));
  SshTarget target;
  TRAINWARDEN_ASSIGN_OR_RETURN(target.host, parse_ssh_host(host));
  TRAINWARDEN_ASSIGN_OR_RETURN(target.folder, format::string_field(json, "folder"));
  TRAINWARDEN_ASSIGN_OR_RETURN(target.path, format::strings_field(json, "path"));
  TRAINWARDEN_ASSIGN_OR_RETURN(target.id, format::string_field(json, "id"));
  if (is_id(target.id) && target.folder.starts_with('/')) return target;
  return Status(Code::kDataLoss, fmt::format("{}: no place on a host", job.storage().describe(kTargetFile)));
}

Status write_submitted(const storage::Location& job) {
  const Status written = job.storage().put_if_absent(kSubmittedFile, as_bytes(std::string("{}\n")));
  return written.code() == Code::kAlreadyExists ? Status() : written;
}

bool is_submitted(const storage::Location& job) {
  return job.storage().exists(kSubmittedFile);
}

Status write_connection(const storage::Location& job, const Connection& connection) {
  const std::string text = format::dump_json({{"state", kStates.at(static_cast<std::size_t>(connection.state))},
                                              {"since", connection.since_unix_ns},
                                              {"message", connection.message}}) +
                           "\n";
  return job.storage().replace(kConnectionFile, as_bytes(text));
}

Result<std::optional<Connection>> read_connection(const storage::Location& job) {
  const Result<format::Json> json = read_object(job, kConnectionFile);
  if (json.status().code() == Code::kNotFound) return std::optional<Connection>();
  if (!json.ok()) return json.status();
  Connection connection;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string state, format::string_field(*json, "state"));
  const auto* const known = std::find(kStates.begin(), kStates.end(), state);
  if (known == kStates.end()) return Status(Code::kDataLoss, fmt::format("{}: unknown state", kConnectionFile));
  connection.state = static_cast<Connection::State>(known - kStates.begin());
  TRAINWARDEN_ASSIGN_OR_RETURN(connection.since_unix_ns, format::int_field(*json, "since", 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(connection.message, format::string_field(*json, "message"));
  return std::optional<Connection>(std::move(connection));
}

std::string path_script(const std::vector<std::string>& path) {
  std::string script;
  for (auto folder = path.rbegin(); folder != path.rend(); ++folder) {
    script += fmt::format("PATH={}:\"$PATH\"; export PATH\n", folder_word(*folder));
  }
  return script;
}

Result<std::string> ask_host(const SshTarget& target, const std::string& job, const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(shell_word(word));
  return run_on_host(target.host,
                     fmt::format("{}exec trainwarden job {} {} --jobs {}", path_script(target.path),
                                 fmt::join(quoted, " "), shell_word(job), shell_word(target.folder + "/jobs")));
}

std::string mirror_script(const SshTarget& target, const std::string& job) {
  return fmt::format("{}exec trainwarden job mirror {} --jobs {} --id {}", path_script(target.path), shell_word(job),
                     shell_word(target.folder + "/jobs"), shell_word(target.id));
}

bool has_follower(const jobs::JobRecord& job, const Clock& clock) {
  return storage::is_leased(job.place().storage(), kFollowerLease, clock);
}

bool is_being_submitted(const jobs::JobRecord& job, const Clock& clock) {
  return storage::is_leased(job.place().storage(), kSubmitterLease, clock);
}

Status give_up_unsent(jobs::JobRecord& job, const Clock& clock) {
  if (job.place().storage().exists(kTargetFile)) return Status();
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition now, job.current());
  if (jobs::is_terminal(now.status) || clock.unix_ns() - now.unix_ns < kSendingNs) return Status();
  return job
      .advance(now, jobs::JobPhase::kFailed, "ssh", "InternalServerError: it was not sent to a host; submit it again",
               clock)
      .status();
}

Result<jobs::Transition> standing(const jobs::JobRecord& job) {
  TRAINWARDEN_ASSIGN_OR_RETURN(jobs::Transition now, job.current());
  if (jobs::is_terminal(now.status)) return now;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<Connection> connection, read_connection(job.place()));
  if (!connection || connection->state == Connection::State::kStands) return now;
  const bool is_reached = connection->state == Connection::State::kNotKept;
  now.message = fmt::format("{} since {}, and the job goes on there: {}",
                            is_reached ? "what its host sends cannot be kept here" : "its host cannot be reached",
                            format_rfc3339(connection->since_unix_ns, 0), connection->message);
  return now;
}

}  // namespace trainwarden::ssh
