#include "read/upkeep/weight.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "read/trial/smdebug/smdebug_source.h"
#include "read/trial/trial_access.h"
#include "read/upkeep/many_tasks.h"
#include "read/upkeep/segment_scan.h"
#include "store/journal/journal_segment.h"

namespace trainwarden::upkeep {
namespace {

using format::FrameHeader;
using format::FrameKind;

constexpr std::uint64_t kMaxFiles = 4'000'000;
constexpr int kDeepestFolder = 32;

Status weigh_folder(const storage::Storage& storage, const std::string& path, int depth, FilesWeight& weight) {
  if (depth > kDeepestFolder || weight.files > kMaxFiles) {
    return Status(
        Code::kResourceExhausted,
        fmt::format("{} has more files or folders than a run has; it cannot be weighed", storage.describe(path)));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<storage::Entry> entries, storage.entries(path));
  for (const storage::Entry& entry : entries) {
    if (entry.info.kind == storage::FileInfo::Kind::kFolder) {
      const std::string inner = path.empty() ? entry.name : path + "/" + entry.name;
      const Status status = weigh_folder(storage, inner, depth + 1, weight);
      if (!status.ok() && status.code() != Code::kNotFound) return status;  // it went meanwhile
    } else if (entry.info.kind == storage::FileInfo::Kind::kFile) {
      weight.bytes += entry.info.bytes;
      ++weight.files;
    }
  }
  return {};
}

// Counts steps of one tensor: they come in the order of writing.
struct TensorTally {
  Weight weight;
  std::int64_t last_step = -1;
  std::vector<std::string> collections;

  void add(std::uint64_t bytes, std::int64_t step) {
    weight.bytes += bytes;
    ++weight.records;
    if (weight.records == 1 || step != last_step) ++weight.steps;
    last_step = step;
  }
};

using Tensors = std::map<std::string, TensorTally, std::less<>>;
using Kinds = std::map<std::string, Weight, std::less<>>;

// What is in one segment.
class SegmentWeigher {
 public:
  SegmentWeigher(SegmentScan& scan, Tensors& tensors, Kinds& kinds) : scan_(scan), tensors_(tensors), kinds_(kinds) {}

  Status weigh(Weight& journal) {
    journal.bytes += scan_.file_bytes();
    std::uint64_t in_frames = 0;
    for (const FrameHeader& header : scan_.frames()) {
      in_frames += header.frame_bytes();
      ++journal.records;
      if (header.kind == FrameKind::kStepEnd) ++journal.steps;
      add_kind(std::string(format::name(header.kind)), header.frame_bytes());
      const Status status = take(header);
      if (!status.ok() && !journal::is_damage(status)) return status;
    }
    // By its index a segment shows neither of these two.
    const bool by_index =
        scan_.index() && (scan_.frames().empty() || scan_.frames().back().kind != FrameKind::kTrailer);
    const std::uint64_t left = scan_.file_bytes() - std::min(in_frames, scan_.file_bytes());
    if (left > 0) add_kind(by_index ? "index" : "damaged", left);
    return {};
  }

 private:
  void add_kind(const std::string& name, std::uint64_t bytes) {
    Weight& kind = kinds_[name];
    kind.name = name;
    kind.bytes += bytes;
    ++kind.records;
  }

  TensorTally& tally(const std::string& name) {
    TensorTally& tally = tensors_[name];
    tally.weight.name = name;
    return tally;
  }

  void take_row(std::uint32_t id, std::uint64_t bytes, std::int64_t step) {
    const auto found = scan_.names().find(id);
    if (found == scan_.names().end()) return;
    TensorTally& tensor = tally(found->second.name);
    tensor.add(bytes, step);
    tensor.collections = found->second.collections;
  }

  Status take(const FrameHeader& header) {
    switch (header.kind) {
      case FrameKind::kBundle: return take_bundle(header);
      case FrameKind::kStatistics: return take_statistics(header);
      case FrameKind::kScalars: return take_scalars(header);
      case FrameKind::kReductions: return take_reductions(header);
      default: return {};
    }
  }

  Status take_bundle(const FrameHeader& header) {
    if (collections_by_name_.empty()) {
      for (const auto& [id, entry] : scan_.names()) collections_by_name_[entry.name] = &entry.collections;
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto entries, scan_.bundle_entries(header));
    for (const format::BundleEntry& entry : entries) {
      TensorTally& tensor = tally(entry.name);
      tensor.add(entry.end - entry.begin, header.step);
      const auto known = collections_by_name_.find(entry.name);
      if (known != collections_by_name_.end()) tensor.collections = *known->second;
    }
    return {};
  }

