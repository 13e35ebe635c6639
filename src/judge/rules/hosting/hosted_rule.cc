#include "judge/rules/hosting/hosted_rule.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "core/base/program_variables.h"
#include "core/base/spec_text.h"
#include "core/base/text.h"
#include "data/format/json.h"
#include "judge/rules/parameters.h"
#include "judge/rules/verdict_record.h"
#include "read/trial/trial_access.h"
#include "store/storage/location.h"

namespace trainwarden::rules {
namespace {

namespace fs = std::filesystem;
using format::Json;
using format::OrderedJson;

constexpr const char* kFileParameter = "rule_file";
constexpr const char* kTimeParameter = "host.time_limit";
constexpr const char* kMemoryParameter = "host.memory_limit";
constexpr std::chrono::seconds kStartTime{60};  // imports take their time, and so does opening a large run
constexpr double kGiB = 1ULL << 30ULL;

bool is_python(std::string_view file) {
  return file.ends_with(".py");
}

// Where the file's name ends; npos when there is none.
std::size_t file_end(std::string_view spec) {
  for (std::size_t colon = spec.find(':');; colon = spec.find(':', colon + 1)) {
    const std::string_view file = trim(spec.substr(0, colon));
    if (file.find_first_of("=()<>\"") != std::string_view::npos) return std::string_view::npos;
    if (file.ends_with(".py") || file.ends_with(".so")) return std::min(colon, spec.size());
    if (colon == std::string_view::npos) return colon;
  }
}

// This program, when it is ours; else the one in PATH.
std::string trainwarden_program() {
  if (const char* named = std::getenv(variable::kProgram); named != nullptr && *named != '\0') return named;
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  return self.filename() == "trainwarden" ? self.string() : "trainwarden";
}

std::string python_program() {
  const char* named = std::getenv(variable::kPython);
  return named != nullptr && *named != '\0' ? named : "python3";
}

// Python puts the working directory first on its path, also for -m: whatever lies there would be run in place of a
// module of that name. The option -P against it is new in 3.11.
constexpr const char* kPythonHost =
    "import sys\n"
    "if sys.path[:1] == ['']: del sys.path[0]\n"
    "from trainwarden.rule_host import main\n"
    "sys.exit(main())";

std::vector<std::string> host_of(const std::string& file) {
  if (is_python(file)) return {python_program(), "-c", kPythonHost};
  return {trainwarden_program(), "rule-host"};
}

Result<HostLimits> read_limits(const RuleParameters& given) {
  const HostLimits usual;
  RuleParameters parameters = given;
  parameters.emplace(kTimeParameter, fmt::format("{}", static_cast<double>(usual.time.count()) / 1000));
  parameters.emplace(kMemoryParameter, fmt::format("{}", static_cast<double>(usual.memory_bytes) / kGiB));
  ParameterReader read(parameters);
  const double seconds = read.number(kTimeParameter, 0.001, 3600);
  const double gib = read.number(kMemoryParameter, 0.001, 1e6);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return HostLimits{std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000)),
                    static_cast<std::uint64_t>(gib * kGiB)};
}

HostLimits at_start(const HostLimits& limits) {
  return {std::max<std::chrono::milliseconds>(limits.time, kStartTime), limits.memory_bytes};
}

// {"name": "gradients", "include": [...], "every": 1, "keep": ["statistics"]}
Result<Collection> need_from_json(const Json& json) {
  Collection need;
  TRAINWARDEN_ASSIGN_OR_RETURN(need.name, format::string_field(json, "name"));
  TRAINWARDEN_ASSIGN_OR_RETURN(need.include, format::strings_field(json, "include"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t every, format::int_field(json, "every", 1));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto forms, format::strings_field(json, "keep"));
  need.save = SavePolicy::every(every);
  KeepForm keep{.values = false};
  for (const std::string& form : forms) {
    const std::pair<const char*, bool*> known[] = {{"values", &keep.values},
                                                   {"statistics", &keep.statistics},
                                                   {"histogram", &keep.histogram},
                                                   {"hash", &keep.hash},
                                                   {"shape", &keep.shape}};
    const auto found =
        std::find_if(std::begin(known), std::end(known), [&](const auto& word) { return form == word.first; });
    if (found == std::end(known)) {
      return Status(Code::kInvalidArgument,
                    fmt::format("needs {} in the form \"{}\"; expected values, statistics, histogram, hash or shape",
                                printable(need.name), printable(form)));
    }
    *found->second = true;
  }
  need.keep = keep;
  return need;
}

// The answer as an object. {"error": "..."} is a kInvalidArgument.
Result<Json> answer_of(HostProcess& host, const OrderedJson& question, const HostLimits& limits) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string line, host.ask(format::dump_json(question), limits));
  auto answer = format::parse_json_object(line, "its answer");
  if (!answer.ok() || !answer->contains("error")) return answer;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string error, format::string_field(*answer, "error"));
  return Status(Code::kInvalidArgument, error);
}

class HostedRule final : public Rule {
 public:
  HostedRule(std::unique_ptr<HostProcess> host, const HostLimits& limits, std::vector<Collection> needs)
      : host_(std::move(host)), limits_(limits), needs_(std::move(needs)) {}

