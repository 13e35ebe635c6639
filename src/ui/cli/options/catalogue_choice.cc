#include "ui/cli/options/catalogue_choice.h"

#include <cstdlib>
#include <memory>

#include "core/base/clock.h"
#include "core/base/environment_names.h"
#include "ui/cli/terminal/output.h"
#include "work/slurm/slurm_settle.h"

namespace trainwarden::cli {

std::filesystem::path catalogue_folder(const std::filesystem::path& beside) {
  const char* const variable = std::getenv(variable::kCatalogue);
  if (variable != nullptr && *variable != '\0') return variable;
  std::filesystem::path whole = std::filesystem::absolute(beside).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();  // "jobs/"
  return whole.parent_path() / "catalogue";
}

catalogue::SettleJob settle_now() {
  const auto slurm = std::make_shared<slurm::SlurmView>();
  return [slurm](jobs::JobRecord& job) { return slurm::settle(job, *slurm, system_clock()); };
}

void report_notes(catalogue::Catalogue& catalogue) {
  for (const std::string& note : catalogue.take_notes()) emit(stderr, "trainwarden: {}\n", note);
}

}  // namespace trainwarden::cli
