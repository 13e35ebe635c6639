#include "ui/cli/running/ssh_jobs.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/job_variables.h"
#include "core/base/text.h"
#include "ui/cli/options/catalogue_choice.h"
#include "ui/cli/options/experiment_choice.h"
#include "ui/cli/running/job_keeper.h"
#include "work/ssh/ssh_submission.h"
#include "work/ssh/ssh_target.h"
#include "work/ssh/upload.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kMirrorLook{100};
constexpr std::chrono::seconds kMirrorTime{10};  // what was done there is here by then, where the connection stands

Result<std::vector<std::string>> hosts_of(const jobs::JobSpec& spec) {
  if (!spec.ssh.hosts.empty()) return spec.ssh.hosts;
  const char* const variable = std::getenv(variable::kSshHosts);
  std::vector<std::string> hosts = split_list(variable == nullptr ? "" : variable);
  if (!hosts.empty()) return hosts;
  return Status(Code::kInvalidArgument,
                fmt::format("ssh: expected a machine to run on: [ssh] hosts = [\"gpu1\"] in the job's file, or {}=gpu1",
                            variable::kSshHosts));
}

// A folder of jobs may be anybody's: only for a job that this user has sent to that host does anything connect to it.
// kNotFound: it was not sent anywhere.
Result<ssh::SshTarget> own_target(const jobs::JobRecord& job) {
  TRAINWARDEN_ASSIGN_OR_RETURN(ssh::SshTarget target, ssh::read_target(job.place()));
  TRAINWARDEN_RETURN_IF_ERROR(job.check_seal());
  const std::string host = to_string(target.host);
  if (host == job.order().host) return target;
  return Status(
      Code::kPermissionDenied,
      fmt::format("job {} was sent to {}, and its ssh/target.json names {}: it was changed since, and nothing "
                  "connects to that host",
                  job.order().name, printable(job.order().host), host));
}

Status ensure_follower(const jobs::JobRecord& job) {
  if (ssh::has_follower(job, system_clock())) return Status();
  const Status may = own_target(job).status();
  return may.ok() ? start_job_follower(job) : may;
}

class SshBackend final : public JobBackend {
 public:
  std::string_view where() const override { return "over ssh"; }
  bool copies_sources() const override { return false; }

  // The host says by itself what else it cannot do.
  std::vector<std::string> not_done_yet(const jobs::JobSpec& spec) const override {
    std::vector<std::string> keys;
    if (spec.resources.nodes > 1) keys.emplace_back("nodes");
    if (!spec.experiment.experiment.empty()) keys.emplace_back("experiment");
    return keys;
  }

