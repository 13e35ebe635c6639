// Jobs: their list, one of them, its logs and files, and requests to stop it and to go on.
#include <optional>

#include <fmt/format.h>

#include "ui/answers/replies.h"
#include "ui/answers/request_body.h"
#include "ui/work_answers/job_downloads.h"
#include "ui/work_answers/job_json.h"
#include "ui/work_answers/job_logs.h"
#include "ui/work_answers/work_desk.h"

namespace trainwarden::work_answers {
namespace {

using answers::Method;
using answers::Reply;
using answers::Request;
using answers::Services;
using format::OrderedJson;

constexpr std::int64_t kLeastPiece = 64;  // bytes: more than a character
constexpr std::int64_t kMostPiece = 1 << 20;
constexpr std::int64_t kUsualPiece = 256 << 10;

Result<Reply> list_of_jobs(WorkDesk& desk, const Request& request) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto jobs, desk.jobs());
  const catalogue::MetricsByName none;
  OrderedJson list = OrderedJson::array();
  for (const catalogue::CataloguedJob& job : jobs->jobs) {
    const auto metrics = jobs->metrics.of.find(job.name);
    list.push_back(row_json(job, metrics == jobs->metrics.of.end() ? none : metrics->second));
  }
  return answers::json_reply(
      {{"folder", desk.places().jobs.address()}, {"reading", jobs->metrics.unread}, {"jobs", std::move(list)}});
}

Result<Reply> one_job(const WorkDesk& desk, const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const WorkDesk::JobNow job, desk.job(request.in_path("job")));
  TRAINWARDEN_ASSIGN_OR_RETURN(const OrderedJson json, job_json(job, services));
  return answers::json_reply(json);
}

// A place in a log; nothing when the parameter is not there.
Result<std::optional<std::uint64_t>> place_in_log(const Request& request, const char* parameter) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t place, request.query.integer(parameter, 0, (1LL << 53) - 1, 0));
  return request.query.has(parameter) ? std::optional<std::uint64_t>(place) : std::nullopt;
}

Result<Reply> piece_of_log(const WorkDesk& desk, const Request& request) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({"from", "before", "limit"}));
  LogRange range;
  TRAINWARDEN_ASSIGN_OR_RETURN(range.from, place_in_log(request, "from"));
  TRAINWARDEN_ASSIGN_OR_RETURN(range.before, place_in_log(request, "before"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t limit,
                               request.query.integer("limit", kLeastPiece, kMostPiece, kUsualPiece));
  range.limit = static_cast<std::size_t>(limit);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto job, jobs::JobRecord::open(desk.places().jobs, request.in_path("job")));
  TRAINWARDEN_ASSIGN_OR_RETURN(LogPiece piece, read_log_piece(job, request.in_path("log"), range));
  return answers::json_reply(
      {{"from", piece.from}, {"to", piece.to}, {"bytes", piece.bytes}, {"text", std::move(piece.text)}});
}

Result<Reply> files_of_job(const WorkDesk& desk, const Request& request) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto job, jobs::JobRecord::open(desk.places().jobs, request.in_path("job")));
  return list_downloads(job);
}

Result<Reply> file_of_job(const WorkDesk& desk, const Request& request) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({"name"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string name, request.query.required_text("name"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto job, jobs::JobRecord::open(desk.places().jobs, request.in_path("job")));
  return download(job, name);
}

using Act = Result<jobs::Transition> (*)(const JobActions& actions, jobs::JobRecord& job, const std::string& message);

Result<Reply> act_on_job(WorkDesk& desk, const Request& request, Act act) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string reason, answers::reason_of(request));
  TRAINWARDEN_ASSIGN_OR_RETURN(jobs::JobRecord job, jobs::JobRecord::open(desk.places().jobs, request.in_path("job")));
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition now, act(desk.actions(), job, "on the page: " + reason));
  desk.forget_jobs();
  return answers::json_reply(standing_json(job, now));
}

Result<Reply> stop_job(WorkDesk& desk, const Request& request) {
  return act_on_job(desk, request, [](const JobActions& actions, jobs::JobRecord& job, const std::string& message) {
    return actions.stop(job, message);
  });
}

Result<Reply> resume_job(WorkDesk& desk, const Request& request) {
  return act_on_job(desk, request, [](const JobActions& actions, jobs::JobRecord& job, const std::string& message) {
    return actions.resume(job, message);
  });
}

}  // namespace

std::vector<answers::Route> job_routes(WorkDesk& desk) {
  const auto with_desk = [&desk](auto* handler) {
    return [&desk, handler](const Request& request, const Services&) { return handler(desk, request); };
  };
  return {
      {Method::kGet, "/jobs", with_desk(list_of_jobs)},
      {Method::kGet, "/jobs/{job}",
       [&desk](const Request& request, const Services& services) { return one_job(desk, request, services); }},
      {Method::kGet, "/jobs/{job}/logs/{log}", with_desk(piece_of_log)},
      {Method::kGet, "/jobs/{job}/files", with_desk(files_of_job)},
      {Method::kGet, "/jobs/{job}/file", with_desk(file_of_job)},
      {Method::kPost, "/jobs/{job}/stop", with_desk(stop_job), true},
      {Method::kPost, "/jobs/{job}/resume", with_desk(resume_job), true},
  };
}

}  // namespace trainwarden::work_answers
