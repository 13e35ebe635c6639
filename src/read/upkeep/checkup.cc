#include "read/upkeep/checkup.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "data/format/step_end.h"
#include "read/trial/smdebug/smdebug_source.h"
#include "read/trial/trial_access.h"
#include "read/upkeep/many_tasks.h"
#include "read/upkeep/segment_scan.h"
#include "store/journal/format_versions.h"
#include "store/journal/journal_reader.h"
#include "store/journal/journal_segment.h"
#include "store/journal/loss_list.h"

namespace trainwarden::upkeep {
namespace {

using format::FrameHeader;

// Of a run that another recorder wrote.
Result<Checkup> examine_foreign(const storage::Location& run) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial, TrialAccess::open(run));
  Checkup checkup;
  checkup.recorder = trial->recorder();
  checkup.info = TrialAccess::run_info(*trial);
  checkup.losses = trial->losses();
  for (trial::WorkerJournal* worker : TrialAccess::journals(*trial)) {
    if (!worker->readable()) continue;
    journal::JournalReader& reader = worker->reader();
    TRAINWARDEN_RETURN_IF_ERROR(reader.verify_all());
    JournalCheckup& journal = checkup.journals.emplace_back();
    journal.writer = worker->name();
    journal.live = worker->life().writing;
    journal.steps = reader.steps().size();
    journal.tensors = reader.tensors().size();
    journal.losses.assign(reader.losses().begin(), reader.losses().end());
  }
  return checkup;
}

// One segment to be checked, and what is wrong with it.
struct SegmentCheck {
  std::size_t journal = 0;
  std::uint64_t number = 0;
  bool may_grow = false;  // the newest of a journal that is being written
  std::uint64_t bytes = 0;
  bool sealed = false;
  journal::LossList losses;
};

class RunExaminer {
 public:
  RunExaminer(const storage::Location& run, const CheckupPlan& plan)
      : run_(run), storage_(run.storage()), plan_(plan) {}

  Result<Checkup> examine() {
    checkup_.recorder = "trainwarden";
    TRAINWARDEN_ASSIGN_OR_RETURN(checkup_.info, journal::read_run(storage_));
    if (checkup_.info.format_version > journal::kNewestVersion) {
      return Status(Code::kFailedPrecondition,
                    fmt::format("{} has format version {}, this program reads up to {}; use a newer trainwarden",
                                run_.address(), checkup_.info.format_version, journal::kNewestVersion));
    }
    TRAINWARDEN_RETURN_IF_ERROR(find_segments());
    TRAINWARDEN_RETURN_IF_ERROR(for_each_task(checkup_.journals.size(), plan_.threads,
                                              [&](std::size_t i) { return read_journal(checkup_.journals[i]); }));
    TRAINWARDEN_RETURN_IF_ERROR(
        for_each_task(checks_.size(), plan_.threads, [&](std::size_t i) { return check(checks_[i]); }));
    gather();
    return std::move(checkup_);
  }

