#include "work/slurm/slurm_submission.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "data/format/json.h"
#include "store/storage/lease.h"
#include "store/storage/naming.h"

namespace trainwarden::slurm {
namespace {

constexpr const char* kSubmitLease = "slurm/submit";
constexpr std::uint64_t kMaxIntentBytes = std::uint64_t{1} << 20;
constexpr int kMaxSubmissions = 1000;  // of a folder that anybody may have written

std::string submission_file(int number, std::string_view name) {
  return fmt::format("slurm/{}/{}", number, name);
}

std::string intent_file(int number) {
  return submission_file(number, "intent.json");
}

std::string id_file(int number) {
  return submission_file(number, "job.json");
}

// Nothing when it is not there.
Result<std::optional<format::Json>> read_object(const storage::Location& job, const std::string& file) {
  const Result<std::string> text = job.storage().read(file, kMaxIntentBytes);
  if (text.status().code() == Code::kNotFound) return std::optional<format::Json>();
  if (!text.ok()) return text.status();
  TRAINWARDEN_ASSIGN_OR_RETURN(format::Json json, format::parse_json_object(*text, job.storage().describe(file)));
  return std::optional<format::Json>(std::move(json));
}

int newest_number(const storage::Location& job) {
  int number = 0;
  while (number < kMaxSubmissions && job.storage().exists(intent_file(number + 1))) ++number;
  return number;
}

Result<std::optional<Submitted>> read_submitted(const storage::Location& job, int number) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<format::Json> json, read_object(job, id_file(number)));
  if (!json) return std::optional<Submitted>();
  Submitted submitted;
  TRAINWARDEN_ASSIGN_OR_RETURN(submitted.id, format::int_field(*json, "id", 1));
  TRAINWARDEN_ASSIGN_OR_RETURN(submitted.cluster, format::string_field(*json, "cluster"));
  TRAINWARDEN_ASSIGN_OR_RETURN(submitted.adopted, format::bool_field(*json, "adopted"));
  return std::optional<Submitted>(submitted);
}

// What Slurm has of it already, or else what it makes of it now.
Result<Submitted> find_or_submit(const SubmissionIntent& intent, const SlurmCommands& commands) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<SlurmJob> jobs, list_jobs(commands));
  if (const std::optional<SlurmJob> found = find_by_comment(jobs, intent.comment, ::getuid())) {
    return Submitted{found->key().job, "", true};
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, commands.run(SlurmTool::kSbatch, intent.arguments));
  Result<Submitted> submitted = parse_sbatch(text);
  if (!submitted.ok()) return Status(Code::kUnavailable, submitted.status().message());
  return submitted;
}

Result<std::string> new_comment() {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string unique, storage::random_name());
  return "trainwarden-" + unique;
}

Status put_intent(const storage::Location& job, int number, const SubmissionIntent& intent) {
  const std::string text = format::dump_json({{"comment", intent.comment}, {"sbatch", intent.arguments}}) + "\n";
  return job.storage().put_if_absent(intent_file(number), as_bytes(text));
}

}  // namespace

Result<std::optional<Submission>> newest_submission(const storage::Location& job) {
  Submission newest;
  newest.number = newest_number(job);
  if (newest.number == 0) return std::optional<Submission>();
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<format::Json> json, read_object(job, intent_file(newest.number)));
  if (!json) return Status(Code::kAborted, fmt::format("{} has gone meanwhile", job.address()));
  TRAINWARDEN_ASSIGN_OR_RETURN(newest.intent.comment, format::string_field(*json, "comment"));
  TRAINWARDEN_ASSIGN_OR_RETURN(newest.intent.arguments, format::strings_field(*json, "sbatch"));
  TRAINWARDEN_ASSIGN_OR_RETURN(newest.submitted, read_submitted(job, newest.number));
  return std::optional<Submission>(std::move(newest));
}

