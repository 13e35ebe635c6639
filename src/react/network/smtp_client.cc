#include "react/network/smtp_client.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "react/network/target_url.h"

namespace trainwarden::network {
namespace {

// Listens to what client and server say, and keeps codes only: what goes out may be a password.
struct Dialogue {
  std::string_view command;  // "RCPT"; empty: the greeting, or what we do not distinguish
  std::string recipient;
  SmtpRefusal last;  // of the last command; code 0: it was not refused
  std::vector<SmtpRefusal> recipients;
  bool over = false;  // QUIT was sent

  void sent(std::string_view line) {
    if (line.starts_with("QUIT")) over = true;
    const std::string_view next = command_of(line);
    if (over || (next.empty() && command == "AUTH")) return;  // what follows AUTH belongs to it
    last = {};
    recipient.clear();
    command = next;
    if (command == "RCPT") recipient = line.substr(0, line.find('>')).substr(std::min(line.find('<') + 1, line.size()));
  }

  static std::string_view command_of(std::string_view line) {
    for (const std::string_view known : {"EHLO", "HELO", "STARTTLS", "AUTH", "MAIL", "RCPT", "DATA"}) {
      if (line.starts_with(known)) return known;
    }
    return {};
  }

  // "550 5.1.1 nobody of that name"
  void heard(std::string_view line) {
    if (over) return;
    const auto code = parse_int(line.substr(0, 3));
    if (!code || *code < 400 || *code > 599 || (line.size() > 3 && line[3] == '-')) return;
    last = {recipient, static_cast<int>(*code), enhanced_code(trim(line.substr(3)))};
    if (command == "RCPT") recipients.push_back(last);
  }

