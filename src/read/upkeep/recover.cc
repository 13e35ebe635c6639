#include "read/upkeep/recover.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/crc32c.h"
#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "read/trial/smdebug/smdebug_source.h"
#include "read/upkeep/file_copy.h"
#include "read/upkeep/run_origin.h"
#include "store/journal/format_versions.h"
#include "store/journal/segment_file.h"
#include "store/storage/new_folder.h"
#include "store/storage/prefix_storage.h"
#include "trainwarden/version.h"

namespace trainwarden::upkeep {
namespace {

using format::FrameHeader;

// What run.json says; where that is damaged, what segments still say of the run that they belong to.
struct KnownRun {
  journal::RunInfo info;
  std::vector<RunOrigin> origins;
  bool is_guessed = false;
};

// The run's id by the first frame of a segment, when that is whole. It says whose it is, and its own checksum agrees.
Result<KnownRun> run_of_segment(const storage::Storage& storage, const std::string& path) {
  ReadBudget budget;
  journal::OpenFiles open_files;
  journal::SegmentFile file(storage, budget, open_files, path);
  TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan head, file.read({0, format::kFrameHeaderBytes}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const FrameHeader header, format::decode_frame_header(head));
  TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan payload, file.payload_of(header));
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::SegmentStart start, format::decode_segment_start(as_text(payload)));
  if (start.run.empty() || crc32c(as_bytes(start.run)) != header.run_salt) {
    return Status(Code::kDataLoss, fmt::format("{} does not say to which run it belongs", path));
  }
  KnownRun known;
  known.is_guessed = true;
  known.info.id = start.run;
  if (start.format_version > journal::kNewestVersion) {
    return Status(Code::kUnimplemented, fmt::format("{} has format version {} and this program reads up to {}; use a "
                                                    "newer trainwarden",
                                                    path, start.format_version, journal::kNewestVersion));
  }
  known.info.format_version = static_cast<int>(std::max<std::int64_t>(start.format_version, journal::kPlainVersion));
  known.info.host = start.host;
  known.info.created_unix_ns = header.unix_ns;
  return known;
}

Result<KnownRun> run_of_segments(const storage::Storage& storage, const Status& why) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto writers, journal::list_journals(storage));
  KnownRun known;
  int ranks = 0;
  for (const std::string& writer : writers) {
    const auto id = journal::writer_id_of(writer);
    if (writer.starts_with("rank-") && id) ranks = std::max(ranks, static_cast<int>(*id) + 1);
    if (!known.info.id.empty()) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto numbers, journal::list_segments(storage, writer));
    for (const std::uint64_t number : numbers) {
      auto found = run_of_segment(storage, journal::journal_folder(writer) + "/" + journal::segment_file(number));
      if (!found.ok()) continue;
      known = *std::move(found);
      break;
    }
  }
  if (known.info.id.empty()) return why;
  known.info.world_size = std::max(ranks, 1);
  return known;
}

Result<KnownRun> known_run(const storage::Storage& storage) {
  const Result<journal::RunInfo> info = journal::read_run(storage);
  if (info.ok()) {
    KnownRun known;
    known.info = *info;
    known.origins = read_origins(storage).value_or({});
    return known;
  }
  const bool may_guess = info.status().code() == Code::kDataLoss || info.status().code() == Code::kNotFound;
  return may_guess ? run_of_segments(storage, info.status()) : info.status();
}

class RunRecovery {
 public:
  RunRecovery(const RecoverPlan& plan, std::shared_ptr<storage::Storage> source,
              std::shared_ptr<storage::Storage> target, const Clock& clock)
      : plan_(plan), source_(std::move(source)), target_(std::move(target)), clock_(clock) {}

