// The environment variables of the mail server.
// Each name is there once, with who sets it, who reads it, and the form of its value.
#pragma once

namespace trainwarden::variable {

// The mail server, for the action `mail`; what its parameters do not say. The adapter of smdebug reads those of the
// action `sms`.
inline constexpr const char* kSmtpHost = "TRAINWARDEN_SMTP_HOST";
inline constexpr const char* kSmtpPort = "TRAINWARDEN_SMTP_PORT";          // a number
inline constexpr const char* kSmtpSecurity = "TRAINWARDEN_SMTP_SECURITY";  // starttls, tls or none
inline constexpr const char* kSmtpUser = "TRAINWARDEN_SMTP_USER";
inline constexpr const char* kSmtpPassword = "TRAINWARDEN_SMTP_PASSWORD";
inline constexpr const char* kSmtpPasswordFile = "TRAINWARDEN_SMTP_PASSWORD_FILE";  // a path
inline constexpr const char* kSmtpFrom = "TRAINWARDEN_SMTP_FROM";                   // an address
// and URL, PASSWORD, TOKEN, USER, ...: parameters of `sms`
inline constexpr const char* kSmsPrefix = "TRAINWARDEN_SMS_";

}  // namespace trainwarden::variable
