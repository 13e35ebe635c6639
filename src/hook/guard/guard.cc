#include "trainwarden/guard.h"
#include "core/base/environment.h"
#include "core/base/hook_variables.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "hook/capture/config/hook_environment.h"
#include "hook/capture/open_hook.h"
#include "hook/guard/step_guard.h"
#include "judge/rules/engine.h"
#include "judge/rules/hosting/hosted_rule.h"
#include "judge/rules/registry.h"

namespace trainwarden {
namespace {

constexpr std::string_view kDefaultRules = "default";

// Rules of one's own are taken at their word.
Status check_place(const RuleSpec& spec) {
  if (rules::is_hosted_spec(spec)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("rule {} is of a file and judges in a process of its own, which sees steps when they are "
                              "on disk; let it judge beside the training, without --inside, or write it as a line of "
                              "text",
                              spec.name));
  }
  const RuleKind* const kind = rules::find_builtin(spec.name);
  if (kind == nullptr || kind->description.in_process) return Status();
  return Status(Code::kInvalidArgument,
                fmt::format("rule {} cannot judge inside the training, as it needs more than statistics and scalars of "
                            "one step; let it judge beside the training, without --inside",
                            spec.name));
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) lines.emplace_back(line);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

}  // namespace

std::string_view name(OnFire on_fire) {
  switch (on_fire) {
    case OnFire::kReport: return "report";
    case OnFire::kSkipStep: return "skip_step";
    case OnFire::kStop: return "stop";
  }
  return "unknown";
}

Result<OnFire> parse_on_fire(std::string_view word) {
  for (const OnFire on_fire : {OnFire::kReport, OnFire::kSkipStep, OnFire::kStop}) {
    if (word == name(on_fire)) return on_fire;
  }
  if (word == "skip-step") return OnFire::kSkipStep;
  return Status(Code::kInvalidArgument,
                fmt::format("expected report, skip_step or stop, found \"{}\"", printable(word)));
}

Status Guard::install(Hook& hook, std::vector<GuardRule> rules, const GuardOptions& options) {
  return no_throw([&]() -> Status {
    std::vector<rules::EngineRule> judges;
    for (GuardRule& rule : rules) {
      if (rule.rule == nullptr) return Status(Code::kInvalidArgument, "rule \"" + rule.spec.name + "\" is null");
      TRAINWARDEN_RETURN_IF_ERROR(check_place(rule.spec));
      const RuleKind* const kind = rules::find_builtin(rule.spec.name);
      auto& judge = judges.emplace_back(rules::EngineRule{std::move(rule.spec), std::move(rule.rule)});
      if (kind != nullptr) judge.consequences = kind->description.consequences;
    }
    return capture::HookOpener::install_judge(
        hook, [&](const capture::JudgeSite& site) -> Result<std::unique_ptr<capture::StepJudge>> {
          return std::unique_ptr<capture::StepJudge>(new guard::StepGuard(std::move(judges), options, site));
        });
  });
}

Status Guard::install(Hook& hook, const std::vector<RuleSpec>& rules, const GuardOptions& options) {
  return no_throw([&]() -> Status {
    std::vector<GuardRule> created;
    for (const RuleSpec& spec : rules) {
      TRAINWARDEN_ASSIGN_OR_RETURN(auto rule, create_rule(spec));
      created.push_back({spec, std::move(rule)});
    }
    return install(hook, std::move(created), options);
  });
}

Result<std::vector<RuleSpec>> Guard::parse_rules(const std::vector<std::string>& words) {
  return no_throw([&]() -> Result<std::vector<RuleSpec>> {
    std::vector<RuleSpec> specs;
    for (const std::string& word : words) {
      if (word != kDefaultRules) {
        TRAINWARDEN_ASSIGN_OR_RETURN(RuleSpec spec, parse_rule_spec(word));
        TRAINWARDEN_RETURN_IF_ERROR(check_place(spec));
        specs.push_back(std::move(spec));
        continue;
      }
      for (const RuleKind& kind : builtin_rules()) {
        if (kind.description.by_default && kind.description.in_process) specs.push_back({kind.description.name, {}});
      }
    }
    return specs;
  });
}

Status Guard::install_from_environment(Hook& hook) {
  return no_throw([&]() -> Status {
    const char* const words = process_environment(variable::kGuardRules);
    if (words == nullptr) return Status();
    auto specs = parse_rules(lines_of(words));
    if (!specs.ok()) return specs.status().with_context(variable::kGuardRules);
    GuardOptions options;
    if (const char* const word = process_environment(variable::kOnFire)) {
      const Result<OnFire> on_fire = parse_on_fire(word);
      if (!on_fire.ok()) return on_fire.status().with_context(variable::kOnFire);
      options.on_fire = *on_fire;
    }
    if (const char* const keys = process_environment(variable::kMute)) options.mute = lines_of(keys);
    return install(hook, *specs, options);
  });
}

}  // namespace trainwarden
