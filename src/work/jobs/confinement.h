// A program keeps to what its job may use of the machine.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sched.h>

#include "trainwarden/status.h"
#include "work/jobs/allocation.h"

namespace trainwarden::jobs {

// Binds this thread, and what it starts, to processors as long as the object lives.
class Confinement {
 public:
  // kFailedPrecondition when the machine has no such processors. None: all that there are.
  static Result<Confinement> to(const std::optional<std::vector<int>>& processors);
  Confinement(Confinement&& other) noexcept;
  Confinement& operator=(Confinement&&) = delete;
  ~Confinement();

 private:
  Confinement() = default;
  cpu_set_t before_{};
  bool changed_ = false;
};

// Adds the variables by which programs of the field choose GPUs and threads; what the user has set stays as it is.
void add_variables(const Allocation& allocation, std::map<std::string, std::string>& environment);

}  // namespace trainwarden::jobs