  Verdict evaluate(const StepWindow& window) override {
    if (window.trial() == nullptr) return Verdict::not_applicable("a rule in a process of its own judges files only");
    if (!opened_) {
      const storage::Location run = TrialAccess::location(*window.trial()).absolute();
      const OrderedJson question = {{"ask", "open"}, {"run", run.address()}};
      const auto answer = answer_of(*host_, question, at_start(limits_));
      if (!answer.ok()) return failed(answer.status());
      opened_ = true;
    }
    const auto answer = host_->ask(format::dump_json({{"ask", "judge"}, {"step", window.global_step()}}), limits_);
    if (!answer.ok()) return failed(answer.status());
    auto verdict = decode_answer(*answer);
    return verdict.ok() ? *std::move(verdict) : failed(verdict.status());
  }

  std::vector<Collection> needs() const override { return needs_; }

 private:
  Verdict failed(const Status& status) {
    host_.reset();  // parked: nobody asks it again
    return Verdict::error(status.message());
  }

  std::unique_ptr<HostProcess> host_;
  const HostLimits limits_;
  const std::vector<Collection> needs_;
  bool opened_ = false;
};

}  // namespace

bool names_rule_file(std::string_view spec) {
  return file_end(spec) != std::string_view::npos;
}

Result<RuleSpec> parse_hosted_spec(std::string_view text) {
  const std::size_t end = file_end(text);
  const std::string file(trim(text.substr(0, end)));
  const std::string stem = fs::path(file).stem().string();
  RuleSpec spec{stem, {{kFileParameter, file}}};
  if (end >= text.size()) return spec;
  const std::string_view rest = text.substr(end + 1);
  // The name may be left out: my_rules.py::threshold=3 and my_rules.py:threshold=3.
  const std::size_t colon = rest.find(':');
  const std::string_view head = trim(rest.substr(0, colon));
  const bool named = !head.empty() && head.find('=') == std::string_view::npos;
  const std::string normal =
      named ? std::string(rest) : fmt::format("{}:{}", stem, head.empty() ? rest.substr(colon + 1) : rest);
  TRAINWARDEN_ASSIGN_OR_RETURN(const SpecText words, split_spec(normal, "rule"));
  if (named) {
    spec.name = words.name;
    spec.parameters.emplace("rule_name", words.name);
  }
  for (const auto& [name, value] : words.parameters) {
    if (spec.parameters.emplace(name, value).second) continue;
    return Status(Code::kInvalidArgument, fmt::format("rule {} is given {} twice", printable(spec.name), name));
  }
  return spec;
}

bool is_hosted_spec(const RuleSpec& spec) {
  return spec.parameters.contains(kFileParameter);
}

Result<std::unique_ptr<Rule>> create_hosted_rule(const RuleSpec& spec) {
  return create_hosted_rule(spec, host_of(spec.parameters.at(kFileParameter)));
}

Result<std::unique_ptr<Rule>> create_hosted_rule(const RuleSpec& spec, std::vector<std::string> host) {
  const std::string& file = spec.parameters.at(kFileParameter);
  const std::string shown = fmt::format("rule {} of {}", printable(spec.name), printable(file));
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) {
    return Status(Code::kInvalidArgument, fmt::format("{}: there is no such file", shown));
  }
  auto limits = read_limits(spec.parameters);
  if (!limits.ok()) return limits.status().with_context(shown);
  RuleParameters parameters = spec.parameters;
  const auto named = parameters.find("rule_name");
  const std::string name = named == parameters.end() ? "" : named->second;
  for (const char* ours : {kFileParameter, "rule_name", kTimeParameter, kMemoryParameter}) parameters.erase(ours);

  const std::string program = host.front();
  TRAINWARDEN_ASSIGN_OR_RETURN(auto process, HostProcess::start(std::move(host)));
  const OrderedJson question = {{"ask", "start"},
                                {"file", fs::absolute(file, ignored).string()},
                                {"rule", name},
                                {"parameters", OrderedJson(parameters)}};
  const auto answer = answer_of(*process, question, at_start(*limits));
  if (!answer.ok()) {
    const bool program_failed = answer.status().code() != Code::kInvalidArgument;
    const std::string hint =
        program_failed && is_python(file)
            ? fmt::format(" (TRAINWARDEN_PYTHON names the interpreter that has the package trainwarden; it is {})",
                          program)
            : "";
    return Status(Code::kInvalidArgument, fmt::format("{}: {}{}", shown, answer.status().message(), hint));
  }
  std::vector<Collection> needs;
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* list, format::array_field(*answer, "needs"));
  for (const Json& need : *list) {
    if (!need.is_object()) return Status(Code::kInvalidArgument, fmt::format("{}: its needs are no objects", shown));
    auto collection = need_from_json(need);
    if (!collection.ok())
      return Status(Code::kInvalidArgument, fmt::format("{}: {}", shown, collection.status().message()));
    needs.push_back(*std::move(collection));
  }
  return std::unique_ptr<Rule>(new HostedRule(std::move(process), *limits, std::move(needs)));
}

}  // namespace trainwarden::rules
