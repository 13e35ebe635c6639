#include "ui/answers/profile_document.h"

#include <chrono>
#include <memory>

#include "read/trial/trial_access.h"
#include "ui/answers/profile_json.h"
#include "ui/views/profile/compare_profiles.h"
#include "ui/views/profile/read_profile.h"
#include "ui/views/shelf.h"

namespace trainwarden::answers {
namespace {

// Who asks once waits for all of it, but not for ever.
constexpr std::chrono::milliseconds kPatienceForAll{120'000};

Result<views::ProfileReport> whole_report_of(const storage::Location& location) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto trial, TrialAccess::open(location));
  const auto run = std::make_shared<views::OpenRun>(location.name(), std::move(trial));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, run->use());
  return views::read_profile(use, {.patience = kPatienceForAll});
}

}  // namespace

Result<std::string> profile_document(const storage::Location& run, const std::optional<storage::Location>& against) {
  TRAINWARDEN_ASSIGN_OR_RETURN(views::ProfileReport report, whole_report_of(run));
  if (against) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const views::ProfileReport other, whole_report_of(*against));
    report.comparison = views::compare_profiles(report, other);
  }
  return format::dump_json(answers::json_of(report));
}

}  // namespace trainwarden::answers
