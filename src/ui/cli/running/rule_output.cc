#include "ui/cli/running/rule_output.h"

#include <limits>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "data/format/parse_json.h"
#include "ui/cli/running/report_files.h"
#include "work/jobs/job_rules.h"
#include "work/sagemaker/job_request.h"
#include "work/sagemaker/rule_evaluations.h"
#include "work/workspace/layout.h"

namespace trainwarden::cli {
namespace {

using format::OrderedJson;

constexpr std::uint64_t kMaxReportBytes = std::uint64_t{1} << 30;

// "threshold:50\npatience:100", as the original has them.
std::string parameters_text(const OrderedJson& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters.items()) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : "\n", name, value.is_string() ? value.get<std::string>() : "");
  }
  return text;
}

OrderedJson details_of(const OrderedJson& rule) {
  OrderedJson details = OrderedJson::object();
  for (const char* field : {"status", "message", "advice", "step_share", "gain", "explained_by", "evidence"}) {
    details[field] = rule.value(field, OrderedJson());
  }
  return details;
}

OrderedJson rule_report(const OrderedJson& rule) {
  return {{"RuleTriggered", rule.value("episodes", std::uint64_t{0})},
          {"Violations", rule.value("firings", std::uint64_t{0})},
          {"Details", details_of(rule)},
          {"Datapoints", rule.value("judgements", std::uint64_t{0})},
          {"RuleParameters", parameters_text(rule.value("parameters", OrderedJson::object()))}};
}

// Of a job that a request asked for, with the name that the request has for it. No link in the job's folder is
// followed.
Result<storage::Location> folder_of_rule(const jobs::JobRecord& job, const std::string& rule_id) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::JobSpec spec, sagemaker::spec_of(job));
  TRAINWARDEN_ASSIGN_OR_RETURN(const workspace::JobLayout layout, workspace::layout_of(job, spec));
  const std::string name = sagemaker::requested_name(sagemaker::request_of(job, spec), rule_id);
  const storage::Location outputs(layout.rule_output.parent_path());
  const std::string path = fmt::format("{}/{}/profiler-output", workspace::kRuleOutput, jobs::rule_file_name(name));
  TRAINWARDEN_RETURN_IF_ERROR(outputs.storage().create_folder(path + "/profiler-reports"));
  return outputs.beneath(path);
}

Status copy_file_of_run(const storage::Location& run, const char* from, storage::Storage& to, const char* name) {
  if (!run.storage().exists(from)) return {};  // a program without its page writes none
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string bytes, run.storage().read(from, kMaxReportBytes));
  return to.replace(name, as_bytes(bytes));
}

}  // namespace

Result<std::map<std::string, std::string>> rule_reports_of(std::string_view document) {
  constexpr format::JsonLimits kOurOwn{.values = std::numeric_limits<std::uint64_t>::max()};
  TRAINWARDEN_ASSIGN_OR_RETURN(const OrderedJson json, format::parse_ordered_json(document, "the profile", kOurOwn));
  const auto rules = json.find("rules");
  if (rules == json.end() || !rules->is_array()) {
    return Status(Code::kDataLoss, "the profile: expected the field rules, a list, found none");
  }
  std::map<std::string, std::string> reports;
  for (const OrderedJson& rule : *rules) {
    if (rule.value("judgements", std::uint64_t{0}) == 0) continue;
    reports[rule.value("rule", "")] = rule_report(rule).dump(2, ' ', false, OrderedJson::error_handler_t::replace);
  }
  return reports;
}

Result<std::string> write_rule_output(const jobs::JobRecord& job, const std::string& rule_id,
                                      const storage::Location& run) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string document, run.storage().read(kRunReportDocument, kMaxReportBytes));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto reports, rule_reports_of(document));
  TRAINWARDEN_ASSIGN_OR_RETURN(const storage::Location folder, folder_of_rule(job, rule_id));
  storage::Storage& files = folder.storage();
  TRAINWARDEN_RETURN_IF_ERROR(copy_file_of_run(run, kRunReportPage, files, "profiler-report.html"));
  TRAINWARDEN_RETURN_IF_ERROR(files.replace("profiler-report.json", as_bytes(document)));
  for (const auto& [rule, report] : reports) {
    TRAINWARDEN_RETURN_IF_ERROR(
        files.replace(fmt::format("profiler-reports/{}.json", jobs::rule_file_name(rule)), as_bytes(report + "\n")));
  }
  return folder.address();
}

}  // namespace trainwarden::cli
