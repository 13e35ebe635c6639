#include "work/experiments/code_version.h"

#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/secret_mask.h"
#include "core/base/text.h"
#include "core/process/captured_output.h"
#include "work/experiments/content_hash.h"

namespace trainwarden::experiments {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kGitTime{1'000};
constexpr std::chrono::milliseconds kPythonTime{10'000};
constexpr std::size_t kMostOutputBytes = std::size_t{64} << 20;

Result<std::string> output_of(std::vector<std::string> command, const fs::path& folder,
                              std::chrono::milliseconds time) {
  process::Program program;
  program.command = std::move(command);
  program.folder = folder.string();
  TRAINWARDEN_ASSIGN_OR_RETURN(process::CapturedOutput output,
                               process::capture_output(std::move(program), kMostOutputBytes, time));
  if (output.exit.how == process::ExitRecord::How::kExited && output.exit.number == 0) return std::move(output.text);
  return Status(Code::kNotFound, "it gave no answer");
}

// Neither hooks of the repository nor its drivers for differences are run.
std::string ask_git(const fs::path& folder, std::vector<std::string> question) {
  std::vector<std::string> command = {"git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"};
  command.insert(command.end(), question.begin(), question.end());
  return output_of(std::move(command), folder, kGitTime).value_or("");
}

constexpr const char* kListPackages =
    "import importlib.metadata as m\n"
    "print('\\n'.join(sorted({f\"{d.metadata['Name']}=={d.version}\" for d in m.distributions()})))";

}  // namespace

std::map<std::string, std::string> code_version(const fs::path& folder) {
  std::map<std::string, std::string> version;
  const std::string commit(trim(ask_git(folder, {"rev-parse", "--verify", "HEAD"})));
  if (commit.empty()) return version;
  version["code.commit"] = commit;
  const std::string remote(trim(ask_git(folder, {"config", "--get", "remote.origin.url"})));
  if (!remote.empty()) version["code.repository"] = mask_secrets(remote);
  const std::string difference = ask_git(folder, {"diff", "--no-ext-diff", "--no-textconv", "--binary", "HEAD"});
  if (difference.empty()) return version;
  const Result<std::string> hash = sha256_of(difference);
  if (hash.ok()) version["code.diff"] = "sha256:" + *hash;
  return version;
}

Result<std::string> python_packages(const fs::path& folder) {
  return output_of({"python3", "-I", "-c", kListPackages}, folder, kPythonTime);
}

}  // namespace trainwarden::experiments
