#include "ui/cli/options/catalogue_choice.h"

#include <cstdlib>
#include <memory>

#include "core/base/folder_variables.h"
#include "ui/cli/running/job_backend.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {

std::filesystem::path catalogue_folder(const std::filesystem::path& beside) {
  const char* const variable = std::getenv(variable::kCatalogue);
  if (variable != nullptr && *variable != '\0') return variable;
  std::filesystem::path whole = std::filesystem::absolute(beside).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();  // "jobs/"
  return whole.parent_path() / "catalogue";
}

catalogue::SettleJob settle_now() {
  const auto backends = std::make_shared<JobBackends>();
  return [backends](jobs::JobRecord& job) { return backends->settle(job); };
}

void report_notes(catalogue::Catalogue& catalogue) {
  for (const std::string& note : catalogue.take_notes()) emit(stderr, "trainwarden: {}\n", note);
}

}  // namespace trainwarden::cli