  static std::string enhanced_code(std::string_view text) {
    const std::string_view word = text.substr(0, text.find(' '));
    const bool is_code = std::count(word.begin(), word.end(), '.') == 2 && word.size() <= 9 &&
                         word.find_first_not_of("0123456789.") == std::string_view::npos;
    return is_code ? std::string(word) : "";
  }
};

int listen(CURL*, curl_infotype type, char* bytes, std::size_t size, void* target) {
  auto& dialogue = *static_cast<Dialogue*>(target);
  if (type == CURLINFO_HEADER_OUT) dialogue.sent({bytes, size});
  if (type == CURLINFO_HEADER_IN) dialogue.heard({bytes, size});
  return 0;
}

std::size_t give_message(char* room, std::size_t, std::size_t size, void* source) {
  auto& rest = *static_cast<std::string_view*>(source);
  const std::size_t given = std::min(size, rest.size());
  std::memcpy(room, rest.data(), given);
  rest.remove_prefix(given);
  return given;
}

std::string_view what_was_refused(std::string_view command) {
  if (command == "AUTH") return "the login";
  if (command == "MAIL") return "the sender";
  if (command == "RCPT") return "every recipient";
  if (command == "DATA") return "the message";
  if (command == "STARTTLS") return "encryption";
  return "the connection";
}

std::string join(const std::vector<SmtpRefusal>& refusals) {
  std::vector<std::string> texts;
  for (const SmtpRefusal& refusal : refusals) texts.push_back(refusal.describe());
  return fmt::format("{}", fmt::join(texts, ", "));
}

SmtpReport refused(const SmtpRequest& request, const Dialogue& dialogue) {
  SmtpReport report;
  report.code = dialogue.last.code;
  report.never = dialogue.last.code >= 500;
  std::string codes = dialogue.last.describe();
  if (dialogue.command == "RCPT") {
    report.refusals = dialogue.recipients;
    report.never = std::all_of(report.refusals.begin(), report.refusals.end(),
                               [](const SmtpRefusal& refusal) { return refusal.code >= 500; });
    codes = join(report.refusals);
  }
  report.status = Status(report.never ? Code::kFailedPrecondition : Code::kUnavailable,
                         fmt::format("{} refuses {}: {}{}", smtp_place(request), what_was_refused(dialogue.command),
                                     codes, dialogue.command == "AUTH" ? "; see to user and password" : ""));
  return report;
}

SmtpReport report_of(const SmtpRequest& request, const exchange::Transfer& transfer, Status status,
                     const Dialogue& dialogue) {
  const bool left = status.code() == Code::kCancelled || status.code() == Code::kDeadlineExceeded;
  if (!status.ok() && !left && dialogue.last.code != 0) return refused(request, dialogue);
  SmtpReport report;
  report.status = std::move(status);
  report.refusals = dialogue.recipients;
  report.code = static_cast<int>(transfer.info(CURLINFO_RESPONSE_CODE));
  report.never = report.status.code() == Code::kPermissionDenied || report.status.code() == Code::kInternal;
  if (transfer.code() == CURLE_USE_SSL_FAILED) {
    report.never = true;
    report.status = Status(Code::kFailedPrecondition,
                           fmt::format("{} offers no STARTTLS, so nothing was sent; use security=tls and its port for "
                                       "TLS, which is 465 as a rule",
                                       smtp_place(request)));
  }
  if (transfer.code() == CURLE_LOGIN_DENIED) {
    report.never = true;
    report.status = Status(Code::kFailedPrecondition, fmt::format("{} offers no way to log in that we know; leave user "
                                                                  "and password out, or use another port",
                                                                  smtp_place(request)));
  }
  return report;
}

}  // namespace

std::string SmtpRefusal::describe() const {
  const std::string codes = fmt::format("{}{}{}", code, enhanced.empty() ? "" : " ", enhanced);
  return recipient.empty() ? codes : fmt::format("{} ({})", printable(recipient), codes);
}

std::string smtp_place(const SmtpRequest& request) {
  const bool ipv6 = request.host.find(':') != std::string::npos && !request.host.starts_with('[');
  return fmt::format("{}://{}{}{}:{}", request.security == MailSecurity::kTls ? "smtps" : "smtp", ipv6 ? "[" : "",
                     printable(request.host), ipv6 ? "]" : "", request.port);
}

SmtpReport send_mail(const SmtpRequest& request, exchange::TransferLimits limits, const std::stop_token& stop) {
  const bool loopback = is_loopback_host(request.host);
  limits.use_proxy = limits.use_proxy && !loopback;
  limits.loopback_only = loopback && request.security == MailSecurity::kNone;
  const std::string url = smtp_place(request);
  const std::string from = "<" + request.from + ">";
  exchange::CurlList recipients;
  for (const std::string& recipient : request.to) recipients.add("<" + recipient + ">");
  Dialogue dialogue;
  std::string_view rest = request.message;
  exchange::Transfer transfer(limits);
  transfer.set(CURLOPT_URL, url.c_str());
  transfer.set(CURLOPT_PROTOCOLS_STR, request.security == MailSecurity::kTls ? "smtps" : "smtp");
  transfer.set(CURLOPT_USE_SSL,
               static_cast<long>(request.security == MailSecurity::kNone ? CURLUSESSL_NONE : CURLUSESSL_ALL));
  if (!request.user.empty()) {
    transfer.set(CURLOPT_USERNAME, request.user.c_str());
    transfer.set(CURLOPT_PASSWORD, request.password.c_str());
  }
  transfer.set(CURLOPT_MAIL_FROM, from.c_str());
  transfer.set(CURLOPT_MAIL_RCPT, recipients.get());
  transfer.set(CURLOPT_MAIL_RCPT_ALLLOWFAILS, 1L);
  transfer.set(CURLOPT_UPLOAD, 1L);
  transfer.set(CURLOPT_READFUNCTION, &give_message);
  transfer.set(CURLOPT_READDATA, static_cast<void*>(&rest));
  transfer.set(CURLOPT_VERBOSE, 1L);
  transfer.set(CURLOPT_DEBUGFUNCTION, &listen);
  transfer.set(CURLOPT_DEBUGDATA, static_cast<void*>(&dialogue));
  return report_of(request, transfer, transfer.perform(url, stop), dialogue);
}

}  // namespace trainwarden::network
