// The actions of a request's rules, as a file of actions.
#include <filesystem>

#include <fmt/format.h>

#include "core/base/mail_variables.h"
#include "core/base/text.h"
#include "work/sagemaker/request_parts.h"
#include "work/sagemaker/rule_evaluations.h"

namespace trainwarden::sagemaker {
namespace {

using format::OrderedJson;

constexpr const char* kCoolDown = "1h";

// TOML's texts are JSON's, but for one character.
std::string toml_text(const std::string& text) {
  std::string quoted = OrderedJson(text).dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  for (std::size_t i = quoted.find('\x7f'); i != std::string::npos; i = quoted.find('\x7f', i)) {
    quoted.replace(i, 1, "\\u007f");
  }
  return quoted;
}

// One [[on]] of the file, a line a field.
class ActionLines {
 public:
  ActionLines(const std::string& rule, const char* action) {
    add("rule", toml_text(rule));
    add("do", toml_text(action));
  }
  void add(const std::string& key, const std::string& value) { text_ += key + " = " + value + "\n"; }
  void add_text(const std::string& key, const std::string& text) {
    if (!text.empty()) add(key, toml_text(text));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_ = "[[on]]\n";
};

// What this process is told; the one that delivers may not be told so, or was started earlier by somebody else.
class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}
  std::string text(const std::string& name) const {
    const char* const value = environment_(name.c_str());
    return value == nullptr ? "" : value;
  }
  // As a number or a truth of TOML. kInvalidArgument when it is none.
  Result<std::string> integer(const std::string& name) const {
    const std::string value = text(name);
    if (value.empty() || parse_int(value)) return value;
    return Status(Code::kInvalidArgument, fmt::format("{}: expected a number, found \"{}\"", name, printable(value)));
  }
  Result<std::string> boolean(const std::string& name) const {
    const std::string value = text(name);
    if (value.empty()) return value;
    if (const auto truth = parse_bool(value)) return std::string(*truth ? "true" : "false");
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: expected true or false, found \"{}\"", name, printable(value)));
  }

 private:
  const Environment& environment_;
};

std::string in_environment(const std::string& name) {
  return fmt::format("{{ env = {} }}", toml_text(name));
}

Status add_mail_server(const Variables& variables, ActionLines& lines) {
  if (variables.text(variable::kSmtpHost).empty()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("Email: set {} to your mail server (docs/guide/mail.md says how)", variable::kSmtpHost));
  }
  lines.add_text("host", variables.text(variable::kSmtpHost));
  lines.add_text("from", variables.text(variable::kSmtpFrom));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string port, variables.integer(variable::kSmtpPort));
  if (!port.empty()) lines.add("port", port);
  lines.add_text("security", variables.text(variable::kSmtpSecurity));
  lines.add_text("user", variables.text(variable::kSmtpUser));
  if (const std::string file = variables.text(variable::kSmtpPasswordFile); !file.empty()) {
    lines.add("password", fmt::format("{{ file = {} }}", toml_text(std::filesystem::absolute(file).string())));
  } else if (!variables.text(variable::kSmtpPassword).empty()) {
    lines.add("password", in_environment(variable::kSmtpPassword));
  }
  return Status();
}

Status add_gateway(const Variables& variables, ActionLines& lines) {
  const auto name_of = [](const char* parameter) { return std::string(variable::kSmsPrefix) + parameter; };
  if (variables.text(name_of("URL")).empty()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("SMS: set {} to your provider's gateway (docs/guide/sms.md says how)", name_of("URL")));
  }
  for (const char* parameter : {"FROM", "BODY", "ENCODING", "USER", "TOKEN_SCHEME"}) {
    lines.add_text(lower(parameter), variables.text(name_of(parameter)));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string parts, variables.integer(name_of("PARTS")));
  if (!parts.empty()) lines.add("parts", parts);
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string allow_http, variables.boolean(name_of("ALLOW_HTTP")));
  if (!allow_http.empty()) lines.add("allow_http", allow_http);
  for (const char* secret : {"URL", "PASSWORD", "TOKEN"}) {
    if (!variables.text(name_of(secret)).empty()) lines.add(lower(secret), in_environment(name_of(secret)));
  }
  return Status();
}

Status not_known(const OrderedJson& action) {
  return Status(Code::kInvalidArgument,
                fmt::format("action_json: expected stoptraining, email or sms with its endpoint, found {}",
                            printable(format::dump_json(action).substr(0, 200))));
}

std::string text_in(const OrderedJson& action, const char* field) {
  if (!action.is_object() || !action.contains(field) || !action.at(field).is_string()) return "";
  return action.at(field).get<std::string>();
}

Result<std::string> stop_text(const std::string& rule, const std::string& job, const OrderedJson& action) {
  if (const std::string other = text_in(action, "training_job_prefix"); !other.empty() && other != job) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("action_json: training_job_prefix: a rule stops its own training, {}, found \"{}\"; leave "
                    "it out",
                    job, printable(other)));
  }
  ActionLines lines(rule, "stop");
  lines.add_text("then", "kill");
  return lines.text();
}

Result<std::string> message_text(const std::string& rule, const OrderedJson& action, const Variables& variables) {
  const std::string kind = lower(text_in(action, "name"));
  const std::string endpoint = text_in(action, "endpoint");
  if ((kind != "email" && kind != "sms") || endpoint.empty()) return not_known(action);
  ActionLines lines(rule, kind == "email" ? "mail" : "sms");
  lines.add_text("to", endpoint);
  lines.add_text("cool_down", kCoolDown);
  TRAINWARDEN_RETURN_IF_ERROR(kind == "email" ? add_mail_server(variables, lines) : add_gateway(variables, lines));
  return lines.text();
}

// The rule's parameter action_json: a list in a text.
Result<OrderedJson> actions_of(const OrderedJson& rule) {
  const std::string text = text_in(rule.at("RuleParameters"), "action_json");
  if (text.empty()) return OrderedJson::array();
  const auto parsed = format::parse_json_object(fmt::format("{{\"actions\": {}\n}}", text), "action_json");
  if (parsed.ok() && parsed->size() == 1 && parsed->at("actions").is_array()) return OrderedJson(parsed->at("actions"));
  return Status(Code::kInvalidArgument, "action_json: expected a list, as in [{\"name\": \"stoptraining\"}]");
}

}  // namespace

Result<std::string> action_file_text(const OrderedJson& rules, const std::string& job, const Environment& environment) {
  const Variables variables(environment);
  const std::vector<RequestedRule> named = requested_rules(rules);
  std::string text;
  for (std::size_t i = 0; i < named.size() && i < rules.size(); ++i) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const OrderedJson actions, actions_of(rules.at(i)));
    for (const OrderedJson& action : actions) {
      const bool stops = lower(text_in(action, "name")) == "stoptraining";
      TRAINWARDEN_ASSIGN_OR_RETURN(const std::string section, stops ? stop_text(named[i].id, job, action)
                                                                    : message_text(named[i].id, action, variables));
      text += (text.empty() ? "" : "\n") + section;
    }
  }
  return text;
}

}  // namespace trainwarden::sagemaker