 private:
  Status find_segments() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto writers, journal::list_journals(storage_));
    for (const std::string& writer : writers) {
      JournalCheckup& journal = checkup_.journals.emplace_back();
      journal.writer = writer;
      journal.live = journal::has_living_writer(storage_, writer);
      TRAINWARDEN_ASSIGN_OR_RETURN(const auto numbers, journal::list_segments(storage_, writer));
      for (const std::uint64_t number : numbers) {
        SegmentCheck& check = checks_.emplace_back();
        check.journal = checkup_.journals.size() - 1;
        check.number = number;
        check.may_grow = journal.live && number == numbers.back();
        const SegmentPlace place{checkup_.info.id, writer, number};
        all_bytes_ += storage_.info(place.path()).value_or({}).bytes;
      }
    }
    return {};
  }

  // What a reader of the journal finds, which is more than bytes that differ: names that are lost, gaps between files.
  Status read_journal(JournalCheckup& journal) {
    const journal::JournalReaderOptions options{.live = journal.live, .verify_payloads = true};
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto reader,
                                 journal::JournalReader::open(storage_, checkup_.info, journal.writer, options));
    journal.steps = reader->steps().size();
    journal.tensors = reader->tensors().size();
    journal.events = reader->event_count();
    journal.losses.assign(reader->losses().begin(), reader->losses().end());
    return {};
  }

  Status check(SegmentCheck& check) {
    const SegmentPlace place{checkup_.info.id, checkup_.journals[check.journal].writer, check.number};
    const auto opened = SegmentScan::open(storage_, place, ScanDepth::kWalk, check.may_grow);
    if (opened.status().code() == Code::kNotFound) return {};  // it was listed: the reader has said that it is no file
    if (!opened.ok()) return opened.status();
    SegmentScan& scan = **opened;
    check.bytes = scan.file_bytes();
    check.sealed = scan.sealed();
    for (const journal::Damage& damage : scan.damage()) {
      check.losses.add_damage(place.path(), damage.offset, damage.cause, damage.frames, damage.bytes);
    }
    std::uint64_t said_bytes = 0;
    for (const FrameHeader& header : scan.frames()) {
      const Status status = journal::is_words(header.kind) ? Status() : scan.verify(header);
      if (!status.ok() && !journal::is_damage(status)) return status;
      if (!status.ok()) {
        check.losses.add_damage(place.path(), header.file_offset, journal::cause_of(status), 1, header.frame_bytes());
      }
      said_bytes += header.frame_bytes();
      if (said_bytes >= kProgressBytes) report_progress(std::exchange(said_bytes, 0));
    }
    compare_index(scan, check);
    report_progress(said_bytes);
    return {};
  }

  // A whole index that does not say what lies there leads readers astray.
  void compare_index(const SegmentScan& scan, SegmentCheck& check) const {
    if (!scan.index() || scan.is_another()) return;
    auto row = scan.index()->frames.begin();
    const auto end = scan.index()->frames.end();
    for (const FrameHeader& header : scan.frames()) {
      if (header.kind == format::FrameKind::kIndex || header.kind == format::FrameKind::kTrailer) continue;
      while (row != end && row->offset < header.file_offset) ++row;  // one that is damaged
      const bool known = row != end && row->offset == header.file_offset && row->kind == header.kind &&
                         row->step == header.step && row->payload_bytes == header.payload_bytes;
      if (known) continue;
      check.losses.add_damage(scan.place().path(), header.file_offset, "frame that the index does not know", 1, 0);
    }
  }

  void report_progress(std::uint64_t bytes) {
    if (!plan_.progress) return;
    const std::lock_guard lock(mutex_);
    done_bytes_ += bytes;
    plan_.progress(std::min(done_bytes_, all_bytes_), all_bytes_);
  }

  // The same damage is met by the reader and by the check of its file.
  void gather() {
    for (SegmentCheck& check : checks_) {
      JournalCheckup& journal = checkup_.journals[check.journal];
      ++journal.segments;
      journal.sealed += check.sealed ? 1 : 0;
      journal.bytes += check.bytes;
      std::set<std::pair<std::string, std::string>> known;
      for (const RunLoss& loss : journal.losses) known.emplace(loss.where, loss.cause);
      for (const RunLoss& loss : check.losses.all()) {
        if (!known.contains({loss.where, loss.cause})) journal.losses.push_back(loss);
      }
    }
  }

  static constexpr std::uint64_t kProgressBytes = 64 << 20;

  const storage::Location& run_;
  const storage::Storage& storage_;
  const CheckupPlan& plan_;
  Checkup checkup_;
  std::vector<SegmentCheck> checks_;
  std::uint64_t all_bytes_ = 0;
  std::mutex mutex_;
  std::uint64_t done_bytes_ = 0;
};

template <class Predicate>
bool none_of_losses(const Checkup& checkup, Predicate predicate) {
  return std::none_of(checkup.losses.begin(), checkup.losses.end(), predicate) &&
         std::all_of(checkup.journals.begin(), checkup.journals.end(), [&](const JournalCheckup& journal) {
           return std::none_of(journal.losses.begin(), journal.losses.end(), predicate);
         });
}

// `gc` took it away because its user wanted the room.
bool is_deliberate(const RunLoss& loss) {
  return loss.by_writer && loss.cause == format::kThinnedCause;
}

}  // namespace

bool Checkup::healthy() const {
  return none_of_losses(*this, [](const RunLoss& loss) { return !is_deliberate(loss); });
}

bool Checkup::whole() const {
  return none_of_losses(*this, [](const RunLoss& loss) { return !loss.by_writer; });
}

Result<Checkup> examine(const storage::Location& run, const CheckupPlan& plan) {
  return no_throw([&]() -> Result<Checkup> {
    const storage::Storage& storage = run.storage();
    if (!storage.exists(journal::kRunFile) && trial::holds_smdebug_run(storage)) return examine_foreign(run);
    return RunExaminer(run, plan).examine();
  });
}

}  // namespace trainwarden::upkeep