  // Of rows in columns nobody says what each takes.
  template <class Ids>
  Status take_rows(const FrameHeader& header, const Ids& ids) {
    for (const std::uint32_t id : ids) take_row(id, header.payload_bytes / ids.size(), header.step);
    return {};
  }

  Status take_statistics(const FrameHeader& header) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan payload, rows_of(header));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto table, format::StatisticsTable::open(payload));
    std::vector<std::uint32_t> ids;
    for (const format::StatisticsKey& key : table.keys()) ids.push_back(key.tensor);
    return take_rows(header, ids);
  }

  Status take_scalars(const FrameHeader& header) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan payload, rows_of(header));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto rows, format::decode_scalars(payload));
    std::vector<std::uint32_t> ids;
    for (const format::ScalarRow& row : rows) ids.push_back(row.id);
    return take_rows(header, ids);
  }

  Status take_reductions(const FrameHeader& header) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan payload, rows_of(header));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto rows, format::decode_reductions(payload));
    std::vector<std::uint32_t> ids;
    for (const std::size_t row : format::first_rows(rows)) ids.push_back(rows[row].id);
    return take_rows(header, ids);
  }

  Result<ByteSpan> rows_of(const FrameHeader& header) { return scan_.unchecked_payload(header); }

  SegmentScan& scan_;
  Tensors& tensors_;
  Kinds& kinds_;
  std::unordered_map<std::string_view, const std::vector<std::string>*> collections_by_name_;
};

template <class Map>
std::vector<Weight> heaviest_first(const Map& map) {
  std::vector<Weight> list;
  for (const auto& [name, weight] : map) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(weight)>, TensorTally>) {
      list.push_back(weight.weight);
    } else {
      list.push_back(weight);
    }
  }
  std::stable_sort(list.begin(), list.end(), [](const Weight& a, const Weight& b) { return a.bytes > b.bytes; });
  return list;
}

struct JournalTally {
  Weight weight;
  Tensors tensors;
  Kinds kinds;
};

Status weigh_journal(const storage::Storage& storage, const std::string& run_id, JournalTally& tally) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto numbers, journal::list_segments(storage, tally.weight.name));
  for (const std::uint64_t number : numbers) {
    const auto scan = SegmentScan::open(storage, {run_id, tally.weight.name, number}, ScanDepth::kIndexFirst);
    if (scan.status().code() == Code::kNotFound) continue;  // it is no file
    if (!scan.ok()) return scan.status();
    TRAINWARDEN_RETURN_IF_ERROR(SegmentWeigher(**scan, tally.tensors, tally.kinds).weigh(tally.weight));
  }
  return {};
}

// Several workers have the same tensors, and each step once each.
void merge(const JournalTally& tally, Tensors& tensors, Kinds& kinds) {
  for (const auto& [name, tensor] : tally.tensors) {
    TensorTally& sum = tensors[name];
    sum.weight.name = name;
    sum.weight.bytes += tensor.weight.bytes;
    sum.weight.records += tensor.weight.records;
    sum.weight.steps = std::max(sum.weight.steps, tensor.weight.steps);
    sum.collections = tensor.collections;
  }
  for (const auto& [name, kind] : tally.kinds) {
    Weight& sum = kinds[name];
    sum.name = name;
    sum.bytes += kind.bytes;
    sum.records += kind.records;
  }
}

void weigh_collections(const Tensors& tensors, RunWeight& run) {
  Kinds collections;
  for (const auto& [name, tensor] : tensors) {
    const std::set<std::string> members(tensor.collections.begin(), tensor.collections.end());
    for (const std::string& member : members) {
      Weight& sum = collections[member];
      sum.name = member;
      sum.bytes += tensor.weight.bytes;
      sum.records += tensor.weight.records;
      sum.steps = std::max(sum.steps, tensor.weight.steps);
    }
  }
  run.collections = heaviest_first(collections);
}

