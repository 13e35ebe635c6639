#include "ui/work_answers/shared_catalogue.h"

#include <string>

#include "core/base/log.h"

namespace trainwarden::work_answers {

Status SharedCatalogue::open() {
  if (catalogue_) return Status();
  TRAINWARDEN_ASSIGN_OR_RETURN(catalogue_, catalogue::Catalogue::open(folder_));
  return Status();
}

void SharedCatalogue::log_notes() {
  for (const std::string& note : catalogue_->take_notes()) log(LogLevel::kWarning, "{}", note);
}

}  // namespace trainwarden::work_answers
