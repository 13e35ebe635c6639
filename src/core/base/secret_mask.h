// Masks keys, tokens and passwords in texts of a training when they are captured, so that what is written, shown or
// shared later has none. Known shapes are looked for (tokens of services, private keys, passwords in addresses), and
// values of names such as --api-key or HF_TOKEN. Names and figures of a training stay: --max-tokens 512, git hashes.
// docs/reference/secrets.md lists what is masked.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/regex.h"
#include "trainwarden/status.h"

namespace trainwarden {

// What stands where a secret was.
inline constexpr std::string_view kMaskedSecret = "****";

// Const access from many threads is safe.
class SecretMask {
 public:
  // The shapes that are known here, and patterns of the user's (PCRE2): what they match is masked, or what their group
  // 1 matches when they have one. kInvalidArgument when one does not compile.
  static Result<SecretMask> create(const std::vector<std::string>& patterns = {});

  std::string text(std::string_view text) const;
  // Each alone, and the value of an option that is an argument of its own: --password x.
  std::vector<std::string> arguments(std::vector<std::string> arguments) const;
  // What is called `name`: a label, a hyper-parameter, a variable.
  std::string value(std::string_view name, std::string_view value) const;

 private:
  SecretMask() = default;

  std::vector<Regex> shapes_;
  std::vector<Regex> names_;  // of secrets, of tokens that may be secrets; what such a token looks like
};

// The patterns of a file: one a line; empty lines and those that begin with # are left out.
Result<std::vector<std::string>> read_secret_patterns(const std::filesystem::path& file);

// The mask of this process, with the patterns of the file that TRAINWARDEN_SECRET_PATTERNS names. Made at the first
// call. With a file that cannot be used the known shapes are masked, and status says what is wrong with it.
struct ProcessMask {
  SecretMask mask;
  Status status;
};
const ProcessMask& process_mask();

// The same by the process's mask. Never throws: a text that cannot be looked through for want of memory is masked
// whole.
std::string mask_secrets(std::string_view text) noexcept;

}  // namespace trainwarden