  // `prefix` is the folder of a black box, with a slash behind it.
  Status run(const std::string& prefix, RecoverReport& report) {
    TRAINWARDEN_ASSIGN_OR_RETURN(KnownRun known, known_run(*source_));
    report.from_id = known.info.id;
    report.info = known.info;
    report.info.id = journal::make_run_id();
    if (known.is_guessed) {
      add_lost(report, prefix,
               {journal::kRunFile, 0, "damaged", "command, labels and the number of workers as it was started", 1, 0});
    }
    TRAINWARDEN_RETURN_IF_ERROR(copy_journals(*source_, *target_, known.info, prefix, report));
    TRAINWARDEN_RETURN_IF_ERROR(copy_deliverers(known.info, prefix, report));
    for (const char* folder : {"checkpoints", "stalls", "reports"}) {
      TRAINWARDEN_RETURN_IF_ERROR(copy_folder(folder, prefix, report));
    }
    TRAINWARDEN_RETURN_IF_ERROR(copy_black_boxes(prefix, report));
    return put_run_file(known, prefix, report);
  }

 private:
  Status copy_journals(const storage::Storage& from, storage::Storage& to, const journal::RunInfo& info,
                       const std::string& prefix, RecoverReport& report) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto writers, journal::list_journals(from));
    for (const std::string& writer : writers) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const auto numbers, journal::list_segments(from, writer));
      JournalCopy copy(to, report.info, writer);
      copy.note_gaps(writer, numbers);
      RecoveredJournal journal{prefix + writer, {}};
      for (const std::uint64_t number : numbers) {
        const SegmentPlace place{info.id, writer, number};
        if (plan_.progress) plan_.progress(prefix + place.path());
        const auto scan = SegmentScan::open(from, place, ScanDepth::kWalk);
        if (scan.status().code() == Code::kNotFound) {
          add_lost(report, prefix, {place.path(), 0, "segment that is no file", "", 1, 0});
          continue;
        }
        if (!scan.ok()) return scan.status();
        TRAINWARDEN_RETURN_IF_ERROR(copy.add(**scan));
      }
      for (const CopyNote& note : copy.tally().lost) add_lost(report, prefix, note);
      for (const CopyNote& note : copy.tally().mended) report.mended.push_back(placed(prefix, note));
      journal.tally = copy.tally();
      report.journals.push_back(std::move(journal));
    }
    return {};
  }

  // Who delivers beside the process that keeps the ledger has one of its own.
  Status copy_deliverers(const journal::RunInfo& info, const std::string& prefix, RecoverReport& report) {
    const auto keys = source_->entries("deliverers");
    if (keys.status().code() == Code::kNotFound) return {};
    if (!keys.ok()) return keys.status();
    for (const storage::Entry& key : *keys) {
      if (key.info.kind != storage::FileInfo::Kind::kFolder) continue;
      const std::string folder = "deliverers/" + key.name;
      const auto from = storage::create_prefix_storage(source_, folder);
      const auto to = storage::create_prefix_storage(target_, folder);
      TRAINWARDEN_RETURN_IF_ERROR(copy_journals(*from, *to, info, prefix + folder + "/", report));
    }
    return {};
  }

  // A dump that is not whole has no run.json, and readers pass it over.
  Status copy_black_boxes(const std::string& prefix, RecoverReport& report) {
    if (!prefix.empty()) return {};
    const auto boxes = source_->entries("blackbox");
    if (boxes.status().code() == Code::kNotFound) return {};
    if (!boxes.ok()) return boxes.status();
    for (const storage::Entry& box : *boxes) {
      const std::string folder = "blackbox/" + box.name;
      if (box.info.kind != storage::FileInfo::Kind::kFolder) continue;
      if (!source_->exists(folder + "/" + journal::kRunFile)) {
        add_lost(report, "", {folder, 0, "black box that was not finished", "", 1, 0});
        continue;
      }
      const auto from = storage::create_prefix_storage(source_, folder);
      const auto to = storage::create_prefix_storage(target_, folder);
      TRAINWARDEN_RETURN_IF_ERROR(to->create_folder(""));
      RecoverReport inner;
      const Status status = RunRecovery(plan_, from, to, clock_).run(folder + "/", inner);
      if (status.code() == Code::kDataLoss) {
        add_lost(report, "", {folder, 0, "black box of which nothing can be read", "", 1, 0});
        continue;
      }
      TRAINWARDEN_RETURN_IF_ERROR(status);
      TRAINWARDEN_RETURN_IF_ERROR(copy_one_file(*from, "replay.json", *to, folder + "/", inner));
      std::move(inner.journals.begin(), inner.journals.end(), std::back_inserter(report.journals));
      std::move(inner.lost.begin(), inner.lost.end(), std::back_inserter(report.lost));
      std::move(inner.mended.begin(), inner.mended.end(), std::back_inserter(report.mended));
      report.files += inner.files;
    }
    return {};
  }

  Status copy_one_file(const storage::Storage& from, const std::string& path, storage::Storage& to,
                       const std::string& prefix, RecoverReport& report) {
    if (!from.exists(path)) return {};
    if (plan_.progress) plan_.progress(prefix + path);
    TRAINWARDEN_RETURN_IF_ERROR(copy_file(from, path, to));
    ++report.files;
    return {};
  }

  Status copy_folder(const std::string& folder, const std::string& prefix, RecoverReport& report) {
    const auto copied = copy_files(*source_, folder, *target_, plan_.progress);
    if (copied.status().code() == Code::kNotFound) return {};
    if (!copied.ok()) return copied.status().with_context(prefix + folder);
    report.files += *copied;
    return {};
  }

  static CopyNote placed(const std::string& prefix, CopyNote note) {
    note.path = prefix + note.path;
    return note;
  }
  static void add_lost(RecoverReport& report, const std::string& prefix, const CopyNote& note) {
    report.lost.push_back(placed(prefix, note));
  }

  // The last of all: what has none is no run.
  Status put_run_file(const KnownRun& known, const std::string& prefix, const RecoverReport& report) {
    std::map<std::string, OriginLoss> causes;
    for (const CopyNote& note : report.lost) {
      OriginLoss& loss = causes[note.cause];
      loss.cause = note.cause;
      loss.count += note.count;
      loss.bytes += note.bytes;
    }
    std::vector<RunOrigin> origins = known.origins;
    RunOrigin& origin = origins.emplace_back();
    origin.how = "recover";
    origin.run = known.info.id;
    origin.address =
        plan_.from.absolute().address() + (prefix.empty() ? "" : "/" + prefix.substr(0, prefix.size() - 1));
    origin.made_unix_ns = clock_.unix_ns();
    origin.made_by = fmt::format("trainwarden {}", version());
    for (auto& [cause, loss] : causes) origin.lost.push_back(std::move(loss));
    return target_->put_if_absent(journal::kRunFile, as_bytes(encode_run_info(report.info, origins)));
  }

  const RecoverPlan& plan_;
  const std::shared_ptr<storage::Storage> source_;
  const std::shared_ptr<storage::Storage> target_;
  const Clock& clock_;
};

}  // namespace