Status write_intent(const storage::Location& job, BatchRequest request) {
  TRAINWARDEN_ASSIGN_OR_RETURN(request.comment, new_comment());
  const std::optional<std::filesystem::path> folder = job.absolute().folder();
  if (!folder) {
    return {Code::kUnimplemented,
            fmt::format("{}: jobs for Slurm lie in a folder that its nodes share with this machine", job.address())};
  }
  const int number = newest_number(job) + 1;
  // A script of its own for each try: whoever died before the intent has left one behind.
  const std::string script = submission_file(number, fmt::format("{}.sh", request.comment));
  TRAINWARDEN_RETURN_IF_ERROR(job.storage().create_folder(fmt::format("slurm/{}", number)));
  TRAINWARDEN_RETURN_IF_ERROR(job.storage().put_if_absent(script, as_bytes(batch_script(request))));
  return put_intent(job, number, {request.comment, sbatch_arguments(request, (*folder / script).string())});
}

Status write_intent_again(const storage::Location& job) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<Submission> before, newest_submission(job));
  if (!before) return {Code::kNotFound, fmt::format("{} was not meant for Slurm", job.address())};
  SubmissionIntent intent = before->intent;
  TRAINWARDEN_ASSIGN_OR_RETURN(intent.comment, new_comment());
  std::replace(intent.arguments.begin(), intent.arguments.end(), "--comment=" + before->intent.comment,
               "--comment=" + intent.comment);
  const int number = before->number + 1;
  TRAINWARDEN_RETURN_IF_ERROR(job.storage().create_folder(fmt::format("slurm/{}", number)));
  return put_intent(job, number, intent);
}

Status write_submitted(const storage::Location& job, int number, const Submitted& submitted) {
  const std::string text =
      format::dump_json({{"id", submitted.id}, {"cluster", submitted.cluster}, {"adopted", submitted.adopted}}) + "\n";
  const Status put = job.storage().put_if_absent(id_file(number), as_bytes(text));
  if (put.code() != Code::kAlreadyExists) return put;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<Submitted> there, read_submitted(job, number));
  return there && there->id == submitted.id ? Status() : put;
}

std::optional<SlurmJob> find_by_comment(const std::vector<SlurmJob>& jobs, std::string_view comment,
                                        std::int64_t user) {
  const auto found = std::find_if(jobs.begin(), jobs.end(), [&](const SlurmJob& job) {
    return job.user == user && !comment.empty() && job.comment == comment;
  });
  return found == jobs.end() ? std::nullopt : std::optional<SlurmJob>(*found);
}

Result<Submitted> parse_sbatch(std::string_view text) {
  const std::vector<std::string> parts = split_list(trim(text), ';');
  const std::optional<std::int64_t> id = parts.empty() ? std::nullopt : parse_int(parts.front());
  if (!id || *id <= 0) {
    return Status(Code::kDataLoss,
                  fmt::format("sbatch: expected the number of a job, found \"{}\"", printable(text.substr(0, 100))));
  }
  return Submitted{*id, parts.size() > 1 ? parts[1] : "", false};
}

Result<Submitted> submit(const storage::Location& job, const SlurmCommands& commands, const Clock& clock) {
  if (newest_number(job) == 0) return Status(Code::kNotFound, fmt::format("{} was not meant for Slurm", job.address()));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::unique_ptr<storage::Lease> lease,
                               storage::take_lease(job.storage(), kSubmitLease, clock));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<Submission> newest, newest_submission(job));
  if (!newest) return Status(Code::kAborted, fmt::format("{} has gone meanwhile", job.address()));
  if (newest->submitted) return *newest->submitted;
  TRAINWARDEN_ASSIGN_OR_RETURN(const Submitted submitted, find_or_submit(newest->intent, commands));
  TRAINWARDEN_RETURN_IF_ERROR(write_submitted(job, newest->number, submitted));
  TRAINWARDEN_RETURN_IF_ERROR(lease->end());
  return submitted;
}

bool is_being_submitted(const storage::Location& job, const Clock& clock) {
  return storage::is_leased(job.storage(), kSubmitLease, clock);
}

}  // namespace trainwarden::slurm
