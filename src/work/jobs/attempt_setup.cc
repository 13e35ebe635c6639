#include "work/jobs/attempt_setup.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/crc32c.h"
#include "core/base/log.h"
#include "data/format/json.h"
#include "work/jobs/allocation.h"
#include "work/jobs/control_group.h"

namespace trainwarden::jobs {

std::string encode_setup(const AttemptSetup& setup) {
  return format::dump_json(
             {{"control_group", setup.control_group}, {"memory", setup.memory}, {"rank_cpus", setup.rank_cpus}}) +
         "\n";
}

Result<AttemptSetup> decode_setup(std::string_view text, std::string_view what) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(text, what));
  AttemptSetup setup;
  TRAINWARDEN_ASSIGN_OR_RETURN(setup.control_group, format::string_field(json, "control_group"));
  TRAINWARDEN_ASSIGN_OR_RETURN(setup.memory, format::string_field(json, "memory"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json* const ranks, format::array_field(json, "rank_cpus"));
  for (const format::Json& rank : *ranks) {
    TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<int> cpus, numbers_of_devices(rank, fmt::format("{}: rank_cpus", what)));
    setup.rank_cpus.push_back(std::move(cpus));
  }
  return setup;
}

std::string attempt_key(const std::filesystem::path& job_folder, int attempt) {
  return fmt::format("{}-{}-{:08x}", job_folder.filename().string(), attempt,
                     crc32c(as_bytes(job_folder.lexically_normal().string())));
}

void end_setup(const AttemptSetup& setup, const std::string& key) {
  std::optional<ControlGroup> group = ControlGroup::find(kControlGroupRoot, setup.control_group, key);
  if (!group) return;
  if (const Status ended = group->end(); !ended.ok()) log(LogLevel::kWarning, "{}", ended.message());
}

}  // namespace trainwarden::jobs