Status check_copy_source(const storage::Location& from, std::string_view verb) {
  const storage::Storage& storage = from.storage();
  if (!storage.exists(journal::kRunFile) && trial::holds_smdebug_run(storage)) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("{} was written by smdebug: `trainwarden import` makes a run of ours of what can be read",
                              printable(from.address())));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto writers, journal::list_journals(storage));
  for (const std::string& writer : writers) {
    if (!journal::has_living_writer(storage, writer)) continue;
    return Status(Code::kFailedPrecondition, fmt::format("{} is being written by {}; {} it once that has ended",
                                                         printable(from.address()), printable(writer), verb));
  }
  return {};
}

Result<RecoverReport> recover_run(const RecoverPlan& plan, const Clock& clock) {
  return no_throw([&]() -> Result<RecoverReport> {
    TRAINWARDEN_RETURN_IF_ERROR(check_copy_source(plan.from, "recover"));
    TRAINWARDEN_RETURN_IF_ERROR(known_run(plan.from.storage()).status());  // before anything is made
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto folder, storage::NewFolder::begin(plan.to));
    RecoverReport report;
    TRAINWARDEN_RETURN_IF_ERROR(
        RunRecovery(plan, plan.from.shared_storage(), folder->storage(), clock).run("", report));
    TRAINWARDEN_RETURN_IF_ERROR(folder->finish());
    return report;
  });
}

}  // namespace trainwarden::upkeep
