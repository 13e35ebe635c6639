#include "work/job_events/event_folder.h"

namespace trainwarden::job_events {
namespace {

constexpr const char* kEventsFolder = ".events";
constexpr const char* kMarkersFolder = "jobs";
constexpr const char* kDelivererLease = "deliverer";

}  // namespace

EventFolder::EventFolder(const std::filesystem::path& jobs)
    : place_(std::filesystem::absolute(jobs) / kEventsFolder), markers_(place_.beneath(kMarkersFolder)) {}

bool EventFolder::exists() const {
  return place_.storage().exists(journal::kRunFile);
}

Result<journal::RunInfo> EventFolder::info(const Clock& clock) {
  journal::RunInfo info;
  info.id = journal::make_run_id();
  info.created_unix_ns = clock.unix_ns();
  return journal::create_or_join_run(place_.storage(), info);
}

Result<std::unique_ptr<storage::Lease>> EventFolder::take_lease(const Clock& clock) {
  TRAINWARDEN_RETURN_IF_ERROR(place_.storage().create_folder(""));
  return storage::take_lease(place_.storage(), kDelivererLease, clock);
}

bool EventFolder::has_deliverer(const Clock& clock) const {
  return storage::is_leased(place_.storage(), kDelivererLease, clock);
}

}  // namespace trainwarden::job_events
