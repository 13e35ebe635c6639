#include "ui/cli/options/known_rules.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "react/delivery/named_rules.h"
#include "trainwarden/rule.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

std::vector<std::string> with_builtin_rules(std::span<const std::string> own) {
  std::vector<std::string> names(own.begin(), own.end());
  for (const RuleKind& kind : builtin_rules()) names.push_back(kind.description.name);
  return names;
}

Status no_such_rule(const delivery::Wire& wire, const std::string& name, const std::vector<std::string>& known) {
  const std::string hint = did_you_mean(name, known);
  return Status(
      Code::kInvalidArgument,
      fmt::format("{}: {}: there is no rule \"{}\", so this would never happen{}; name a rule that `trainwarden rules` "
                  "lists{}, or one of your own that --rule names",
                  printable(wire.where), printable(wire.action), printable(name), hint,
                  hint.empty() ? fmt::format(" ({})", printable(fmt::format("{}", fmt::join(known, ", ")))) : ""));
}

}  // namespace

Status check_named_rules(const ActionWiring& wiring, std::span<const std::string> own) {
  const std::vector<std::string> known = with_builtin_rules(own);
  for (const delivery::Wiring& part : wiring.parts) {
    for (const delivery::Wire& wire : part.wires) {
      for (const delivery::NamedRule& named : delivery::named_rules(wire)) {
        if (!delivery::names_one_of(named, known)) return no_such_rule(wire, named.text, known);
      }
    }
  }
  return {};
}

std::vector<std::string> rules_of_others(const delivery::Wire& wire) {
  const std::vector<std::string> known = with_builtin_rules({});
  std::vector<std::string> sentences;
  for (const delivery::NamedRule& named : delivery::named_rules(wire)) {
    if (delivery::names_one_of(named, known)) continue;
    sentences.push_back(
        fmt::format("{}: no rule \"{}\" comes with Trainwarden{}; only a job with a rule of its own of "
                    "that name is meant",
                    printable(wire.action), printable(named.text), did_you_mean(named.text, known)));
  }
  return sentences;
}

std::vector<std::string> idle_wires(const ActionWiring& wiring, std::span<const std::string> judging) {
  std::vector<std::string> sentences;
  for (const delivery::Wiring& part : wiring.parts) {
    for (const delivery::Wire& wire : part.wires) {
      const auto named = delivery::named_rules(wire);
      const bool waits_for_any = named.empty() && wire.event.empty();
      const bool one_judges = std::any_of(named.begin(), named.end(), [&](const delivery::NamedRule& rule) {
        return delivery::names_one_of(rule, judging);
      });
      if (waits_for_any && judging.empty()) {
        sentences.push_back(
            fmt::format("{}: {} waits for a rule to fire, and no rule judges here; --rules default "
                        "takes those that suit every training",
                        printable(wire.where), printable(wire.action)));
      } else if (!named.empty() && !one_judges) {
        sentences.push_back(fmt::format("{}: {} waits for {}, which does not judge here; add --rule {}",
                                        printable(wire.where), printable(wire.action), printable(named[0].text),
                                        printable(named[0].text)));
      }
    }
  }
  return sentences;
}

Status check_rules_of_actions(const ActionWiring& wiring, std::span<const std::string> judging) {
  TRAINWARDEN_RETURN_IF_ERROR(check_named_rules(wiring, judging));
  for (const std::string& sentence : idle_wires(wiring, judging)) {
    emit(stderr, "trainwarden: warning: {}\n", sentence);
  }
  return {};
}

}  // namespace trainwarden::cli
