// A training job as a user wrote it: TOML or JSON, read, checked, and its hyper-parameters as arguments.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "work/jobs/hyperparameters.h"
#include "work/jobs/job_lint.h"

using namespace trainwarden;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Result<document::DocumentValue> top = document::parse({reinterpret_cast<const char*>(data), size}, "job");
  if (!top.ok()) return 0;
  document::Mistakes mistakes;
  const jobs::JobSpec spec = jobs::read_job_spec(*top, mistakes);
  const jobs::Surroundings nothing{.folder = "/",
                                   .look = [](const std::filesystem::path&) { return jobs::FileKind::kNone; },
                                   .is_program = [](const std::string&) { return false; },
                                   .machine = {}};
  jobs::lint(spec, nothing, mistakes);
  jobs::script_arguments(spec.hyperparameters);
  if (mistakes.any() == mistakes.status().ok()) __builtin_trap();
  return 0;
}
