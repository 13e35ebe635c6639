#include "react/watch/ledger_copy.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/clock.h"
#include "core/base/crc32c.h"
#include "core/base/text.h"
#include "react/events/ledger_journal.h"
#include "store/journal/run_folder.h"

namespace trainwarden::watch {
namespace {

constexpr const char* kFolder = "deliverers";

}  // namespace

storage::Location LedgerCopy::place_in(const storage::Location& run, std::span<const std::string> subscriptions) {
  std::vector<std::string> names(subscriptions.begin(), subscriptions.end());
  std::sort(names.begin(), names.end());
  const std::string all = fmt::format("{}", fmt::join(names, "\n"));
  return run.beneath(fmt::format("{}/{:08x}", kFolder, crc32c(as_bytes(all))));
}

Result<std::unique_ptr<LedgerCopy>> LedgerCopy::open(const storage::Location& place,
                                                     const storage::Storage& run_storage, const journal::RunInfo& run) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto ledger, events::Ledger::open(place.storage(), system_clock(), run));
  return std::unique_ptr<LedgerCopy>(new LedgerCopy(place, std::move(ledger), run_storage, run));
}

LedgerCopy::LedgerCopy(storage::Location place, std::unique_ptr<events::Ledger> ledger,
                       const storage::Storage& run_storage, journal::RunInfo run)
    : place_(std::move(place)), ledger_(std::move(ledger)), run_storage_(run_storage), run_(std::move(run)) {}

Status LedgerCopy::poll() {
  ledger_->beat();
  if (original_ == nullptr) {
    if (!run_storage_.exists(journal::journal_folder(events::kLedgerWriter))) return {};
    TRAINWARDEN_ASSIGN_OR_RETURN(original_,
                                 journal::JournalReader::open(run_storage_, run_, events::kLedgerWriter, {}));
  } else {
    TRAINWARDEN_RETURN_IF_ERROR(original_->refresh());
  }
  if (original_->event_count() == entries_) return ledger_->status();
  TRAINWARDEN_ASSIGN_OR_RETURN(const events::LedgerContents contents, events::contents_of(*original_, run_));
  entries_ = original_->event_count();
  for (std::size_t i = ledger_->last_seq(); i < contents.events.size(); ++i) ledger_->append(contents.events[i]);
  return ledger_->status();
}

bool LedgerCopy::keeper_is_gone() const {
  return !journal::has_living_writer(run_storage_, events::kLedgerWriter);
}

}  // namespace trainwarden::watch
