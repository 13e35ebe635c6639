#include "read/upkeep/merge.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "data/format/run_event.h"
#include "read/upkeep/file_copy.h"
#include "read/upkeep/merge_parts.h"
#include "store/storage/new_folder.h"
#include "trainwarden/version.h"

namespace trainwarden::upkeep {
namespace {

Status check_given(const MergePlan& plan) {
  if (plan.runs.size() < 2) {
    return Status(Code::kInvalidArgument, fmt::format("two runs or more make one, {} was named", plan.runs.size()));
  }
  return {};
}

Result<MergeKind> kind_of(const MergePlan& plan, const std::vector<MergePart>& parts) {
  if (plan.kind) return *plan.kind;
  if (!ranks_collide(parts)) return MergeKind::kWorkers;
  return Status(Code::kInvalidArgument,
                "runs have workers of the same rank: say whether they are workers that trained side by side (--as "
                "workers) or attempts of one training, one after the other (--as attempts)");
}

Status check_distinct(const std::vector<MergePart>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (parts[i].info.id != parts[k].info.id || !ranks_collide({parts[i], parts[k]})) continue;
      return Status(Code::kInvalidArgument, fmt::format("{} and {} are the same run ({})", parts[k].location.address(),
                                                        parts[i].location.address(), parts[i].info.id));
    }
  }
  return {};
}

class RunMerge {
 public:
  RunMerge(const MergePlan& plan, std::vector<MergePart> parts, MergeKind kind, const Clock& clock)
      : plan_(plan), parts_(std::move(parts)), clock_(clock) {
    report_.kind = kind;
  }

  Result<MergeReport> run() {
    TRAINWARDEN_ASSIGN_OR_RETURN(report_.info, merged_info(parts_, report_.kind, plan_.preferred));
    report_.info.id = journal::make_run_id();
    if (report_.kind == MergeKind::kAttempts) {
      name_attempts_journals(parts_, report_.left_behind);
      std::stable_sort(parts_.begin(), parts_.end(), [](const MergePart& a, const MergePart& b) {
        return a.info.created_unix_ns < b.info.created_unix_ns;
      });
    } else {
      TRAINWARDEN_RETURN_IF_ERROR(check_same_steps(parts_));
      TRAINWARDEN_RETURN_IF_ERROR(name_workers_journals(parts_, report_.left_behind));
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(folder_, storage::NewFolder::begin(plan_.to));
    lost_.resize(parts_.size());
    for (std::size_t i = 0; i < parts_.size(); ++i) TRAINWARDEN_RETURN_IF_ERROR(copy_part(i));
    for (auto& [writer, copy] : copies_) report_.journals.push_back({writer, copy->tally()});
    for (const RecoveredJournal& journal : report_.journals) {
      report_.lost.insert(report_.lost.end(), journal.tally.lost.begin(), journal.tally.lost.end());
      report_.mended.insert(report_.mended.end(), journal.tally.mended.begin(), journal.tally.mended.end());
    }
    TRAINWARDEN_RETURN_IF_ERROR(copy_other_files());
    TRAINWARDEN_RETURN_IF_ERROR(put_run_file());
    TRAINWARDEN_RETURN_IF_ERROR(folder_->finish());
    return std::move(report_);
  }

 private:
  // From which step on later attempts have what this one had.
  std::optional<std::int64_t> replaced_from(std::size_t part) const {
    std::optional<std::int64_t> from;
    if (report_.kind != MergeKind::kAttempts) return from;
    for (std::size_t later = part + 1; later < parts_.size(); ++later) {
      const std::int64_t first = parts_[later].first_step();
      if (first >= 0) from = std::min(from.value_or(first), first);
    }
    return from;
  }

  JournalCopy& copy_of(const std::string& writer) {
    auto& copy = copies_[writer];
    if (copy == nullptr) copy = std::make_unique<JournalCopy>(*folder_->storage(), report_.info, writer);
    return *copy;
  }

  Status copy_part(std::size_t index) {
    const MergePart& part = parts_[index];
    MergedRun merged;
    merged.address = part.location.address();
    merged.id = part.info.id;
    merged.journals = part.new_names;
    merged.first_step = part.first_step();
    merged.replaced_from = replaced_from(index);
    const FrameFilter wanted = [&](const format::FrameHeader& header) {
      return !merged.replaced_from || header.step < *merged.replaced_from;
    };
    for (const auto& [writer, name_now] : part.new_names) {
      JournalCopy& copy = copy_of(name_now);
      const std::uint64_t left_before = copy.tally().left_out;
      const std::size_t lost_before = copy.tally().lost.size();
      TRAINWARDEN_RETURN_IF_ERROR(copy_journal(index, writer, copy, wanted));
      merged.replaced_frames += copy.tally().left_out - left_before;
      for (std::size_t i = lost_before; i < copy.tally().lost.size(); ++i) add_loss(index, copy.tally().lost[i]);
    }
    report_.runs.push_back(std::move(merged));
    return {};
  }

  Status copy_journal(std::size_t index, const std::string& writer, JournalCopy& copy, const FrameFilter& wanted) {
    const MergePart& part = parts_[index];
    const storage::Storage& storage = part.location.storage();
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto numbers, journal::list_segments(storage, writer));
    copy.note_gaps(writer, numbers);
    for (const std::uint64_t number : numbers) {
      const SegmentPlace place{part.info.id, writer, number};
      if (plan_.progress) plan_.progress(part.location.name() + "/" + place.path());
      const auto scan = SegmentScan::open(storage, place, ScanDepth::kWalk);
      if (scan.status().code() == Code::kNotFound) continue;  // no file
      if (!scan.ok()) return scan.status();
      if (number == numbers.front()) TRAINWARDEN_RETURN_IF_ERROR(take_back_end(index, writer, **scan, copy));
      TRAINWARDEN_RETURN_IF_ERROR(copy.add(**scan, wanted));
    }
    return {};
  }

