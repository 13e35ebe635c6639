#include "core/base/secret_mask.h"

#include <array>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/program_variables.h"
#include "core/base/text.h"
#include "core/base/text_file.h"

namespace trainwarden {
namespace {

// Tokens that are known by their shape. Group 1, where there is one, is what is masked; else all of the match.
constexpr std::array kShapes = {
    R"(\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b)",                                            // AWS
    R"(\bgh[pousr]_[A-Za-z0-9]{36,255}|\bgithub_pat_[A-Za-z0-9_]{22,255})",                  // GitHub
    R"(\bgl(?:pat|ptt|dt|rt|soat|ft|cbt)-[A-Za-z0-9_\-]{20,})",                              // GitLab
    R"(\bxox[abeoprs]-[A-Za-z0-9\-]{10,}|\bxapp-[0-9]-[A-Za-z0-9\-]{10,})",                  // Slack
    R"(\bhooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_\-]+))",             // Slack's webhooks
    R"(\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}|\bwhsec_[A-Za-z0-9+/]{20,})",                  // Stripe
    R"(\bsk-(?=[A-Za-z_\-]*[0-9])[A-Za-z0-9_\-]{20,})",                                      // OpenAI, Anthropic
    R"(\bhf_[A-Za-z0-9]{30,}\b)",                                                            // Hugging Face
    R"(\bAIza[A-Za-z0-9_\-]{35}|\bya29\.[A-Za-z0-9_\-]{20,}|\bGOCSPX-[A-Za-z0-9_\-]{20,})",  // Google
    R"(\bnpm_[A-Za-z0-9]{36}\b|\bpypi-AgE[A-Za-z0-9_\-]{50,})",                              // package registries
    R"(\bSG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,})",                                     // SendGrid
    R"(\beyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{4,})",                 // JSON web tokens
    R"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]{0,40}-----|\z))",
    R"(\b[A-Za-z][A-Za-z0-9+.\-]{1,30}://[^\s/:@"']{0,256}:([^\s/@"']{1,256})@)",  // user:password@host
    R"(\b[A-Za-z][A-Za-z0-9+.\-]{1,30}://([^\s/:@"']{20,256})@)",                  // token@host
    R"([?&](?i:sig|signature|x-amz-signature|x-amz-credential|x-amz-security-token)=([^&\s"']+))",
    R"((?i)\bauthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:(?:bearer|basic|token|digest|negotiate)\s+)?([^\s"',]+))",
    R"((?i)\bbearer\s+(?=\S*[0-9])([A-Za-z0-9._~+/\-]{16,}=*))",
};

// Names whose value is a secret whatever it is. What stands before is part of the name: DB_PASSWORD, --wandb-api-key.
constexpr std::string_view kSecretName =
    R"([\w.\-]{0,64}?(?i:password|passwd|passphrase|[_\-]pwd|secret|secret[_\-]?key|api[_\-]?key|)"
    R"(access[_\-]?key(?:[_\-]?id)?|private[_\-]?key|account[_\-]?key|encryption[_\-]?key|auth[_\-]?key|credentials?|)"
    R"((?:auth|access|api|hub|hf|huggingface|bearer|refresh|session|bot|github|gitlab|slack|wandb|secret|personal|)"
    R"(deploy|registry|login|security|oauth|jwt)[_\-]?token))";
// Other tokens are words of a language more often than keys: their value must look like a key, too.
constexpr std::string_view kTokenName =
    R"([\w.\-]{0,64}?(?<!pad[_\-])(?<!eos[_\-])(?<!bos[_\-])(?<!unk[_\-])(?<!cls[_\-])(?<!sep[_\-])(?<!mask[_\-])(?i:token))";
constexpr std::string_view kTokenValue =
    R"((?=[^\s"',;&]*[0-9])(?=[^\s"',;&]*[A-Za-z])[A-Za-z0-9_\-.+/=]{8,}(?![^\s"',;&)}\]]))";

// Before a name, and between it and its value: `a=b`, `"a": "b"`; `--a b`.
constexpr std::string_view kNameBegins = R"((?<![\w.\-])-{0,2})";
constexpr std::string_view kOptionBegins = R"((?<![\w.\-])--?(?=[A-Za-z]))";
constexpr std::string_view kAssigned = R"(["']?\s{0,4}(?:=|:(?!//))\s{0,4})";
constexpr std::string_view kFollowing = R"([ \t]{1,4}(?!-))";
// A text in quotes or a word; what only says that there is a secret, or is one already masked, is left.
constexpr std::string_view kNoSecret = R"((?!["']?(?i:true|false|none|null|yes|no|\*+)["']?(?:[\s,;&)}\]]|\z)))";
constexpr std::string_view kAnyValue = R"re((?|"([^"\n]+)"|'([^'\n]+)'|([^\s"',;&)}\]]+)))re";

