// import_run: walks another program's run and writes it down as a hook of ours would have.
#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "read/transfer/imported_journal.h"
#include "read/transfer/kineto_import.h"
#include "read/transfer/output_file.h"
#include "read/transfer/profiler_import.h"
#include "read/trial/trial_access.h"
#include "store/storage/local_storage.h"
#include "store/storage/location.h"
#include "store/storage/system_error.h"
#include "trainwarden/transfer.h"
#include "trainwarden/version.h"

namespace trainwarden {
namespace {

namespace fs = std::filesystem;

// A folder that becomes `path` when all is in it. Without commit() it is removed again.
class NewFolder {
 public:
  explicit NewFolder(const fs::path& path) : path_(path), temporary_(path.string() + ".importing") {}
  ~NewFolder() {
    std::error_code ignored;
    if (!committed_) fs::remove_all(temporary_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const fs::path& temporary() const { return temporary_; }

  Status create() {
    std::error_code error;
    if (fs::exists(path_, error) && !(fs::is_directory(path_, error) && fs::is_empty(path_, error))) {
      committed_ = true;  // nothing to remove
      return Status(Code::kAlreadyExists,
                    fmt::format("{} is there already; an import needs a new folder", printable(path_.string())));
    }
    fs::remove_all(temporary_, error);  // of an import that was killed
    fs::create_directories(temporary_, error);
    return error ? storage::system_error(error.value(), "create the folder", temporary_.string()) : Status();
  }

  Status commit() {
    std::error_code error;
    fs::rename(temporary_, path_, error);
    if (error) return storage::system_error(error.value(), "give its name to", path_.string());
    committed_ = true;
    return {};
  }

 private:
  const fs::path path_;
  const fs::path temporary_;
  bool committed_ = false;
};

// The number at the end of "worker_11"; none for other names.
std::optional<std::int64_t> worker_number(std::string_view name) {
  const std::size_t underscore = name.rfind('_');
  return underscore == std::string_view::npos ? std::nullopt : parse_int(name.substr(underscore + 1));
}

// By their numbers when all have one, else in the source's order.
std::vector<trial::WorkerJournal*> ordered_journals(Trial& source) {
  std::vector<trial::WorkerJournal*> journals = TrialAccess::journals(source);
  const auto has_number = [](const trial::WorkerJournal* journal) {
    return worker_number(journal->name()).has_value();
  };
  if (!std::all_of(journals.begin(), journals.end(), has_number)) return journals;
  std::stable_sort(journals.begin(), journals.end(),
                   [](const auto* a, const auto* b) { return *worker_number(a->name()) < *worker_number(b->name()); });
  return journals;
}

journal::RunInfo describe_run(Trial& source, const std::vector<trial::WorkerJournal*>& journals,
                              const std::string& origin) {
  journal::RunInfo info;
  info.id = journal::make_run_id();
  info.created_unix_ns = source.created_unix_ns();
  info.world_size = std::max(1, static_cast<int>(journals.size()));
  info.labels = source.labels();
  info.labels["recorder"] = source.recorder();
  info.labels["imported_from"] = origin;
  info.labels["imported_by"] = fmt::format("trainwarden {}", version());
  for (std::size_t rank = 0; rank < journals.size(); ++rank) {
    info.labels["worker." + journal::worker_name(static_cast<int>(rank))] = journals[rank]->name();
  }
  return info;
}

Result<std::vector<Collection>> collections_of(const Trial& source) {
  std::vector<Collection> collections;
  for (const std::string& name : source.collections()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(Collection collection, source.collection(name));
    collections.push_back(std::move(collection));
  }
  return collections;
}

Result<ImportReport> import_into(Trial& source, const fs::path& folder, const std::string& origin) {
  const std::vector<trial::WorkerJournal*> journals = ordered_journals(source);
  const auto storage = storage::open_local_storage(folder);
  const journal::RunInfo info = describe_run(source, journals, origin);
  TRAINWARDEN_RETURN_IF_ERROR(journal::create_or_join_run(*storage, info).status());
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<Collection> collections, collections_of(source));
  ImportReport report;
  report.run_id = info.id;
  report.source_ended = source.loaded_all_steps();
  std::vector<RunLoss> losses;
  const std::vector<std::int64_t> steps = source.steps(Mode::kGlobal, /*include_incomplete=*/true);
  for (std::size_t i = 0; i < journals.size(); ++i) {
    const int rank = static_cast<int>(i);
    report.workers[journals[i]->name()] = journal::worker_name(rank);
    if (!journals[i]->readable()) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(const transfer::ImportTally tally,
                                 transfer::import_journal(*journals[i], steps, {*storage, info, rank, collections}));
    report.steps += tally.steps;
    report.records += tally.records;
    if (tally.unreadable > 0) losses.push_back({journals[i]->name(), "unreadable", tally.unreadable, 0, false});
  }
  report.losses = source.losses();
  report.losses.insert(report.losses.end(), losses.begin(), losses.end());
  return report;
}

// What SageMaker's profiler wrote there, or null: a run, or nothing.
std::unique_ptr<transfer::ProfilerPlace> find_profiler_folder(const storage::Storage& storage) {
  if (storage.exists(journal::kRunFile)) return nullptr;
  for (const char* root : {"", "profiler-output"}) {
    if (transfer::holds_profiler_output(storage, root)) {
      return std::make_unique<transfer::ProfilerPlace>(transfer::ProfilerPlace{storage, root});
    }
  }
  return nullptr;
}

std::map<std::string, std::string> labels_of(const std::string& origin, std::string recorder) {
  return {{"recorder", std::move(recorder)},
          {"imported_from", origin},
          {"imported_by", fmt::format("trainwarden {}", version())}};
}

Result<ImportReport> import_profiler_into(const transfer::ProfilerPlace& place, const fs::path& folder,
                                          const std::string& origin) {
  const auto target = storage::open_local_storage(folder);
  return transfer::import_profiler(place, labels_of(origin, "smdebug's profiler"), *target);
}

// Tensors that smdebug saved; beside them a job may have a profiler's folder, which is a run of its own.
Result<ImportReport> import_tensors(const fs::path& from, const fs::path& folder, const std::string& origin) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto source, Trial::open(from));
  if (source->recorder() == "trainwarden") {
    return Status(
        Code::kInvalidArgument,
        fmt::format("{} is a run of ours already; copy the folder in place of importing it", printable(from.string())));
  }
  return import_into(*source, folder, origin);
}

Result<ImportReport> import_file(const fs::path& file, const fs::path& to, const std::string& origin) {
  NewFolder folder(to);
  TRAINWARDEN_RETURN_IF_ERROR(folder.create());
  std::error_code ignored;
  const auto storage = storage::open_local_storage(fs::absolute(file, ignored).parent_path());
  const std::string name = file.filename().string();
  const auto target = storage::open_local_storage(folder.temporary());
  auto report = transfer::is_horovod_timeline(*storage, name)
                    ? transfer::import_horovod_timeline(*storage, name, labels_of(origin, "Horovod"), *target)
                    : transfer::import_kineto_trace(file, folder.temporary(), origin);
  if (report.ok()) TRAINWARDEN_RETURN_IF_ERROR(folder.commit());
  return report;
}

}  // namespace

Result<ImportReport> import_run(const fs::path& from, const fs::path& to, const std::string& given_origin) {
  return no_throw([&]() -> Result<ImportReport> {
    std::error_code ignored;
    std::string origin = given_origin;
    if (origin.empty()) origin = storage::Location(from).absolute().address();
    if (fs::is_regular_file(from, ignored)) return import_file(from, to, origin);
    const storage::Location place(from);
    const auto profiler = find_profiler_folder(place.storage());
    NewFolder folder(to);
    TRAINWARDEN_RETURN_IF_ERROR(folder.create());
    TRAINWARDEN_ASSIGN_OR_RETURN(ImportReport report, profiler
                                                          ? import_profiler_into(*profiler, folder.temporary(), origin)
                                                          : import_tensors(from, folder.temporary(), origin));
    TRAINWARDEN_RETURN_IF_ERROR(folder.commit());
    return report;
  });
}

}  // namespace trainwarden