  // An earlier attempt had ended; with this one the training went on.
  Status take_back_end(std::size_t index, const std::string& writer, const SegmentScan& first, JournalCopy& copy) {
    if (report_.kind != MergeKind::kAttempts || first.frames().empty()) return {};
    bool has_ended = false;
    for (std::size_t earlier = 0; earlier < index; ++earlier) {
      const auto& writers = parts_[earlier].writers;
      if (std::find(writers.begin(), writers.end(), writer) == writers.end()) continue;
      has_ended = parts_[earlier].ended.contains(writer);
    }
    return has_ended ? copy.add_event(format::encode_run_resume(), first.frames().front().unix_ns) : Status();
  }

  void add_loss(std::size_t part, const CopyNote& note) {
    OriginLoss& loss = lost_[part][note.cause];
    loss.cause = note.cause;
    loss.count += note.count;
    loss.bytes += note.bytes;
  }

  // Of two files with the same name a later attempt's counts; a second worker's stays behind.
  Status copy_other_files() {
    std::vector<std::size_t> order(parts_.size());
    std::iota(order.begin(), order.end(), 0);
    if (report_.kind == MergeKind::kAttempts) std::reverse(order.begin(), order.end());
    for (const std::size_t index : order) {
      const storage::Storage& from = parts_[index].location.storage();
      for (const char* folder : {"blackbox", "checkpoints"}) {
        const auto entries = from.entries(folder);
        if (entries.status().code() == Code::kNotFound) continue;
        if (!entries.ok()) return entries.status();
        for (const storage::Entry& entry : *entries) TRAINWARDEN_RETURN_IF_ERROR(copy_entry(index, folder, entry));
      }
    }
    return {};
  }

  Status copy_entry(std::size_t index, const std::string& folder, const storage::Entry& entry) {
    const storage::Storage& from = parts_[index].location.storage();
    storage::Storage& to = *folder_->storage();
    const std::string path = folder + "/" + entry.name;
    if (to.exists(path)) {
      report_.left_behind.push_back(
          fmt::format("{}: {}, whose name another run's has", parts_[index].location.address(), path));
      return {};
    }
    if (plan_.progress) plan_.progress(path);
    if (entry.info.kind == storage::FileInfo::Kind::kFolder) {
      return copy_files(from, path, to, plan_.progress).status();
    }
    if (entry.info.kind != storage::FileInfo::Kind::kFile) return {};
    TRAINWARDEN_RETURN_IF_ERROR(to.create_folder(folder));
    return copy_file(from, path, to);
  }

  Status put_run_file() {
    std::vector<RunOrigin> origins;
    for (const MergePart& part : parts_) origins.insert(origins.end(), part.origins.begin(), part.origins.end());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      RunOrigin& origin = origins.emplace_back();
      origin.how = "merge";
      origin.run = parts_[i].info.id;
      origin.address = parts_[i].location.absolute().address();
      origin.made_unix_ns = clock_.unix_ns();
      origin.made_by = fmt::format("trainwarden {}", version());
      for (auto& [cause, loss] : lost_[i]) origin.lost.push_back(loss);
    }
    return folder_->storage()->put_if_absent(journal::kRunFile, as_bytes(encode_run_info(report_.info, origins)));
  }

  const MergePlan& plan_;
  std::vector<MergePart> parts_;
  const Clock& clock_;
  MergeReport report_;
  std::unique_ptr<storage::NewFolder> folder_;
  std::map<std::string, std::unique_ptr<JournalCopy>> copies_;  // by their new names
  std::vector<std::map<std::string, OriginLoss>> lost_;         // of each part, by cause
};

}  // namespace

std::string_view name(MergeKind kind) {
  return kind == MergeKind::kWorkers ? "workers" : "attempts";
}

Result<MergeReport> merge_runs(const MergePlan& plan, const Clock& clock) {
  return no_throw([&]() -> Result<MergeReport> {
    TRAINWARDEN_RETURN_IF_ERROR(check_given(plan));
    std::vector<MergePart> parts;
    for (const storage::Location& run : plan.runs) {
      TRAINWARDEN_ASSIGN_OR_RETURN(MergePart part, read_part(run));
      parts.push_back(std::move(part));
    }
    TRAINWARDEN_RETURN_IF_ERROR(check_distinct(parts));
    TRAINWARDEN_ASSIGN_OR_RETURN(const MergeKind kind, kind_of(plan, parts));
    return RunMerge(plan, std::move(parts), kind, clock).run();
  });
}

}  // namespace trainwarden::upkeep
