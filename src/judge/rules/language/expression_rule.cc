#include "judge/rules/language/expression_rule.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/language/evaluator.h"
#include "judge/rules/language/parser.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules::language {
namespace {

// How far past its limit, in parts of the limit; NaN is the worst.
double badness(const Finding& finding) {
  if (std::isnan(finding.value)) return std::numeric_limits<double>::infinity();
  const double scale = std::max(std::fabs(finding.threshold), std::numeric_limits<double>::min());
  return std::fabs(finding.value - finding.threshold) / scale;
}

class ExpressionRule final : public Rule {
 public:
  explicit ExpressionRule(Expression expression) : evaluator_(std::move(expression)) {}

  Verdict evaluate(const StepWindow& window) override {
    if (rule().mode && window.mode() != *rule().mode) {
      return Verdict::not_applicable(
          fmt::format("a {} step; {} steps are judged", name(window.mode()), name(*rule().mode)));
    }
    if (window.mode_step() % rule().every != 0) {
      return Verdict::not_applicable(fmt::format("only every {} steps are judged", rule().every));
    }
    return verdict_of(evaluator_.judge(window), window);
  }

  std::vector<Collection> needs() const override {
    std::vector<Collection> needs;
    for (const Selector& selector : rule().selectors) {
      Collection need = selector.need(policy());
      const bool asked =
          std::any_of(needs.begin(), needs.end(), [&](const Collection& earlier) { return earlier.name == need.name; });
      if (!asked) needs.push_back(std::move(need));
    }
    return needs;
  }

 private:
  const Expression& rule() const { return evaluator_.expression(); }

  Verdict verdict_of(Judgement judgement, const StepWindow& window) const {
    if (!judgement.overflow.ok()) return Verdict::error(judgement.overflow.message());
    if (!judgement.findings.empty()) return fired_verdict(std::move(judgement.findings), window);
    if (judgement.judged > 0) return Verdict::ok();
    if (judgement.waiting > 0) {
      return Verdict::insufficient_data(
          fmt::format("a window over steps is not full yet at {}", describe_step(window)));
    }
    return nothing_to_judge(judgement.gaps, "tensor that the rule reads", window);
  }

  // Of other modes than the one that is judged nothing is needed.
  SavePolicy policy() const {
    if (!rule().mode) return SavePolicy::every(rule().every);
    SavePolicy policy = SavePolicy::of({.end_step = 0});
    policy[*rule().mode] = SaveSchedule{.save_interval = rule().every};
    return policy;
  }

  Verdict fired_verdict(std::vector<Finding> findings, const StepWindow& window) const {
    std::stable_sort(findings.begin(), findings.end(),
                     [](const Finding& a, const Finding& b) { return badness(a) > badness(b); });
    std::string text = message(findings, window);
    std::vector<Evidence> evidence;
    for (Finding& finding : findings) {
      evidence.push_back({std::move(finding.spot.tensor), std::move(finding.spot.shown_worker),
                          std::move(finding.quantity), finding.value, finding.threshold, window.global_step()});
    }
    return fired(std::move(text), kAdvice, std::move(evidence), rule().severity);
  }

  std::string message(const std::vector<Finding>& findings, const StepWindow& window) const {
    const Finding& worst = findings.front();
    const std::string who =
        worst.spot.tensor.empty() ? "The step" : fmt::format("\"{}\"", printable(worst.spot.tensor));
    std::string text =
        fmt::format("{} meets {} at {}", who, rule().text_of(rule().nodes.back()), describe_step(window));
    text += fmt::format(": {} is {:.6g}, against {:.6g}", worst.quantity, worst.value, worst.threshold);
    if (rule().for_steps > 1) text += fmt::format("; for {} steps in a row", worst.steps_held);
    if (findings.size() > 1) text += fmt::format("; so do {} others", findings.size() - 1);
    return text + ".";
  }

  static constexpr const char* kAdvice =
      "Look at the tensor that is named over the last steps (`trainwarden show`), and see what changed before them.";

  Evaluator evaluator_;
};

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

// "NAME:param=value" as far as its first "=", which no "=" follows.
bool has_parameters(std::string_view spec) {
  const std::size_t colon = spec.find(':');
  if (colon == std::string_view::npos) return false;
  const std::size_t equals = spec.find('=', colon);
  if (equals == std::string_view::npos || spec.substr(equals).starts_with("==")) return false;
  const auto is_name = [](std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_name_character);
  };
  return is_name(trim(spec.substr(0, colon))) && is_name(trim(spec.substr(colon + 1, equals - colon - 1)));
}

}  // namespace

bool reads_like_expression(std::string_view spec) {
  if (has_parameters(spec)) return false;
  for (const std::string_view sign : {"(", "<", ">", "==", "!="}) {
    if (spec.find(sign) != std::string_view::npos) return true;
  }
  return false;
}

Result<RuleSpec> parse_expression_spec(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Expression expression, parse_expression(text));
  return RuleSpec{expression.name.empty() ? std::string(kDefaultName) : expression.name,
                  {{kExpressionParameter, std::string(trim(text))}}};
}

Result<std::unique_ptr<Rule>> create_expression_rule(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Expression expression, parse_expression(text));
  return std::unique_ptr<Rule>(new ExpressionRule(std::move(expression)));
}

bool is_expression_spec(const RuleSpec& spec) {
  return spec.parameters.size() == 1 && spec.parameters.contains(kExpressionParameter);
}

}  // namespace trainwarden::rules::language