Status weigh_places(const storage::Storage& storage, RunWeight& run) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<storage::Entry> entries, storage.entries(""));
  for (const storage::Entry& entry : entries) {
    FilesWeight weight;
    if (entry.info.kind == storage::FileInfo::Kind::kFile) weight = {entry.info.bytes, 1};
    if (entry.info.kind == storage::FileInfo::Kind::kFolder) {
      TRAINWARDEN_ASSIGN_OR_RETURN(weight, weigh_files(storage, entry.name));
    }
    run.bytes += weight.bytes;
    run.files += weight.files;
    if (weight.files > 0) run.places.push_back({entry.name, weight.bytes, weight.files, 0});
  }
  std::stable_sort(run.places.begin(), run.places.end(),
                   [](const Weight& a, const Weight& b) { return a.bytes > b.bytes; });
  return {};
}

// Of another recorder's run the tensors are known by their shapes alone.
Status weigh_foreign(const storage::Location& location, RunWeight& run) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial, TrialAccess::open(location));
  run.recorder = trial->recorder();
  Tensors tensors;
  std::map<std::string, Weight, std::less<>> journals;
  for (trial::WorkerJournal* const worker : TrialAccess::journals(*trial)) {
    if (!worker->readable()) continue;
    journal::JournalReader& reader = worker->reader();
    JournalTally tally;
    tally.weight = {worker->name(), 0, 0, reader.steps().size()};
    for (std::size_t i = 0; i < reader.steps().size(); ++i) {
      const auto records = reader.records(i);
      if (!records.ok()) continue;  // damaged; doctor says where
      for (const journal::Record& record : *records) {
        std::uint64_t bytes = sizeof(double);
        if (record.form == journal::RecordForm::kValue) {
          const auto shape = reader.read_shape(record);
          if (!shape.ok()) continue;
          bytes = static_cast<std::uint64_t>(shape->second.element_count()) * item_bytes(shape->first);
        }
        const journal::JournalTensor& tensor = reader.tensors()[record.tensor];
        TensorTally& sum = tally.tensors[tensor.name];
        sum.add(bytes, reader.steps()[i].global_step);
        sum.collections = tensor.collections;
        tally.weight.bytes += bytes;
        ++tally.weight.records;
      }
    }
    Kinds ignored;
    merge(tally, tensors, ignored);
    journals[worker->name()] = tally.weight;
  }
  run.journals = heaviest_first(journals);
  run.tensors = heaviest_first(tensors);
  weigh_collections(tensors, run);
  return {};
}

Status weigh_ours(const storage::Storage& storage, int threads, RunWeight& run) {
  run.recorder = "trainwarden";
  TRAINWARDEN_ASSIGN_OR_RETURN(const journal::RunInfo info, journal::read_run(storage));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto writers, journal::list_journals(storage));
  std::vector<JournalTally> tallies(writers.size());
  for (std::size_t i = 0; i < writers.size(); ++i) tallies[i].weight.name = writers[i];
  TRAINWARDEN_RETURN_IF_ERROR(for_each_task(
      tallies.size(), threads, [&](std::size_t i) { return weigh_journal(storage, info.id, tallies[i]); }));
  Tensors tensors;
  Kinds kinds;
  std::map<std::string, Weight, std::less<>> journals;
  for (const JournalTally& tally : tallies) {
    merge(tally, tensors, kinds);
    journals[tally.weight.name] = tally.weight;
  }
  run.journals = heaviest_first(journals);
  run.kinds = heaviest_first(kinds);
  run.tensors = heaviest_first(tensors);
  weigh_collections(tensors, run);
  return {};
}

}  // namespace

Result<FilesWeight> weigh_files(const storage::Storage& storage, const std::string& path) {
  return no_throw([&]() -> Result<FilesWeight> {
    FilesWeight weight;
    TRAINWARDEN_RETURN_IF_ERROR(weigh_folder(storage, path, 0, weight));
    return weight;
  });
}

Result<RunWeight> weigh(const storage::Location& run, int threads) {
  return no_throw([&]() -> Result<RunWeight> {
    const storage::Storage& storage = run.storage();
    const bool is_foreign = !storage.exists(journal::kRunFile) && trial::holds_smdebug_run(storage);
    RunWeight weight;
    TRAINWARDEN_RETURN_IF_ERROR(is_foreign ? weigh_foreign(run, weight) : weigh_ours(storage, threads, weight));
    TRAINWARDEN_RETURN_IF_ERROR(weigh_places(storage, weight));
    return weight;
  });
}

}  // namespace trainwarden::upkeep
