#include "ui/work_answers/study_json.h"

#include <algorithm>
#include <utility>

#include "ui/views/study_view.h"

namespace trainwarden::work_answers {
namespace {

using format::OrderedJson;

// How many steps of a metric a trial may have, where so many trials share an answer.
std::size_t most_steps(std::size_t trials, std::size_t metrics) {
  const std::size_t each = kMostStudySteps / std::max<std::size_t>(trials * metrics, 1);
  return std::clamp<std::size_t>(each, 8, kMostTrialSteps);
}

}  // namespace

OrderedJson study_page_json(const tune::Study& study, std::size_t from, const RunOfJob& run_of,
                            std::int64_t now_unix_ns) {
  const std::size_t count = study.state().history().trials.size();
  const std::size_t begin = std::min(from, count), end = std::min(begin + kMostStudyTrials, count);
  const std::size_t steps = most_steps(end - begin, study.spec().metrics.size());
  OrderedJson trials = OrderedJson::array();
  for (std::size_t i = begin; i < end; ++i) {
    OrderedJson trial = views::trial_json(study, i, steps);
    trial["run"] = run_of(study.state().record(i).job);
    trials.push_back(std::move(trial));
  }
  OrderedJson json = views::study_head_json(study, now_unix_ns);
  json["spec"] = tune::json_of(study.spec());
  json["from"] = begin;
  json["count"] = count;
  json["cut"] = end - begin < count;
  json["trials"] = std::move(trials);
  return json;
}

}  // namespace trainwarden::work_answers
