// Studies of hyper-parameters, and one of them with its trials.
#include <algorithm>
#include <map>

#include "core/base/clock.h"
#include "ui/answers/replies.h"
#include "ui/views/study_importance.h"
#include "ui/work_answers/job_json.h"
#include "ui/work_answers/study_json.h"
#include "ui/work_answers/work_desk.h"

namespace trainwarden::work_answers {
namespace {

using answers::Method;
using answers::Reply;
using answers::Request;
using answers::Services;
using format::OrderedJson;

constexpr std::size_t kMostStudies = 1000;

// One that cannot be read has its name and the reason.
OrderedJson row_of(WorkDesk& desk, const std::string& name) {
  OrderedJson row;
  const Status looked = desk.studies().with(
      name, [&](const tune::Study& study) { row = study_row_json(study, system_clock().unix_ns()); });
  return looked.ok() ? row : OrderedJson({{"study", name}, {"error", looked.message()}});
}

Result<Reply> list_of_studies(WorkDesk& desk, const Request& request, const Services&) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> names, desk.studies().names());
  OrderedJson list = OrderedJson::array();
  for (std::size_t i = 0; i < std::min(names.size(), kMostStudies); ++i) list.push_back(row_of(desk, names[i]));
  return answers::json_reply({{"folder", desk.studies().folder().address()},
                              {"studies", std::move(list)},
                              {"cut", names.size() > kMostStudies}});
}

// Of the jobs that are there. What cannot be listed is not linked.
std::map<std::string, std::string> runs_of_jobs(WorkDesk& desk) {
  std::map<std::string, std::string> runs;
  const auto list = desk.jobs();
  if (!list.ok()) return runs;
  for (const catalogue::CataloguedJob& job : (*list)->jobs) {
    if (job.unreadable.ok()) runs.emplace(job.name, job.run);
  }
  return runs;
}

bool runs_by_jobs(const tune::Study& study) {
  const std::size_t trials = study.state().history().trials.size();
  for (std::size_t i = 0; i < trials; ++i) {
    if (!study.state().record(i).job.empty()) return true;
  }
  return false;
}

// Where no trial is named, the newest.
std::size_t first_trial(const tune::Study& study, std::int64_t from) {
  const std::size_t count = study.state().history().trials.size();
  if (from >= 0) return static_cast<std::size_t>(from);
  return count > kMostStudyTrials ? count - kMostStudyTrials : 0;
}

Result<Reply> one_study(WorkDesk& desk, const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({"from"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t from, request.query.integer("from", -1, tune::kMaxTrials, -1));
  OrderedJson json;
  const auto look = [&](const tune::Study& study) {
    const auto runs = runs_by_jobs(study) ? runs_of_jobs(desk) : std::map<std::string, std::string>();
    const RunOfJob run_of = [&](const std::string& job) -> OrderedJson {
      const auto run = runs.find(job);
      return run == runs.end() ? OrderedJson() : run_json(run->second, services);
    };
    json = study_page_json(study, first_trial(study, from), run_of, system_clock().unix_ns());
  };
  TRAINWARDEN_RETURN_IF_ERROR(desk.studies().with(request.in_path("study"), look));
  return answers::json_reply(json);
}

Result<Reply> importance(WorkDesk& desk, const Request& request, const Services&) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({"metric"}));
  const std::string metric = request.query.text("metric", "");
  Result<OrderedJson> json = OrderedJson();
  const auto look = [&](const tune::Study& study) { json = views::importance_json(study, metric); };
  TRAINWARDEN_RETURN_IF_ERROR(desk.studies().with(request.in_path("study"), look));
  TRAINWARDEN_RETURN_IF_ERROR(json.status());
  return answers::json_reply(*json);
}

}  // namespace

std::vector<answers::Route> study_routes(WorkDesk& desk) {
  const auto with_desk = [&desk](auto* handler) {
    return
        [&desk, handler](const Request& request, const Services& services) { return handler(desk, request, services); };
  };
  return {
      {Method::kGet, "/studies", with_desk(list_of_studies)},
      {Method::kGet, "/studies/{study}", with_desk(one_study)},
      {Method::kGet, "/studies/{study}/importance", with_desk(importance)},
  };
}

}  // namespace trainwarden::work_answers
