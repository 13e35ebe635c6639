#include "work/jobs/confinement.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainwarden::jobs {

Result<Confinement> Confinement::to(const std::optional<std::vector<int>>& processors) {
  Confinement confinement;
  if (!processors) return confinement;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const int cpu : *processors) {
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &cpus);
  }
  ::sched_getaffinity(0, sizeof(confinement.before_), &confinement.before_);
  if (::sched_setaffinity(0, sizeof(cpus), &cpus) != 0) {
    return Status(Code::kFailedPrecondition, fmt::format("cannot keep to the processors {}: {}",
                                                         fmt::join(*processors, ","), std::strerror(errno)));
  }
  confinement.changed_ = true;
  return confinement;
}

Confinement::Confinement(Confinement&& other) noexcept
    : before_(other.before_), changed_(std::exchange(other.changed_, false)) {}

Confinement::~Confinement() {
  if (changed_) ::sched_setaffinity(0, sizeof(before_), &before_);
}

void add_variables(const Allocation& allocation, std::map<std::string, std::string>& environment) {
  if (allocation.gpus) {
    environment.try_emplace("CUDA_VISIBLE_DEVICES", fmt::format("{}", fmt::join(*allocation.gpus, ",")));
  }
  if (allocation.cpus) environment.try_emplace("OMP_NUM_THREADS", std::to_string(allocation.cpus->size()));
}

}  // namespace trainwarden::jobs