std::vector<std::string> known_expressions() {
  std::vector<std::string> all(kShapes.begin(), kShapes.end());
  for (const auto& [begin, end] : {std::pair(kNameBegins, kAssigned), std::pair(kOptionBegins, kFollowing)}) {
    all.push_back(fmt::format("{}{}{}{}{}", begin, kSecretName, end, kNoSecret, kAnyValue));
    all.push_back(fmt::format("{}{}{}[\"']?({})", begin, kTokenName, end, kTokenValue));
  }
  return all;
}

Result<Regex> whole(std::string_view expression) {
  return Regex::compile(fmt::format("\\A-{{0,2}}{}\\z", expression));
}

std::string mask_all(const Regex& pattern, std::string text) {
  std::size_t from = 0;
  while (const auto span = pattern.find(text, from)) {
    from = span->end + 1;
    if (span->end == span->begin) continue;  // a pattern of the user's that is content with nothing at all
    text.replace(span->begin, span->end - span->begin, kMaskedSecret);
    from = span->begin + kMaskedSecret.size();
  }
  return text;
}

bool says_nothing(std::string_view value) {
  const std::string word = lower(trim(value));
  for (const char* plain : {"", "true", "false", "none", "null", "yes", "no"}) {
    if (word == plain) return true;
  }
  return false;
}

ProcessMask make_process_mask() {
  const char* file = std::getenv(variable::kSecretPatterns);
  const auto patterns = file == nullptr || *file == '\0' ? Result<std::vector<std::string>>(std::vector<std::string>())
                                                         : read_secret_patterns(file);
  Status status = patterns.status();
  if (patterns.ok()) {
    auto mask = SecretMask::create(*patterns);
    if (mask.ok()) return {*std::move(mask), Status()};
    status = mask.status();
  }
  return {*SecretMask::create(), status.with_context(variable::kSecretPatterns)};
}

}  // namespace

Result<SecretMask> SecretMask::create(const std::vector<std::string>& patterns) {
  SecretMask mask;
  std::vector<std::string> expressions = known_expressions();
  expressions.insert(expressions.end(), patterns.begin(), patterns.end());
  for (const std::string& expression : expressions) {
    TRAINWARDEN_ASSIGN_OR_RETURN(Regex pattern, Regex::compile(expression));
    mask.shapes_.push_back(std::move(pattern));
  }
  for (const std::string_view expression : {kSecretName, kTokenName, kTokenValue}) {
    TRAINWARDEN_ASSIGN_OR_RETURN(Regex pattern, whole(expression));
    mask.names_.push_back(std::move(pattern));
  }
  return mask;
}

std::string SecretMask::text(std::string_view text) const {
  std::string masked(text);
  for (const Regex& shape : shapes_) masked = mask_all(shape, std::move(masked));
  return masked;
}

std::string SecretMask::value(std::string_view name, std::string_view value) const {
  const auto& [secret_name, token_name, token_value] = std::tie(names_[0], names_[1], names_[2]);
  if (says_nothing(value)) return std::string(value);
  if (secret_name.found_in(name)) return std::string(kMaskedSecret);
  if (token_name.found_in(name) && token_value.found_in(value)) return std::string(kMaskedSecret);
  return text(value);
}

std::vector<std::string> SecretMask::arguments(std::vector<std::string> arguments) const {
  std::string option;  // the one before, when its value may be an argument of its own
  for (std::string& argument : arguments) {
    const bool is_option = argument.starts_with('-');
    const std::string before =
        std::exchange(option, is_option && argument.find('=') == std::string::npos ? argument : "");
    argument = before.empty() || is_option ? text(argument) : value(before, argument);
  }
  return arguments;
}

Result<std::vector<std::string>> read_secret_patterns(const std::filesystem::path& file) {
  const std::optional<std::string> text = read_text_file(file);
  if (!text) {
    return Status(Code::kInvalidArgument, fmt::format("expected a file with a pattern on each line; {} cannot be read",
                                                      printable(file.string())));
  }
  return lines_that_count(*text);
}

const ProcessMask& process_mask() {
  // Never destroyed: threads may capture text while the process ends.
  static const ProcessMask& mask = *new ProcessMask(make_process_mask());
  return mask;
}

std::string mask_secrets(std::string_view text) noexcept {
  try {
    return process_mask().mask.text(text);
  } catch (...) {
    return std::string(kMaskedSecret);  // short enough to need no memory
  }
}

}  // namespace trainwarden
