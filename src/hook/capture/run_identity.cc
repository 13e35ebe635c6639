#include "hook/capture/run_identity.h"

#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/host_name.h"
#include "core/base/log.h"
#include "core/base/secret_mask.h"
#include "core/base/text.h"
#include "store/journal/format_versions.h"

namespace trainwarden::capture {
namespace {

Result<std::string> random_id() {
  std::array<unsigned char, 16> bytes;
  const auto got = ::getrandom(bytes.data(), bytes.size(), 0);
  if (got != static_cast<ssize_t>(bytes.size())) {
    return Status(Code::kUnavailable, fmt::format("no random run id: getrandom: {}", std::strerror(errno)));
  }
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

// As the system shows it, without secrets; empty where it does not.
std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::string> arguments;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\0', begin)) != std::string::npos; begin = end + 1) {
    arguments.push_back(text.substr(begin, end - begin));
  }
  arguments = process_mask().mask.arguments(std::move(arguments));
  for (std::string& argument : arguments) argument = printable(argument);
  return arguments;
}

std::map<std::string, std::string> masked(std::map<std::string, std::string> labels) {
  for (auto& [name, value] : labels) value = process_mask().mask.value(name, value);
  return labels;
}

}  // namespace

Result<journal::RunInfo> describe_run(const HookOptions& options, const Clock& clock) {
  journal::RunInfo info;
  TRAINWARDEN_ASSIGN_OR_RETURN(info.id, random_id());
  info.created_unix_ns = clock.unix_ns();
  info.world_size = options.world_size;
  info.format_version = options.compress ? journal::kCompressedVersion : journal::kPlainVersion;
  info.code_version = options.code_version;
  info.framework = options.framework;
  info.host = host_name();
  info.command = command_line();
  info.labels = masked(options.labels);
  if (const Status& status = process_mask().status; !status.ok()) {
    log(LogLevel::kWarning, "only the known shapes of secrets are masked: {}", status.message());
  }
  return info;
}

}  // namespace trainwarden::capture