  Status prepare(const jobs::JobSpec& spec, const fs::path&, jobs::JobOrder& order) override {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> hosts, hosts_of(spec));
    TRAINWARDEN_ASSIGN_OR_RETURN(names_, ssh::upload_names(spec));
    const std::string folder = spec.ssh.folder.empty() ? ssh::kDefaultFolder : spec.ssh.folder;
    TRAINWARDEN_ASSIGN_OR_RETURN(target_, ssh::choose_host(hosts, folder, spec.ssh.path));
    order.host = to_string(target_.host);
    return {};
  }

  // What the host refuses has failed.
  Status submit(jobs::JobRecord& job, const jobs::JobSpec&) override {
    const Status sent = send(job);
    const std::string& name = job.order().name;
    if (sent.ok()) return ensure_follower(job);
    if (sent.code() == Code::kUnavailable) {
      TRAINWARDEN_RETURN_IF_ERROR(ensure_follower(job));
      return {Code::kUnavailable,
              fmt::format("nobody knows whether {} has job {} now: {}; `trainwarden job describe {}` finds out",
                          to_string(target_.host), name, sent.message(), name)};
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition now, job.current());
    TRAINWARDEN_RETURN_IF_ERROR(
        job.advance(now, jobs::JobPhase::kFailed, "submit", "ClientError: " + sent.message(), system_clock()).status());
    return sent;
  }

  Result<jobs::Transition> settle(jobs::JobRecord& job) override {
    TRAINWARDEN_RETURN_IF_ERROR(ssh::give_up_unsent(job, system_clock()));
    TRAINWARDEN_RETURN_IF_ERROR(keep_followed(job));
    return ssh::standing(job);
  }

  Result<jobs::Transition> stop(jobs::JobRecord& job, const std::string&) override {
    TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition now, job.current());
    if (jobs::is_terminal(now.status)) return now;
    TRAINWARDEN_RETURN_IF_ERROR(ask(job, "stop"));
    return await_here(job, [](const jobs::Transition& one) {
      return one.status == jobs::JobPhase::kStopping || jobs::is_terminal(one.status);
    });
  }

  Result<jobs::Transition> resume(jobs::JobRecord& job, const std::string&) override {
    TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition ended, job.current());
    TRAINWARDEN_RETURN_IF_ERROR(ask(job, "resume"));
    return await_here(job, [&](const jobs::Transition& one) { return one.seq > ended.seq; });
  }

  Status keep(const jobs::JobRecord& job) override {
    TRAINWARDEN_RETURN_IF_ERROR(ensure_job_keeper(job.place().absolute().path().parent_path()));
    return keep_followed(job);
  }

  // Of a job that was handed on nothing lies elsewhere that is this user's.
  Status remove(const jobs::JobRecord& job) override {
    if (!job.check_seal().ok()) return {};
    TRAINWARDEN_ASSIGN_OR_RETURN(const ssh::SshTarget target, own_target(job));
    return ssh::remove_there(job, target);
  }

 private:
  Status send(const jobs::JobRecord& job) {
    TRAINWARDEN_RETURN_IF_ERROR(ssh::write_target(job.place(), target_));
    const fs::path folder = job.place().absolute().path();
    const fs::path archive = folder / "ssh" / "upload.tar.gz";
    const fs::path spec_file = job.order().spec_file;
    const std::vector<fs::path> left_out = {folder.parent_path(), fs::path(job.order().run).parent_path(),
                                            catalogue_folder(folder.parent_path()), experiments_folder("")};
    const ssh::UploadedText spec = {"submitted-job.toml", job.order().spec};  // also when it came from standard input
    Status sent = ssh::pack_upload(spec_file.parent_path(), names_, left_out, spec, archive);
    if (sent.ok()) sent = ssh::submit_there(job, target_, archive, spec.name);
    std::error_code ignored;
    fs::remove(archive, ignored);
    return sent;
  }

  static Status keep_followed(const jobs::JobRecord& job) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition now, job.current());
    const bool is_followed = !jobs::is_terminal(now.status) && own_target(job).ok();
    return is_followed ? ensure_follower(job) : Status();
  }

  static Status ask(const jobs::JobRecord& job, const std::string& what) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const ssh::SshTarget target, own_target(job));
    return ssh::ask_host(target, job.order().name, {what}).status();
  }

  // Until the files here say so too, or where it stands then.
  static Result<jobs::Transition> await_here(const jobs::JobRecord& job,
                                             const std::function<bool(const jobs::Transition&)>& is_here) {
    const auto end = std::chrono::steady_clock::now() + kMirrorTime;
    for (;;) {
      TRAINWARDEN_RETURN_IF_ERROR(ensure_follower(job));
      TRAINWARDEN_ASSIGN_OR_RETURN(jobs::Transition now, ssh::standing(job));
      if (is_here(now) || std::chrono::steady_clock::now() >= end) return now;
      std::this_thread::sleep_for(kMirrorLook);
    }
  }

  ssh::SshTarget target_;  // of the job that is being submitted
  std::vector<std::string> names_;
};

}  // namespace

std::unique_ptr<JobBackend> create_ssh_backend() {
  return std::make_unique<SshBackend>();
}

}  // namespace trainwarden::cli
