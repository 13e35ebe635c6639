#include "react/network/mail_message.h"

#include <string>

#include <gtest/gtest.h>

namespace trainwarden::network {
namespace {

MailMessage letter() {
  MailMessage message;
  message.from = "trainwarden@host.example";
  message.to = {"a@host.example", "b@host.example"};
  message.subject = "fired";
  message.text = "text\n";
  message.event_id = "run1-7";
  message.unix_ns = 1'700'000'000'000'000'000;
  return message;
}

// The value of a header, folded lines included.
std::string header(const std::string& mail, const std::string& name) {
  const std::string head = "\r\n" + mail.substr(0, mail.find("\r\n\r\n")) + "\r\n";
  const std::size_t begin = head.find("\r\n" + name + ": ");
  if (begin == std::string::npos) return "(none)";
  std::size_t end = head.find("\r\n", begin + 2);
  while (end + 2 < head.size() && head[end + 2] == ' ') end = head.find("\r\n", end + 2);
  return head.substr(begin + name.size() + 4, end - begin - name.size() - 4);
}

TEST(MailMessage, HasTheHeadersOfAMail) {
  const std::string mail = *compose_mail(letter());
  EXPECT_EQ(header(mail, "Date"), "Tue, 14 Nov 2023 22:13:20 +0000");
  EXPECT_EQ(header(mail, "From"), "Trainwarden <trainwarden@host.example>");
  EXPECT_EQ(header(mail, "To"), "a@host.example,\r\n b@host.example");
  EXPECT_EQ(header(mail, "Subject"), "fired");
  EXPECT_EQ(header(mail, "MIME-Version"), "1.0");
  EXPECT_EQ(header(mail, "Auto-Submitted"), "auto-generated");
  EXPECT_TRUE(header(mail, "Message-ID").ends_with("@host.example>"));
}

TEST(MailMessage, IsKnownByItsEventAndItsRun) {
  const std::string first = *compose_mail(letter());
  MailMessage again = letter();
  again.unix_ns += 1'000'000'000;
  EXPECT_EQ(header(*compose_mail(again), "Message-ID"), header(first, "Message-ID"));
  MailMessage next = letter();
  next.event_id = "run1-8";
  EXPECT_NE(header(*compose_mail(next), "Message-ID"), header(first, "Message-ID"));
  EXPECT_EQ(header(*compose_mail(next), "References"), header(first, "References"));
  EXPECT_EQ(header(first, "References"), header(first, "In-Reply-To"));
  next.event_id = "run2-7";
  EXPECT_NE(header(*compose_mail(next), "References"), header(first, "References"));
}

TEST(MailMessage, LetsNoNameWriteHeaders) {
  MailMessage message = letter();
  message.subject = "x\r\nBcc: everybody@host.example\r\n\r\nbody";
  message.event_id = "a\r\nX: y-1";
  message.text = "one\r\n.\r\nQUIT\r\n";
  const std::string mail = *compose_mail(message);
  EXPECT_EQ(header(mail, "Bcc"), "(none)");
  EXPECT_EQ(mail.find("\nBcc"), std::string::npos);
  EXPECT_EQ(mail.find("\nX:"), std::string::npos);
}

TEST(MailMessage, HasNothingButShortLinesOfAscii) {
  MailMessage message = letter();
  for (int i = 0; i < 200; ++i) message.subject += "Gewicht zu groß ";
  message.text = message.subject + "\n" + std::string(500, ' ') + "\n\xff\x00 broken";
  message.attachment = message.text;
  message.attachment_type = "application/json";
  const std::string mail = *compose_mail(message);
  std::size_t column = 0;
  for (std::size_t i = 0; i < mail.size(); ++i) {
    ASSERT_TRUE(mail[i] == '\r' || mail[i] == '\n' || (mail[i] >= ' ' && mail[i] < 0x7f)) << i;
    ASSERT_EQ(mail[i] == '\n', i > 0 && mail[i - 1] == '\r') << i;
    column = mail[i] == '\n' ? 0 : column + 1;
    ASSERT_LE(column, 77U) << mail.substr(0, i);
  }
}

TEST(MailMessage, EncodesSubjects) {
  EXPECT_EQ(encoded_subject("plain one"), "plain one");
  EXPECT_EQ(encoded_subject("größer"), "=?UTF-8?B?Z3LDtsOfZXI=?=");
  EXPECT_EQ(encoded_subject("=?UTF-8?B?eA==?="), "=?UTF-8?B?PT9VVEYtOD9CP2VBPT0/PQ==?=");
  std::string snowmen;
  for (int i = 0; i < 40; ++i) snowmen += "☃";
  const std::string encoded = encoded_subject(snowmen);
  EXPECT_NE(encoded.find("?=\r\n =?UTF-8?B?"), std::string::npos);
  EXPECT_EQ(encoded.find("?UTF-8?B?4piD4piD"), 1U);  // whole characters in each word
}

TEST(MailMessage, QuotesText) {
  EXPECT_EQ(quoted_printable("a = b\nend \n\ttab"), "a =3D b\r\nend=20\r\n\ttab\r\n");
  EXPECT_EQ(quoted_printable("größe"), "gr=C3=B6=C3=9Fe\r\n");
  EXPECT_EQ(quoted_printable(std::string(80, 'x')), std::string(75, 'x') + "=\r\n" + std::string(5, 'x') + "\r\n");
  EXPECT_EQ(quoted_printable(""), "");
  EXPECT_EQ(quoted_printable("\n\n"), "\r\n\r\n");
  EXPECT_EQ(quoted_printable("\x01"), "=01\r\n");
}

TEST(MailMessage, KnowsAddresses) {
  for (const char* text : {"a@b", "first.last+tag@host.example", "o'neil@host.example"}) {
    EXPECT_TRUE(is_mail_address(text)) << text;
  }
  for (const char* text :
       {"", "a", "@b", "a@", "a b@c", "a@b@c", "a@b\r\nX: y", "A <a@b>", "a@b,c@d", "ä@b", "a@b>", "a@b\n"}) {
    EXPECT_FALSE(is_mail_address(text)) << text;
  }
}

}  // namespace
}  // namespace trainwarden::network
