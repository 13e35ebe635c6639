#include "work/ssh/ssh_host.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/process/captured_output.h"

namespace trainwarden::ssh {
namespace {

constexpr int kSshFailed = 255;  // its own failure, as ssh(1) says
constexpr std::size_t kMaxAnswerBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxDestinationBytes = 255;
constexpr std::int64_t kMaxPort = 65'535;

bool is_destination(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-@:%").find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= kMaxDestinationBytes && text.front() != '-' && text.front() != '@' &&
         text.back() != '@' && std::all_of(text.begin(), text.end(), allowed);
}

constexpr std::size_t kMaxWords = 2000;

// What a script there has printed, in one line.
std::string all_words(std::string_view errors) {
  const std::vector<std::string> lines = split_list(errors.substr(0, kMaxWords), '\n');
  return lines.empty() ? "it has failed and does not say why" : printable(fmt::format("{}", fmt::join(lines, " / ")));
}

}  // namespace

std::string to_string(const SshHost& host) {
  return host.port == 0 ? host.destination : fmt::format("{}:{}", host.destination, host.port);
}

Result<SshHost> parse_ssh_host(std::string_view text) {
  SshHost host{std::string(text), 0};
  // More than one colon is an address of IPv6, which has its port in ssh's configuration.
  const std::size_t colon = text.rfind(':');
  const bool has_port = colon != std::string_view::npos && text.find(':') == colon;
  if (has_port) {
    const std::optional<std::int64_t> port = parse_int(text.substr(colon + 1));
    host = {std::string(text.substr(0, colon)), 0};
    if (port && *port >= 1 && *port <= kMaxPort) host.port = static_cast<int>(*port);
  }
  if (is_destination(host.destination) && (host.port != 0 || !has_port)) return host;
  return Status(Code::kInvalidArgument,
                fmt::format("expected a host as in \"gpu1\" or \"user@gpu2:2222\", found \"{}\"", printable(text)));
}

std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::vector<std::string> ssh_command(const SshHost& host, const std::string& script) {
  std::vector<std::string> words = {"ssh", "-T", "-a", "-x"};
  for (const char* option : {"BatchMode=yes", "PasswordAuthentication=no", "ConnectTimeout=10", "ControlMaster=no",
                             "ClearAllForwardings=yes", "ServerAliveInterval=15", "ServerAliveCountMax=3"}) {
    words.insert(words.end(), {"-o", option});
  }
  if (host.port != 0) words.insert(words.end(), {"-p", std::to_string(host.port)});
  // The user's shell there may be any; they agree on this.
  words.insert(words.end(), {"--", host.destination, "exec sh -c " + shell_word(script)});
  return words;
}

Result<std::string> run_on_host(const SshHost& host, const std::string& script, int input,
                                std::chrono::milliseconds timeout) {
  process::Program program;
  program.command = ssh_command(host, script);
  program.signals = process::SignalStart::all_default();
  program.ends_with_us = true;
  if (input >= 0) program.descriptors[STDIN_FILENO] = input;
  Result<process::CapturedOutput> answer = process::capture_output(std::move(program), kMaxAnswerBytes, timeout);
  if (answer.status().code() == Code::kNotFound) {
    return Status(Code::kFailedPrecondition, "there is no program `ssh` on this machine; install OpenSSH's client");
  }
  if (!answer.ok())
    return Status(Code::kUnavailable, fmt::format("{}: {}", to_string(host), answer.status().message()));
  const bool exited = answer->exit.how == process::ExitRecord::How::kExited;
  if (exited && answer->exit.number == 0) return std::move(answer->text);
  const bool by_ssh = !exited || answer->exit.number == kSshFailed;
  return Status(
      by_ssh ? Code::kUnavailable : Code::kFailedPrecondition,
      fmt::format("{}: {}", to_string(host), by_ssh ? last_words(answer->errors) : all_words(answer->errors)));
}

std::string last_words(std::string_view errors) {
  const std::vector<std::string> lines = split_list(errors, '\n');
  if (lines.empty()) return "ssh has failed and does not say why";
  return printable(std::string_view(lines.back()).substr(0, kMaxWords));
}

}  // namespace trainwarden::ssh
