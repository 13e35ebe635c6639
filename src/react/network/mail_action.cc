#include "react/network/mail_action.h"

#include <stdlib.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/log.h"
#include "core/base/mail_variables.h"
#include "core/base/text.h"
#include "react/network/limits.h"
#include "react/network/mail_message.h"
#include "react/network/smtp_client.h"
#include "react/network/target_url.h"

namespace trainwarden::network {
namespace {

using actions::ActionOutcome;
using actions::Secret;

std::string environment(const char* variable) {
  const char* const value = ::getenv(variable);
  return value == nullptr ? "" : value;
}

Status wrong(std::string_view name, std::string_view what) {
  return Status(Code::kInvalidArgument, fmt::format("{}: {}", name, what));
}

// What is given counts, then the environment, then the default.
std::string text_or_environment(actions::ActionParameters& parameters, std::string_view name, const char* variable,
                                std::string_view default_value = {}) {
  std::string value = parameters.text(name, environment(variable));
  if (value.empty()) value = default_value;
  if (value.empty()) parameters.refuse(wrong(name, fmt::format("is missing; give it, or set {}", variable)));
  return value;
}

MailSecurity take_security(actions::ActionParameters& parameters) {
  std::string word = environment(variable::kSmtpSecurity);
  if (word.empty()) word = "starttls";
  word = parameters.choice("security", word, {"starttls", "tls", "none"});
  if (word == "none") return MailSecurity::kNone;
  return word == "tls" ? MailSecurity::kTls : MailSecurity::kStartTls;
}

int take_port(actions::ActionParameters& parameters, MailSecurity security) {
  int port = security == MailSecurity::kTls ? 465 : security == MailSecurity::kStartTls ? 587 : 25;
  if (const std::string text = environment(variable::kSmtpPort); !text.empty()) {
    const auto number = parse_int(text);
    if (!number || *number < 1 || *number > 65535) {
      parameters.refuse(
          wrong(variable::kSmtpPort, fmt::format("expected a number from 1 to 65535, found \"{}\"", printable(text))));
    }
    port = static_cast<int>(number.value_or(port));
  }
  return static_cast<int>(parameters.integer("port", port, 1, 65535));
}

std::optional<Secret> take_password(actions::ActionParameters& parameters) {
  if (auto given = parameters.secret("password")) return given;
  if (!environment(variable::kSmtpPassword).empty()) return Secret::in_environment(variable::kSmtpPassword);
  const std::string file = environment(variable::kSmtpPasswordFile);
  return file.empty() ? std::nullopt : std::optional(Secret::in_file(file));
}

void check_address(actions::ActionParameters& parameters, std::string_view name, const std::string& address) {
  if (is_mail_address(address)) return;
  parameters.refuse(
      wrong(name, fmt::format("expected an address such as ops@host.example, found \"{}\"", printable(address))));
}

// Other characters would change what stands around the name in a URL.
bool is_host(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
           std::string_view(".-_:[]").find(static_cast<char>(byte)) != std::string_view::npos;
  });
}

class MailAction final : public actions::Action {
 public:
  MailAction(actions::ActionParameters& parameters, const Clock& clock) : clock_(&clock) {
    take_server(parameters);
    take_letter(parameters);
  }

  std::string_view name() const override { return "mail"; }
  std::string place() const override { return smtp_place(request_); }

  ActionOutcome run(const actions::EventNotice& notice, std::stop_token stop) override {
    SmtpRequest request = request_;
    if (password_) {
      const Result<std::string> password = password_->read();
      if (!password.ok()) return ActionOutcome::try_again(password.status().with_context("password"));
      request.password = *password;
    }
    const Result<std::string> message = compose_mail(letter(notice));
    if (!message.ok()) return ActionOutcome::give_up(message.status());
    request.message = *message;
    return outcome_of(send_mail(request, limits_, stop));
  }

 private:
  void take_server(actions::ActionParameters& parameters) {
    request_.host = text_or_environment(parameters, "host", variable::kSmtpHost);
    request_.security = take_security(parameters);
    request_.port = take_port(parameters, request_.security);
    request_.user = parameters.text("user", environment(variable::kSmtpUser));
    password_ = take_password(parameters);
    limits_ = take_limits(parameters, std::chrono::seconds(60));
    const bool allow_plain = parameters.flag("allow_plain", false);
    if (!request_.host.empty() && !is_host(request_.host)) {
      parameters.refuse(wrong("host", fmt::format("expected the name or address of a mail server, found \"{}\"",
                                                  printable(request_.host))));
    }
    if (request_.security == MailSecurity::kNone && !allow_plain && !is_loopback_host(request_.host)) {
      parameters.refuse(wrong("security",
                              "none would let anybody on the way read mail and password; use starttls or "
                              "tls, or say allow_plain=true when you trust the network"));
    }
    if (!request_.user.empty() && !password_) {
      parameters.refuse(wrong("password", fmt::format("is missing for the user; give its place, or set {} or {}",
                                                      variable::kSmtpPassword, variable::kSmtpPasswordFile)));
    }
    if (request_.user.empty()) password_.reset();  // of the environment: not meant for us
  }

