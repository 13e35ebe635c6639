// `trainwarden rule-host`: not for people. An engine starts it for a rule of a shared object.
#include "judge/rules/hosting/rule_server.h"
#include "ui/cli/commands/command.h"

namespace trainwarden::cli {
namespace {

constexpr int kSocket = 3;

struct RuleHostOptions {};

int act(const RuleHostOptions&) {
  return rules::serve_rule(kSocket);
}

}  // namespace

void add_rule_host(CLI::App& app, CommandAction& action) {
  CLI::App& command = add_command(app, "rule-host", "Run a rule of a shared object for an engine",
                                  std::make_shared<RuleHostOptions>(), action, act);
  command.group("");  // hidden
}

}  // namespace trainwarden::cli
