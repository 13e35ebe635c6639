#include "work/jobs/attempt_container.h"

#include <chrono>

#include <fmt/format.h>

#include "core/process/captured_output.h"
#include "data/format/json.h"

namespace trainwarden::jobs {
namespace {

constexpr std::chrono::seconds kRemovalTime{30};
constexpr std::size_t kMaxSaid = 4096;

}  // namespace

std::string encode_container(const AttemptContainer& container) {
  return format::dump_json({{"engine", container.engine},
                            {"image", container.image},
                            {"digest", container.digest},
                            {"limits_memory", container.limits_memory}}) +
         "\n";
}

Result<AttemptContainer> decode_container(std::string_view text, std::string_view what) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(text, what));
  AttemptContainer container;
  TRAINWARDEN_ASSIGN_OR_RETURN(container.engine, format::string_field(json, "engine"));
  TRAINWARDEN_ASSIGN_OR_RETURN(container.image, format::string_field(json, "image"));
  TRAINWARDEN_ASSIGN_OR_RETURN(container.digest, format::string_field(json, "digest"));
  TRAINWARDEN_ASSIGN_OR_RETURN(container.limits_memory, format::bool_field(json, "limits_memory"));
  return container;
}

// The engine's name is compared and never started as it stands: the file may be anybody's.
Status remove_containers(const AttemptContainer& container, const std::string& key) {
  if (container.engine != "podman") return Status();
  process::Program program;
  program.command = {
      "podman", "rm", "--force", "--time", "0", "--filter", fmt::format("label={}={}", kContainerLabel, key)};
  program.environment.removed = {"LD_PRELOAD"};
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto said, process::capture_output(program, kMaxSaid, kRemovalTime));
  if (said.exit.shell_code() == 0) return Status();
  return Status(Code::kInternal, fmt::format("podman cannot remove the containers of {}: {}", key, said.errors));
}

}  // namespace trainwarden::jobs
