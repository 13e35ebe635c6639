// SMTP client: hands one message to a mail server.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/exchange/transfer.h"
#include "trainwarden/status.h"

namespace trainwarden::network {

enum class MailSecurity { kNone, kStartTls, kTls };

struct SmtpRequest {
  std::string host;
  int port = 0;
  MailSecurity security = MailSecurity::kStartTls;
  std::string user;  // empty: no login
  std::string password;
  std::string from;
  std::vector<std::string> to;
  std::string message;
};

// What a server does not want. Of its text only the codes are kept: it may repeat what it was sent.
struct SmtpRefusal {
  std::string recipient;  // empty: not about one
  int code = 0;           // 550
  std::string enhanced;   // "5.1.1", or empty
  std::string describe() const;
};

struct SmtpReport {
  Status status;                      // ok: taken for at least one recipient
  bool never = false;                 // it will never work for this message
  int code = 0;                       // of the last answer
  std::vector<SmtpRefusal> refusals;  // recipients that were refused
};

// Certificates are checked, and nothing is sent without encryption unless security is kNone. From any thread.
SmtpReport send_mail(const SmtpRequest& request, exchange::TransferLimits limits, const std::stop_token& stop);

std::string smtp_place(const SmtpRequest& request);  // "smtp://mail.example:587"

}  // namespace trainwarden::network