  void take_letter(actions::ActionParameters& parameters) {
    request_.from = text_or_environment(parameters, "from", variable::kSmtpFrom);
    request_.to = parameters.list("to");
    subject_prefix_ = parameters.text("subject_prefix", "[trainwarden] ");
    attach_ = parameters.flag("attach", false);
    if (!request_.from.empty()) check_address(parameters, "from", request_.from);
    if (request_.to.empty()) parameters.refuse(wrong("to", "is missing: at least one address"));
    for (const std::string& address : request_.to) check_address(parameters, "to", address);
  }

  MailMessage letter(const actions::EventNotice& notice) const {
    MailMessage message;
    message.from = request_.from;
    message.to = request_.to;
    message.subject = fmt::format("{}{}: {}", subject_prefix_, notice.run_name, notice.headline);
    message.text = fmt::format("{}\n\n{}\n\n-- \nRun {} in {}\nEvent {} ({})\n", notice.headline, notice.text,
                               printable(notice.run_name), printable(notice.run.string()), printable(notice.event_id),
                               printable(notice.type));
    message.event_id = notice.event_id;
    message.unix_ns = clock_->unix_ns();
    if (attach_) {
      message.attachment = notice.document;
      message.attachment_type = notice.content_type;
    }
    return message;
  }

  ActionOutcome outcome_of(const SmtpReport& report) const {
    if (!report.status.ok()) {
      const std::string word = report.code == 0 ? "" : std::to_string(report.code);
      return report.never ? ActionOutcome::give_up(report.status, word) : ActionOutcome::try_again(report.status, word);
    }
    if (report.refusals.empty()) return ActionOutcome::done("250");
    std::vector<std::string> refused;
    for (const SmtpRefusal& refusal : report.refusals) refused.push_back(refusal.describe());
    const std::string answer = fmt::format("250, but refused for {}", fmt::join(refused, ", "));
    // To send it again would send it twice to those who have it.
    log(LogLevel::kWarning, "{} took a mail for some recipients only; refused: {}", place(), fmt::join(refused, ", "));
    return ActionOutcome::done(answer);
  }

  SmtpRequest request_;
  std::optional<Secret> password_;
  exchange::TransferLimits limits_;
  std::string subject_prefix_;
  bool attach_ = false;
  const Clock* clock_;
};

}  // namespace

actions::ActionKind mail_kind() {
  actions::ActionKind kind;
  kind.name = "mail";
  kind.summary = "Sends each event as a mail over SMTP.";
  kind.parameters = {
      {"to", "", "who gets it: an address or a list of them", true},
      {"from", "$TRAINWARDEN_SMTP_FROM", "who it is from: an address"},
      {"host", "$TRAINWARDEN_SMTP_HOST", "the mail server"},
      {"security", "starttls", "starttls, tls (from the first byte), or none; $TRAINWARDEN_SMTP_SECURITY"},
      {"port", "587", "465 with security=tls, 25 with none; $TRAINWARDEN_SMTP_PORT"},
      {"user", "$TRAINWARDEN_SMTP_USER", "to log in; without it there is no login"},
      {"password", "$TRAINWARDEN_SMTP_PASSWORD", "secret; else in the file $TRAINWARDEN_SMTP_PASSWORD_FILE"},
      {"subject_prefix", "[trainwarden] ", "what subjects begin with"},
      {"attach", "false", "attach the event as JSON"},
      {"timeout", "60s", "for the whole exchange, from 100ms to 1h"},
      {"ca_file", "", "PEM file of the certificate authorities to trust instead of the system's"},
      {"allow_plain", "false", "allow security=none to other machines than this one"}};
  kind.create = [](actions::ActionParameters& parameters,
                   const actions::RunContext& run) -> Result<std::unique_ptr<actions::Action>> {
    std::unique_ptr<actions::Action> action = std::make_unique<MailAction>(parameters, *run.clock);
    TRAINWARDEN_RETURN_IF_ERROR(parameters.status());
    return action;
  };
  return kind;
}

}  // namespace trainwarden::network
