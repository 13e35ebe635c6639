#include "store/s3/aws_profile.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "core/base/bucket_variables.h"
#include "core/base/text.h"
#include "core/base/text_file.h"

namespace trainwarden::storage {
namespace {

namespace fs = std::filesystem;

std::string text_of(const Environment& environment, const char* variable, const char* name) {
  const std::string named = variable_text(environment, variable), home = variable_text(environment, "HOME");
  if (named.empty() && home.empty()) return "";
  return read_text_file(named.empty() ? fs::path(home) / ".aws" / name : fs::path(named)).value_or("");
}

// "[profile x]" is "profile x".
std::string_view title_of(std::string_view line) {
  const std::size_t end = line.find(']');
  return end == std::string_view::npos ? std::string_view() : trim(line.substr(1, end - 1));
}

}  // namespace

AwsSection aws_section(std::string_view text, std::string_view section) {
  AwsSection settings;
  bool is_in = false;
  std::string outer;  // of lines that are indented
  while (!text.empty()) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    const std::string_view line = trim(whole);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      is_in = title_of(line) == section;
      outer.clear();
      continue;
    }
    const std::size_t equals = line.find('=');
    if (!is_in || equals == std::string_view::npos) continue;
    const std::string key(trim(line.substr(0, equals)));
    const std::string_view value = trim(line.substr(equals + 1));
    const bool is_inner = (whole.front() == ' ' || whole.front() == '\t') && !outer.empty();
    if (!is_inner) outer = value.empty() ? key : "";
    settings[is_inner ? fmt::format("{}.{}", outer, key) : key] = value;
  }
  return settings;
}

std::string aws_profile_name(const Environment& environment) {
  const std::string name = variable_text(environment, variable::kAwsProfile);
  return name.empty() ? "default" : name;
}

AwsSection read_aws_profile(const Environment& environment) {
  const std::string name = aws_profile_name(environment);
  AwsSection settings = aws_section(text_of(environment, variable::kAwsCredentialsFile, "credentials"), name);
  const std::string config = text_of(environment, variable::kAwsConfigFile, "config");
  settings.merge(aws_section(config, name == "default" ? name : fmt::format("profile {}", name)));
  return settings;
}

}  // namespace trainwarden::storage
