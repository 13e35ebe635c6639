// Backend: who runs a job.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::jobs {

enum class Backend : std::uint8_t { kLocal, kSlurm, kSsh };
// As users write them, in this order.
inline constexpr std::array<const char*, 3> kBackendNames = {"local", "slurm", "ssh"};

std::string_view name(Backend backend);
// The other way round. kDataLoss when there is no such backend; `what` names the text in the message.
Result<Backend> backend_named(std::string_view name, std::string_view what);

}  // namespace trainwarden::jobs
