#include "ui/work_answers/study_json.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/secret_mask.h"
#include "ui/views/study_view.h"

namespace trainwarden::work_answers {
namespace {

using format::OrderedJson;

// How many steps of a metric a trial may have, where so many trials share an answer.
std::size_t most_steps(std::size_t trials, std::size_t metrics) {
  const std::size_t each = kMostStudySteps / std::max<std::size_t>(trials * metrics, 1);
  return std::clamp<std::size_t>(each, 8, kMostTrialSteps);
}

// As of hyper-parameters wherever they are shown: what has the name or the form of a secret.
OrderedJson masked_value(std::string_view name, const OrderedJson& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const std::string shown = process_mask().mask.value(name, text);
  return shown == text ? value : OrderedJson(shown);
}

void mask_each(std::string_view name, OrderedJson& values) {
  for (OrderedJson& value : values) value = masked_value(name, value);
}

void mask_parameter(const std::string& name, OrderedJson& parameter) {
  if (parameter.contains("choices")) mask_each(name, parameter["choices"]);
  if (parameter.contains("first")) parameter["first"] = masked_value(name, parameter["first"]);
  if (!parameter.contains("when")) return;
  for (auto& [parent, values] : parameter["when"].items()) mask_each(parent, values);
}

void mask_text(OrderedJson& object, const char* field) {
  object[field] = mask_secrets(object[field].get<std::string>());
}

void mask_trial(OrderedJson& trial) {
  for (const char* const field : {"values", "wished", "attributes"}) {
    if (!trial.contains(field)) continue;
    for (auto& [name, value] : trial[field].items()) value = masked_value(name, value);
  }
  mask_text(trial, "why");
}

}  // namespace

OrderedJson study_row_json(const tune::Study& study, std::int64_t now_unix_ns) {
  OrderedJson json = views::study_head_json(study, now_unix_ns);
  mask_text(json, "state");
  return json;
}

OrderedJson study_page_json(const tune::Study& study, std::size_t from, const RunOfJob& run_of,
                            std::int64_t now_unix_ns) {
  const std::size_t count = study.state().history().trials.size();
  const std::size_t begin = std::min(from, count), end = std::min(begin + kMostStudyTrials, count);
  const std::size_t steps = most_steps(end - begin, study.spec().metrics.size());
  OrderedJson trials = OrderedJson::array();
  for (std::size_t i = begin; i < end; ++i) {
    OrderedJson trial = views::trial_json(study, i, steps);
    mask_trial(trial);
    trial["run"] = run_of(study.state().record(i).job);
    trials.push_back(std::move(trial));
  }
  OrderedJson json = study_row_json(study, now_unix_ns);
  json["spec"] = views::study_spec_json(study);
  for (auto& [name, parameter] : json["spec"]["parameters"].items()) mask_parameter(name, parameter);
  json["from"] = begin;
  json["count"] = count;
  json["cut"] = end - begin < count;
  json["trials"] = std::move(trials);
  return json;
}

}  // namespace trainwarden::work_answers
