#include "work/containers/container_engine.h"

#include <chrono>
#include <cstdlib>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/process/captured_output.h"
#include "work/jobs/attempt_container.h"

namespace trainwarden::containers {
namespace {

using Words = std::vector<std::string>;

constexpr std::chrono::minutes kFetchTime{60};
constexpr std::chrono::seconds kAskTime{60};
constexpr std::size_t kMaxAnswer = 4096;

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// podman splits a mount at colons and commas, and apptainer does the same; paths with either are refused before.
Words mount_words(const ContainerPlan& plan, const char* option) {
  Words words;
  for (const Mount& mount : plan.mounts) {
    words.emplace_back(option);
    words.push_back(fmt::format("{}:{}{}", mount.source.string(), mount.target.string(), mount.writable ? "" : ":ro"));
  }
  return words;
}

// GPUs by the Container Device Interface. In there they are counted from 0.
Words gpu_words(const std::vector<int>& gpus) {
  Words words;
  if (gpus.empty()) return words;
  for (const int gpu : gpus) append(words, {"--device", fmt::format("nvidia.com/gpu={}", gpu)});
  std::vector<int> inside(gpus.size());
  std::iota(inside.begin(), inside.end(), 0);
  append(words, {"--env", fmt::format("CUDA_VISIBLE_DEVICES={}", fmt::join(inside, ","))});
  return words;
}

Words podman_words(const ContainerPlan& plan) {
  Words words = {"podman",  "run",     "--name",
                 plan.name, "--label", fmt::format("{}={}", jobs::kContainerLabel, plan.key)};
  append(words, {"--init", "--ipc=host", "--security-opt", "label=disable", "--log-driver=none"});
  append(words, {"--workdir", plan.folder.string(), "--entrypoint", ""});
  if (plan.keeps_user) words.emplace_back("--userns=keep-id");
  if (plan.isolated_network) {
    words.emplace_back("--network=none");
  } else if (plan.shares_network) {
    words.emplace_back("--network=host");
  }
  if (plan.keeps_control_group) append(words, {"--cgroups=disabled", "--rm"});
  if (plan.memory_bytes != 0 && !plan.keeps_control_group) {
    append(words, {"--memory", std::to_string(plan.memory_bytes)});
  }
  append(words, mount_words(plan, "--volume"));
  for (const std::string& variable : plan.variables) append(words, {"--env", variable});
  append(words, gpu_words(plan.gpus));
  words.push_back(plan.image);
  return words;
}

// It hands on all variables by itself, and its containers are processes like any other.
Words apptainer_words(const ContainerPlan& plan) {
  Words words = {"apptainer", "exec", "--pwd", plan.folder.string()};
  if (plan.isolated_network) append(words, {"--net", "--network", "none"});
  append(words, mount_words(plan, "--bind"));
  if (!plan.gpus.empty()) words.emplace_back("--nv");
  const bool in_registry = !plan.image.ends_with(".sif") && plan.image.find("://") == std::string::npos;
  words.push_back((in_registry ? "docker://" : "") + plan.image);
  return words;
}

Result<std::string> ask_podman(Words words, std::chrono::milliseconds time) {
  words.insert(words.begin(), "podman");
  process::Program program;
  program.command = std::move(words);
  program.environment.removed = {"LD_PRELOAD"};
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto said, process::capture_output(program, kMaxAnswer, time));
  if (said.exit.shell_code() == 0) return std::string(trim(said.text));
  return Status(Code::kUnavailable, printable(trim(said.errors)));
}

}  // namespace

std::string_view name(ContainerEngine engine) {
  return engine == ContainerEngine::kPodman ? "podman" : "apptainer";
}

Result<ContainerEngine> find_engine(const std::string& image,
                                    const std::function<bool(const std::string&)>& is_program) {
  const bool is_file = image.ends_with(".sif");
  if (!is_file && is_program("podman")) return ContainerEngine::kPodman;
  if (is_program("apptainer")) return ContainerEngine::kApptainer;
  if (is_file) {
    return Status(Code::kNotFound,
                  "image: a .sif file needs apptainer, which is not installed (https://apptainer.org)");
  }
  return Status(Code::kNotFound,
                "image: neither podman nor apptainer is installed; on Debian: apt-get install podman catatonit");
}

bool is_in_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  for (const std::string& folder : split_list(path != nullptr ? path : "", ':')) {
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::vector<std::string> container_words(ContainerEngine engine, const ContainerPlan& plan) {
  Words words = engine == ContainerEngine::kPodman ? podman_words(plan) : apptainer_words(plan);
  append(words, plan.program);
  return words;
}

Result<std::string> digest_of_image(ContainerEngine engine, const std::string& image) {
  if (engine != ContainerEngine::kPodman) return std::string();
  const Words question = {"image", "inspect", "--format", "{{.Digest}}", image};
  if (Result<std::string> digest = ask_podman(question, kAskTime); digest.ok()) return digest;
  if (const auto fetched = ask_podman({"pull", "--quiet", image}, kFetchTime); !fetched.ok()) {
    return Status(fetched.status().code(), fmt::format("image: {} is not here, and podman cannot fetch it: {}",
                                                       printable(image), fetched.status().message()));
  }
  return ask_podman(question, kAskTime);
}

bool ended_out_of_memory(ContainerEngine engine, const std::string& container) {
  if (engine != ContainerEngine::kPodman) return false;
  return ask_podman({"inspect", "--type", "container", "--format", "{{.State.OOMKilled}}", container}, kAskTime)
             .value_or("") == "true";
}

}  // namespace trainwarden::containers
