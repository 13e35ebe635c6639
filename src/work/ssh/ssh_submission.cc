#include "work/ssh/ssh_submission.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/clock.h"
#include "core/base/file_descriptor.h"
#include "core/base/text.h"
#include "store/storage/lease.h"
#include "trainwarden/version.h"

namespace trainwarden::ssh {
namespace {

constexpr const char* kGreeting = "trainwarden host";  // what a shell prints at its start comes before it
constexpr const char* kMissing = "trainwarden: missing";
constexpr std::chrono::minutes kSendTimeout{30};

std::string check_script(const std::string& folder, const std::vector<std::string>& path) {
  const std::string place = shell_word(folder.starts_with("~/") ? folder.substr(2) : folder);
  return fmt::format(
      "{}cd && mkdir -p {}/jobs {}/runs {}/incoming && cd {} || exit 1\n"
      "echo '{}'; pwd -P\n"
      "if command -v trainwarden >/dev/null; then trainwarden --version; else echo '{}'; fi\n"
      "ls -d jobs/.queue/*/jobs/* 2>/dev/null | wc -l\n",
      path_script(path), place, place, place, place, kGreeting, kMissing);
}

Status not_fit(const SshHost& host, const std::string& why) {
  return {
      Code::kFailedPrecondition,
      fmt::format("{}: {}; install it there: pip install trainwarden=={}. Where it lies in a folder that commands over "
                  "ssh do not look into, say so: [ssh] path = [\"~/venv/bin\"]",
                  to_string(host), why, version())};
}

Result<HostFacts> read_facts(const SshHost& host, const std::string& answer) {
  std::vector<std::string> lines = split_list(answer, '\n');
  const auto greeting = std::find(lines.begin(), lines.end(), kGreeting);
  lines.erase(lines.begin(), greeting);
  const std::optional<std::int64_t> jobs = lines.size() == 4 ? parse_int(lines[3]) : std::nullopt;
  if (!jobs || !lines[1].starts_with('/')) {
    return Status(Code::kFailedPrecondition, fmt::format("{}: expected a POSIX shell, found one that answers \"{}\"",
                                                         to_string(host), printable(trim(answer).substr(0, 200))));
  }
  if (lines[2] == kMissing) return not_fit(host, "trainwarden is not there");
  const std::string wanted = fmt::format("trainwarden {}", version());
  if (lines[2] != wanted) return not_fit(host, fmt::format("expected {} there, found {}", wanted, printable(lines[2])));
  return HostFacts{lines[1], static_cast<std::size_t>(*jobs)};
}

}  // namespace

Result<HostFacts> check_host(const SshHost& host, const std::string& folder, const std::vector<std::string>& path) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string answer, run_on_host(host, check_script(folder, path)));
  return read_facts(host, answer);
}

Result<SshTarget> choose_host(const std::vector<std::string>& hosts, const std::string& folder,
                              const std::vector<std::string>& path) {
  std::optional<SshTarget> chosen;
  std::size_t fewest = 0;
  std::vector<std::string> problems;
  Code code = Code::kFailedPrecondition;
  for (const std::string& text : hosts) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const SshHost host, parse_ssh_host(text));
    const Result<HostFacts> facts = check_host(host, folder, path);
    if (!facts.ok()) {
      code = facts.status().code();
      problems.push_back(facts.status().message());
    } else if (!chosen || facts->jobs < fewest) {
      chosen = SshTarget{host, facts->folder, path, ""};
      fewest = facts->jobs;
    }
  }
  if (!chosen) return Status(code, fmt::format("{}", fmt::join(problems, "; ")));
  TRAINWARDEN_ASSIGN_OR_RETURN(chosen->id, make_target_id());
  return *std::move(chosen);
}

Status submit_there(const jobs::JobRecord& job, const SshTarget& target, const std::filesystem::path& archive,
                    const std::string& spec_file) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::unique_ptr<storage::Lease> lease,
                               storage::take_lease(job.place().storage(), kSubmitterLease, system_clock()));
  const FileDescriptor input(::open(archive.c_str(), O_RDONLY | O_CLOEXEC));
  if (!input.is_open()) return {Code::kInternal, fmt::format("cannot read {}", printable(archive.string()))};
  const std::string incoming = shell_word(target.folder + "/incoming/" + target.id);
  const std::string script = fmt::format(
      "{}mkdir {} && tar -xzf - -C {} && cd {} &&\n"
      "trainwarden submit {} --name {} --backend local --jobs {} --runs {} && exit 0\n"
      "code=$?; rm -rf {}; exit $code\n",
      path_script(target.path), incoming, incoming, incoming, shell_word("./" + spec_file),
      shell_word(job.order().name), shell_word(target.folder + "/jobs"), shell_word(target.folder + "/runs"), incoming);
  TRAINWARDEN_RETURN_IF_ERROR(run_on_host(target.host, script, input.get(), kSendTimeout).status());
  TRAINWARDEN_RETURN_IF_ERROR(write_submitted(job.place()));
  return lease->end();
}

Status remove_there(const jobs::JobRecord& job, const SshTarget& target) {
  const std::string script = fmt::format(
      "{}if [ -d {} ]; then trainwarden job rm {} --run --jobs {} || exit 1; fi\nrm -rf {}\n", path_script(target.path),
      shell_word(target.folder + "/jobs/" + job.order().name), shell_word(job.order().name),
      shell_word(target.folder + "/jobs"), shell_word(target.folder + "/incoming/" + target.id));
  return run_on_host(target.host, script).status();
}

}  // namespace trainwarden::ssh
