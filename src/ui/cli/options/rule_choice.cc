#include "ui/cli/options/rule_choice.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/text_file.h"
#include "judge/rules/rule_sets.h"
#include "ui/cli/options/words_option.h"

namespace trainwarden::cli {
namespace {

// A spec a line; # begins a comment line.
Result<std::vector<std::string>> read_specs(const std::string& file) {
  const std::optional<std::string> text = read_text_file(file);
  if (!text) {
    const std::string_view gone =
        file == "all" ? " (\"all\" is no set any more: it alarmed about every training, healthy ones too)" : "";
    return Status(Code::kNotFound, fmt::format("--rules {}: expected {} or a file with one rule in each line; there is "
                                               "no such file{}",
                                               printable(file), rules::kRuleSets, gone));
  }
  std::vector<std::string> specs = lines_that_count(*text);
  if (specs.empty()) {
    return Status(Code::kInvalidArgument, fmt::format("--rules {}: there is no rule in this file", printable(file)));
  }
  return specs;
}

Result<std::vector<std::string>> specs_of_set(const std::string& set) {
  if (std::optional<std::vector<std::string>> specs = rules::rule_set(set)) return *std::move(specs);
  return read_specs(set);
}

// "VanishingGradient" of "vanishing_gradient:threshold=1e-6"; what is no built-in rule stands for itself.
std::string rule_name(const std::string& text) {
  const auto spec = parse_rule_spec(text);
  return spec.ok() ? spec->name : text;
}

}  // namespace

bool is_rule_set(std::string_view word) {
  return rules::rule_set(word).has_value();
}

Result<std::vector<rules::EngineRule>> create_rules(const std::vector<std::string>& specs) {
  std::vector<RuleSpec> parsed;
  for (const std::string& text : specs) {
    TRAINWARDEN_ASSIGN_OR_RETURN(RuleSpec spec, parse_rule_spec(text));
    parsed.push_back(std::move(spec));
  }
  return rules::create_engine_rules(parsed);
}

Result<std::vector<std::string>> RuleChoice::specs() const {
  std::vector<std::string> named;
  for (const std::string& text : rules) named.push_back(rule_name(text));
  std::vector<std::string> specs;
  for (const std::string& set : sets) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> of_set, specs_of_set(set));
    for (const std::string& text : of_set) {
      const bool by_name = std::find(named.begin(), named.end(), rule_name(text)) != named.end();
      const bool twice = std::find(specs.begin(), specs.end(), text) != specs.end();
      if (!by_name && !twice) specs.push_back(text);
    }
  }
  specs.insert(specs.end(), rules.begin(), rules.end());
  return specs;
}

Result<std::vector<rules::EngineRule>> RuleChoice::create_some() const {
  if (empty()) {
    return Status(Code::kInvalidArgument,
                  "no rule is chosen: --rules default takes those that suit every training, --rule NAME a single one; "
                  "`trainwarden rules` lists them");
  }
  return create();
}

Result<std::vector<rules::EngineRule>> RuleChoice::create() const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> texts, specs());
  return create_rules(texts);
}

void add_rule_choice(CLI::App& command, RuleChoice& choice) {
  add_words(command, "--rule", choice.rules, "Judge by NAME[:PARAMETER=VALUE,...]; several times for several rules")
      ->type_name("RULE");
  add_words(command, "--rules", choice.sets,
            "Judge by a set of rules: default, sagemaker, profiler, or a file with one in each line")
      ->type_name("SET");
  add_words(command, "--mute", choice.mute,
            "Do not alarm about verdicts with this key: a rule's name, or RULE:TENSOR as a verdict shows it")
      ->type_name("KEY");
}

}  // namespace trainwarden::cli
