// A mail as RFC 5322 wants it: ASCII lines with CRLF, whatever the names and texts in it hold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::network {

struct MailMessage {
  std::string from;  // addresses that is_mail_address() takes
  std::vector<std::string> to;
  std::string subject;  // UTF-8, one line
  std::string text;     // UTF-8
  std::string event_id;
  std::int64_t unix_ns = 0;     // when it is sent
  std::string attachment;       // empty: none
  std::string attachment_type;  // "application/cloudevents+json"
};

// Message-ID is made of the event's id, so a mail that is sent twice can be recognised; all mails of a run refer to the
// same message, which nobody has sent, so that mail programs show them as one thread. kInternal: no SHA-256.
Result<std::string> compose_mail(const MailMessage& message);

// "user@host.example": visible ASCII without blanks and what has a meaning in headers or commands.
bool is_mail_address(std::string_view text);

// For tests. Lines of at most 76 bytes, with CRLF.
std::string quoted_printable(std::string_view text);
// As it may stand behind "Subject: ".
std::string encoded_subject(std::string_view text);

}  // namespace trainwarden::network
