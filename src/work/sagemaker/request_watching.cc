// What watches the training of a request: its hook, rules, what these start, the profiler, TensorBoard.
#include <fmt/format.h>

#include "data/foreign/smdebug_profiler_config.h"
#include "work/sagemaker/job_request.h"
#include "work/sagemaker/request_parts.h"
#include "work/workspace/layout.h"

namespace trainwarden::sagemaker {
namespace {

using document::DocumentValue;
using document::TableReader;
using format::OrderedJson;

constexpr const char* kInTheRun = "leave it out: a run lies in the folder of runs";
constexpr const char* kBeside = "leave it out: a rule is judged beside its training";
constexpr const char* kClass = "rule_to_invoke";
constexpr const char* kOwnFile = "source_s3_uri";

void read_hook(TableReader& request, RequestReading& reading) {
  const DocumentValue* const value = request.table({"DebugHookConfig"});
  if (value == nullptr) {
    reading.job["hook"] = false;
    return;
  }
  TableReader hook(*value, reading.mistakes);
  const std::string address = hook.text({"S3OutputPath"}).value_or("");
  if (workspace::is_in_bucket(address)) {
    reading.job["mirror"] = address;
  } else if (!address.empty()) {
    reading.files.captured = absolute_address(address, reading);
  }
  OrderedJson wanted = OrderedJson::object();
  for (const char* field : {"HookParameters", "CollectionConfigurations"}) {
    if (OrderedJson json = json_of(hook.take({field})); !json.empty()) wanted[field] = std::move(json);
  }
  refuse_fields(hook, {{"LocalPath", kInTheRun}});
  hook.refuse_rest();
  if (wanted.empty()) return;
  reading.files.texts["hook.json"] = file_text(wanted);
  reading.job["hook"] = "hook.json";
}

// As --rule of `trainwarden run` takes it: NAME:param="value".
std::string rule_text(const DocumentValue& parameters, const RequestReading& reading) {
  std::string rule;
  std::string file;
  std::string own;
  for (const auto& [name, value] : parameters.fields) {
    if (name == kClass) {
      rule = value.text;
    } else if (name == kOwnFile) {
      file = absolute_address(value.text, reading) + ":";
    } else if (name != "action_json") {
      std::string text = name == "other_trials" ? absolute_address(value.text, reading) : value.text;
      for (std::size_t i = text.find('"'); i != std::string::npos; i = text.find('"', i + 2)) text.insert(i, 1, '\\');
      own += fmt::format("{}{}=\"{}\"", own.empty() ? "" : ",", name, text);
    }
  }
  return file + rule + (own.empty() ? "" : ":" + own);
}

bool names_a_rule(const DocumentValue& parameters, RequestReading& reading) {
  bool has_class = false;
  for (const auto& [name, value] : parameters.fields) {
    if (!value.is(DocumentValue::Kind::kText)) reading.mistakes.add(value.place, name + ": expected a text");
    has_class = has_class || (name == kClass && !value.text.empty());
  }
  return has_class;
}

// Its parameters; null when something is wrong with it.
const DocumentValue* read_rule(const DocumentValue& value, RequestReading& reading) {
  const auto wrong = [&](const char* what) { reading.mistakes.add(value.place, what); };
  if (!value.is(DocumentValue::Kind::kTable)) {
    wrong("expected {\"RuleConfigurationName\": ..., \"RuleParameters\": ...}");
    return nullptr;
  }
  TableReader rule(value, reading.mistakes);
  const bool is_named = !rule.text({"RuleConfigurationName"}).value_or("").empty();
  const DocumentValue* parameters = rule.table({"RuleParameters"});
  rule.text({"RuleEvaluatorImage"});  // describe shows it; rules are those of this program, and of the user's files
  refuse_fields(
      rule,
      {{"InstanceType", kBeside}, {"VolumeSizeInGB", kBeside}, {"LocalPath", kInTheRun}, {"S3OutputPath", kInTheRun}});
  rule.refuse_rest();
  if (!is_named) wrong("expected the field RuleConfigurationName");
  if (parameters != nullptr && names_a_rule(*parameters, reading)) return parameters;
  wrong("expected RuleParameters with rule_to_invoke, the name of a rule");
  return nullptr;
}

// Those of one list, null when there is none or something is wrong with it. All of them judge the run alike.
const DocumentValue* read_rule_list(TableReader& request, const char* field, RequestReading& reading) {
  const DocumentValue* const rules = request.take({field});
  if (rules == nullptr) return nullptr;
  if (!rules->is(DocumentValue::Kind::kList)) request.wrong_kind(*rules, field, "a list of rules");
  const std::size_t mistakes = reading.mistakes.count();
  for (const DocumentValue& value : rules->items) {
    const DocumentValue* const parameters = read_rule(value, reading);
    if (parameters != nullptr) reading.job["rules"].push_back(rule_text(*parameters, reading));
  }
  return reading.mistakes.count() == mistakes ? rules : nullptr;
}

void read_rules(TableReader& request, RequestReading& reading) {
  const DocumentValue* const rules = read_rule_list(request, "DebugRuleConfigurations", reading);
  read_rule_list(request, "ProfilerRuleConfigurations", reading);
  if (rules == nullptr) return;
  const auto actions = action_file_text(json_of(rules), reading.files.name, reading.places.environment);
  if (!actions.ok()) return reading.mistakes.add(rules->place, actions.status().message());
  if (actions->empty()) return;
  reading.files.texts["actions.toml"] = *actions;
  reading.job["actions"] = "actions.toml";
}

// As the file that SageMaker's platform gives to a training, where smdebug and `trainwarden run` look for it. Each job
// has one, so that it can be told otherwise while it runs.
void read_profiler(TableReader& request, OrderedJson& environment, RequestReading& reading) {
  reading.files.texts[kProfilerFile] = file_text(OrderedJson::object());
  environment["SMPROFILER_CONFIG_PATH"] = (reading.files.folder / kProfilerFile).string();
  const DocumentValue* const value = request.table({"ProfilerConfig"});
  if (value == nullptr) return;
  OrderedJson wanted = json_of(value);
  wanted.erase("S3OutputPath");
  const std::string text = file_text(wanted);
  if (const auto config = foreign::parse_smdebug_profiler_config(text); !config.ok()) {
    return reading.mistakes.add(value->place, config.status().message());
  }
  TableReader config(*value, reading.mistakes);
  if (config.text({"S3OutputPath"}).has_value()) {
    reading.files.notices.emplace_back(
        "ProfilerConfig.S3OutputPath: the profile is in the job's run; `trainwarden export RUN FOLDER --to "
        "smdebug-profiler` "
        "writes it as SageMaker's profiler does");
  }
  reading.files.texts[kProfilerFile] = text;
}

void read_tensorboard(TableReader& request, OrderedJson& environment, RequestReading& reading) {
  const DocumentValue* const value = request.table({"TensorBoardOutputConfig"});
  if (value == nullptr) return;
  TableReader config(*value, reading.mistakes);
  const std::string address = config.text({"S3OutputPath"}).value_or("");
  refuse_fields(config, {{"LocalPath", "leave it out: the export is written where it is to be found"}});
  config.refuse_rest();
  if (address.empty()) return reading.mistakes.add(value->place, "expected the field S3OutputPath");
  // What is sent to a bucket is written in the job's folder first.
  const bool is_sent = workspace::is_in_bucket(address);
  if (is_sent) reading.job["tensorboard"] = address;
  const auto folder = is_sent ? Result<std::filesystem::path>(reading.files.folder.parent_path() / workspace::kBoard)
                              : workspace::local_path(absolute_address(address, reading), reading.places.here);
  if (!folder.ok()) return reading.mistakes.add(value->place, folder.status().message());
  reading.files.texts["tensorboard.json"] = file_text({{"LocalPath", folder->string()}});
  environment["TENSORBOARD_CONFIG_FILE_PATH"] = (reading.files.folder / "tensorboard.json").string();
}

}  // namespace

void read_watching(TableReader& request, OrderedJson& environment, RequestReading& reading) {
  read_hook(request, reading);
  read_rules(request, reading);
  read_profiler(request, environment, reading);
  read_tensorboard(request, environment, reading);
}

}  // namespace trainwarden::sagemaker
