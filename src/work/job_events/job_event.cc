#include "work/job_events/job_event.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/base/secret_mask.h"
#include "react/events/run_view.h"
#include "work/document/document.h"
#include "work/jobs/job_spec.h"
#include "work/sagemaker/job_description.h"
#include "work/sagemaker/job_request.h"

namespace trainwarden::job_events {
namespace {

namespace fs = std::filesystem;
using events::TimeForm;
using format::OrderedJson;
using jobs::JobPhase;
using jobs::Transition;

constexpr TimeForm kForm = TimeForm::kMilliseconds;

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

void mask_values(OrderedJson& values) {
  for (auto& [name, value] : values.items()) {
    if (value.is_string()) value = process_mask().mask.value(name, value.get<std::string>());
  }
}

// Of the user's file, which `submit` has checked. One that cannot be read says nothing.
OrderedJson request_json(const jobs::JobOrder& order) {
  jobs::JobSpec spec;
  document::Mistakes told;
  if (const auto top = document::parse(order.spec, order.spec_file); top.ok()) spec = jobs::read_job_spec(*top, told);
  const fs::path folder = fs::path(order.spec_file).parent_path();
  const OrderedJson request = sagemaker::request_of_spec(spec, folder);
  OrderedJson json = OrderedJson::object();
  for (const char* field : {"HyperParameters", "AlgorithmSpecification", "InputDataConfig", "OutputDataConfig",
                            "ResourceConfig", "StoppingCondition", "CheckpointConfig", "ExperimentConfig"}) {
    if (request.contains(field)) json[field] = request.at(field);
  }
  json["Tags"] = OrderedJson(spec.tags);
  if (json.contains("HyperParameters")) mask_values(json["HyperParameters"]);
  mask_values(json["Tags"]);
  return json;
}

std::string status_text(const Transition& transition) {
  return fmt::format("{}/{}", name(jobs::status_of(transition.status)), name(transition.status));
}

OrderedJson transitions_json(const std::vector<Transition>& all) {
  OrderedJson list = OrderedJson::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    OrderedJson json = {{"Status", name(all[i].status)}, {"StartTime", time_json(all[i].unix_ns, kForm, false)}};
    if (i + 1 < all.size()) json["EndTime"] = time_json(all[i + 1].unix_ns, kForm, false);
    json["StatusMessage"] = all[i].message;
    list.push_back(std::move(json));
  }
  return list;
}

void add_times(const std::vector<Transition>& all, OrderedJson& data) {
  const Transition& now = all.back();
  data["CreationTime"] = time_json(all.front().unix_ns, kForm, true);
  const auto start =
      std::find_if(all.begin(), all.end(), [](const Transition& one) { return one.status == JobPhase::kStarting; });
  if (start != all.end()) data["TrainingStartTime"] = time_json(start->unix_ns, kForm, true);
  if (jobs::is_terminal(now.status)) data["TrainingEndTime"] = time_json(now.unix_ns, kForm, true);
  data["LastModifiedTime"] = time_json(now.unix_ns, kForm, true);
}

// Who stopped it, or is stopping it, and why.
void add_stop(const std::vector<Transition>& all, OrderedJson& data) {
  const jobs::JobStatus status = jobs::status_of(all.back().status);
  if (status != jobs::JobStatus::kStopping && status != jobs::JobStatus::kStopped) return;
  const auto stop =
      std::find_if(all.rbegin(), all.rend(), [](const Transition& one) { return one.status == JobPhase::kStopping; });
  if (stop == all.rend()) return;
  data["StopReason"] = {
      {"RequestedBy", stop->cause}, {"Reason", stop->message}, {"Time", time_json(stop->unix_ns, kForm, false)}};
}

std::string headline_of(const std::string& job, const std::vector<Transition>& all) {
  const std::string& message = all.back().message;
  switch (all.back().status) {
    case JobPhase::kPending: return fmt::format("Job {} was submitted", job);
    case JobPhase::kStarting: return fmt::format("Job {} starts", job);
    case JobPhase::kDownloading: return fmt::format("Job {} fetches its inputs", job);
    case JobPhase::kTraining: return fmt::format("Job {} trains", job);
    case JobPhase::kInterrupted: return fmt::format("Job {} was interrupted: {}", job, message);
    case JobPhase::kRestarting: return fmt::format("Job {} goes on, attempt {}", job, jobs::attempt_of(all));
    case JobPhase::kUploading: return fmt::format("Job {} stores its results", job);
    case JobPhase::kStopping: return fmt::format("Job {} is asked to stop: {}", job, message);
    case JobPhase::kStopped: return fmt::format("Job {} has stopped: {}", job, message);
    case JobPhase::kMaxRuntimeExceeded:
    case JobPhase::kMaxWaitTimeExceeded: return fmt::format("Job {} has stopped, as its time was up", job);
    case JobPhase::kCompleted: return fmt::format("Job {} has completed", job);
    case JobPhase::kFailed: return fmt::format("Job {} failed: {}", job, message);
  }
  return {};
}

}  // namespace

std::string job_identity(const jobs::JobOrder& order) {
  return fmt::format("{}-{:x}", lower_case(order.name), order.submitted_unix_ns);
}

JobEventMaker::JobEventMaker(const jobs::JobOrder& order)
    : order_(order), identity_(job_identity(order)), request_(request_json(order)) {}

OrderedJson JobEventMaker::data(const std::vector<Transition>& all, std::size_t place) const {
  const std::vector<Transition> past(all.begin(), std::next(all.begin(), static_cast<std::ptrdiff_t>(place) + 1));
  const Transition& now = past.back();
  OrderedJson data = {{"TrainingJobName", order_.name},
                      {"TrainingJobArn", sagemaker::training_job_arn(sagemaker::kLocalRegion, order_.name)},
                      {"TrainingJobStatus", name(jobs::status_of(now.status))},
                      {"SecondaryStatus", name(now.status)}};
  if (now.status == JobPhase::kFailed) data["FailureReason"] = now.message;
  add_stop(past, data);
  data.update(request_);
  add_times(past, data);
  data["SecondaryStatusTransitions"] = transitions_json(past);
  data["Attempts"] = jobs::attempt_of(past);
  data["Host"] = order_.host;
  data["RunFolder"] = order_.run;
  return data;
}

events::Event JobEventMaker::event(const std::vector<Transition>& all, std::size_t place) const {
  const Transition& now = all[place];
  events::Event event;
  event.seq = static_cast<std::uint64_t>(now.seq);
  event.own_seq = event.seq;
  event.id = fmt::format("{}-{}", identity_, now.seq);
  event.key = event.id;
  event.type = events::kStateChangeType;
  event.subject = "job";
  event.source = fmt::format("/trainwarden/{}/jobs/{}", order_.host.empty() ? "cluster" : order_.host, order_.name);
  event.unix_ns = now.unix_ns;
  event.change.kind = events::ChangeKind::kJob;
  if (place > 0) event.change.from = status_text(all[place - 1]);
  event.change.to = status_text(now);
  event.headline =
      headline_of(order_.name, {all.begin(), std::next(all.begin(), static_cast<std::ptrdiff_t>(place) + 1)});
  event.text = fmt::format("{}\nJob {} is {}. Run: {}", now.message, order_.name, status_text(now), order_.run);
  event.data = data(all, place);
  return event;
}

}  // namespace trainwarden::job_events
