#include "react/network/mail_message.h"

#include <algorithm>
#include <array>
#include <ctime>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/exchange/digest.h"

namespace trainwarden::network {
namespace {

constexpr std::size_t kLineLimit = 76;
constexpr std::size_t kWordBytes = 39;  // of an encoded word: 52 in base64, 73 with "Subject: " and what is around

bool is_visible_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char byte) { return byte >= ' ' && byte < 0x7f; });
}

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

// "Fri, 20 Nov 2026 18:45:32 +0000", in no language but that of RFC 5322.
std::string mail_date(std::int64_t unix_ns) {
  constexpr std::array<const char*, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const time_t seconds = unix_ns / 1'000'000'000;
  tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} +0000", kDays[static_cast<std::size_t>(parts.tm_wday)],
                     parts.tm_mday, kMonths[static_cast<std::size_t>(parts.tm_mon)], parts.tm_year + 1900,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string quoted_byte(char byte) {
  return fmt::format("={:02X}", static_cast<unsigned char>(byte));
}

std::string quoted_line(std::string_view line) {
  std::string quoted;
  std::size_t column = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char byte = line[i];
    const bool blank = byte == ' ' || byte == '\t';
    const bool plain = blank ? i + 1 < line.size() : byte > ' ' && byte < 0x7f && byte != '=';
    const std::string piece = plain ? std::string(1, byte) : quoted_byte(byte);
    if (column + piece.size() > kLineLimit - 1) {
      quoted += "=\r\n";
      column = 0;
    }
    quoted += piece;
    column += piece.size();
  }
  return quoted;
}

std::string base64_lines(std::string_view bytes) {
  const std::string text = exchange::base64(bytes);
  std::string lines;
  for (std::size_t i = 0; i < text.size(); i += kLineLimit) lines += text.substr(i, kLineLimit) + "\r\n";
  return lines;
}

constexpr std::string_view kTextPart =
    "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n";

std::string body_of(const MailMessage& message, std::string_view boundary) {
  const std::string text = std::string(kTextPart) + quoted_printable(message.text);
  if (message.attachment.empty()) return text;
  return fmt::format(
      "Content-Type: multipart/mixed;\r\n boundary=\"{0}\"\r\n\r\n--{0}\r\n{1}--{0}\r\nContent-Type: {2}\r\n"
      "Content-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=\"event.json\"\r\n\r\n{3}"
      "--{0}--\r\n",
      boundary, text, printable(message.attachment_type), base64_lines(message.attachment));
}

}  // namespace

bool is_mail_address(std::string_view text) {
  constexpr std::string_view kForbidden = " <>()[],;:\\\"";
  const std::size_t at = text.rfind('@');
  return at != std::string_view::npos && at > 0 && at + 1 < text.size() && text.find('@') == at && text.size() <= 254 &&
         is_visible_ascii(text) && text.find_first_of(kForbidden) == std::string_view::npos;
}

std::string quoted_printable(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines += quoted_line(is_utf8(line) ? std::string(line) : printable(line)) + "\r\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string encoded_subject(std::string_view text) {
  std::string line = printable(text);
  const bool plain = is_visible_ascii(line) && line.size() <= kLineLimit - std::string_view("Subject: ").size() &&
                     line.find("=?") == std::string::npos;
  if (plain) return line;
  std::string words;
  for (std::string_view rest = line; !rest.empty();) {
    std::size_t size = std::min(kWordBytes, rest.size());
    while (size < rest.size() && size > 1 && continues_character(rest[size])) --size;
    words += fmt::format("{}=?UTF-8?B?{}?=", words.empty() ? "" : "\r\n ", exchange::base64(rest.substr(0, size)));
    rest.remove_prefix(size);
  }
  return words;
}

Result<std::string> compose_mail(const MailMessage& message) {
  const std::string run_id = message.event_id.substr(0, message.event_id.rfind('-'));
  TRAINWARDEN_ASSIGN_OR_RETURN(std::string event_hash, exchange::sha256_hex(message.event_id));
  TRAINWARDEN_ASSIGN_OR_RETURN(std::string run_hash, exchange::sha256_hex(run_id));
  event_hash.resize(32);
  run_hash.resize(32);
  const std::string domain = message.from.substr(message.from.rfind('@') + 1);
  const std::string thread = fmt::format("<run.{}@{}>", run_hash, domain);
  std::string mail = fmt::format(
      "Date: {}\r\nFrom: Trainwarden <{}>\r\nTo: {}\r\nSubject: {}\r\nMessage-ID: <event.{}@{}>\r\n"
      "In-Reply-To: {}\r\nReferences: {}\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n",
      mail_date(message.unix_ns), message.from, fmt::join(message.to, ",\r\n "), encoded_subject(message.subject),
      event_hash, domain, thread, thread);
  return mail + body_of(message, "part." + event_hash);
}

}  // namespace trainwarden::network
