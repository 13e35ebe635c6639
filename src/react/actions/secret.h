// Secret: a text that is named but never shown: where it is, not what it is.
#pragma once

#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::actions {

// Read again each time it is needed, so a secret that is renewed needs no restart.
class Secret {
 public:
  static Secret in_environment(std::string variable);
  static Secret in_file(std::string path);  // its content without the line end

  // kNotFound when the variable or file is not there or empty; the message names the place only.
  Result<std::string> read() const;
  std::string describe() const;  // "$SMTP_PASSWORD", "the file /run/secrets/smtp"

 private:
  enum class Place { kEnvironment, kFile };
  Secret(Place place, std::string name) : place_(place), name_(std::move(name)) {}
  Place place_;
  std::string name_;
};

}  // namespace trainwarden::actions
