#include "measure/sampling/machine_claim.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/crc32c.h"
#include "core/base/text.h"
#include "data/format/control_record.h"
#include "measure/machine/kernel_file.h"

namespace trainwarden::sampling {
namespace {

constexpr std::size_t kBootIdBytes = 36;

bool is_boot_id(std::string_view text) {
  return text.size() == kBootIdBytes && text.find_first_not_of("0123456789abcdef-") == std::string_view::npos;
}

}  // namespace

std::string machine_mark(const std::filesystem::path& root, const std::string& host, const std::string& node) {
  machine::FileBuffer buffer;
  const auto text = machine::KernelFile(root / "proc/sys/kernel/random/boot_id").read_once(buffer);
  const std::string_view boot = trim(text.value_or(""));
  if (!is_boot_id(boot)) return {};
  return fmt::format("{}-{:08x}", boot, crc32c(as_bytes(fmt::format("{}\n{}", host, node))));
}

Result<std::unique_ptr<storage::Lease>> claim_machine(const storage::Location& run, const std::string& mark,
                                                      const Clock& clock) {
  TRAINWARDEN_RETURN_IF_ERROR(run.storage().create_folder(format::kControlFolder));
  const std::string path = fmt::format("{}/sampler-{}", format::kControlFolder, mark);
  auto lease = storage::take_lease(run.storage(), path, clock);
  if (lease.status().code() != Code::kAlreadyExists) return lease;
  const auto sign = storage::sign_of_life(run.storage(), path, clock);
  return Status(Code::kAlreadyExists,
                fmt::format("this machine is sampled into the run already{}: nothing more is sampled here",
                            sign && sign->pid > 0 ? fmt::format(", by process {}", sign->pid) : ""));
}

}  // namespace trainwarden::sampling
