#include "work/catalogue/run_table.h"

#include <optional>
#include <span>
#include <utility>

#include "read/trial/run_listing.h"
#include "work/catalogue/folder_changes.h"
#include "work/catalogue/marked_table.h"

namespace trainwarden::catalogue {
namespace {

constexpr std::size_t kRunsInTransaction = 200;
constexpr const char* kJournalFolder = "journal";

void mix(std::uint64_t& hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
  hash ^= hash >> 32;
}

// Mixes what the folders in `folder` look like, down to `depth`, and returns how many there are; nothing when one of
// them has changed in the last seconds.
std::optional<std::size_t> mix_folders(const storage::Storage& storage, const std::string& folder, int depth,
                                       std::uint64_t& hash) {
  std::size_t count = 0;
  for (const storage::Entry& entry : storage.entries(folder).value_or({})) {
    if (entry.info.kind != storage::FileInfo::Kind::kFolder) continue;
    const std::int64_t mark = mark_of(entry.info);
    if (mark == 0) return std::nullopt;
    mix(hash, static_cast<std::uint64_t>(mark));
    const std::string path = folder.empty() ? entry.name : folder + "/" + entry.name;
    if (depth > 1 && !mix_folders(storage, path, depth - 1, hash)) return std::nullopt;
    ++count;
  }
  return count;
}

// What a run looks like whose folder looks like `own`; 0: it has changed in the last seconds. Each of its writers has a
// folder among its journals, and puts a lease there anew when it starts and when it ends. Runs of other recorders have
// none: of them all folders count.
std::int64_t mark_of_run(const storage::Location& run, const storage::FileInfo& own) {
  const std::int64_t whole = mark_of(own);
  if (whole == 0) return 0;
  std::uint64_t hash = 1;
  mix(hash, static_cast<std::uint64_t>(whole));  // not as it is: folders of one time would cancel each other's out
  auto folders = mix_folders(run.storage(), kJournalFolder, 1, hash);
  if (folders == std::size_t{0}) folders = mix_folders(run.storage(), "", 2, hash);
  if (!folders) return 0;
  return hash == 0 ? 1 : static_cast<std::int64_t>(hash);
}

Result<std::vector<MarkedName>> marked_runs(const storage::Location& runs) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto folders, trial::list_folders(runs));
  std::vector<MarkedName> marked;
  for (const storage::Entry& folder : folders) {
    const storage::Location run = runs.child(folder.name);
    storage::FileInfo own = folder.info;
    if (own.kind == storage::FileInfo::Kind::kLink) {  // of the user's own folder: it is followed
      const auto target = run.storage().info("");
      if (!target.ok()) continue;
      own = *target;
    }
    marked.push_back({folder.name, mark_of_run(run, own)});
  }
  return marked;
}

// One that is not a number is NULL beside the name of its tensor.
void bind_loss(Statement& put, int place, const std::optional<CataloguedLoss>& loss) {
  if (!loss) {
    put.bind_null(place).bind(place + 1, std::int64_t{0}).bind_null(place + 2);
    return;
  }
  put.bind(place, loss->tensor).bind(place + 1, loss->step).bind(place + 2, loss->value);
}

std::optional<CataloguedLoss> loss_at(const Statement& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  return CataloguedLoss{row.text(column), row.integer(column + 1), row.number_or_nan(column + 2)};
}

Status write_runs(Database& database, std::int64_t place, std::span<const CataloguedRun> runs) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(database));
  TRAINWARDEN_ASSIGN_OR_RETURN(
      Statement put, database.prepare("REPLACE INTO run(place, name, mark, created, state, status, recorder, labels, "
                                      "steps, last_step, loss_tensor, loss_step, loss, rules, fired, unreadable) "
                                      "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  for (const CataloguedRun& run : runs) {
    put.bind(1, place).bind(2, run.name).bind(3, run.mark).bind(4, run.created_unix_ns);
    put.bind(5, run.state).bind(6, run.status).bind(7, run.recorder).bind(8, run.labels);
    put.bind(9, run.steps).bind(10, run.last_step);
    bind_loss(put, 11, run.loss);
    put.bind(14, run.rules).bind(15, run.fired);
    run.unreadable.ok() ? put.bind_null(16) : put.bind(16, run.unreadable.message());
    TRAINWARDEN_RETURN_IF_ERROR(put.run());
  }
  return transaction.commit();
}

}  // namespace

Status update_runs(Database& database, std::int64_t place, const storage::Location& runs, const ReadListedRun& read) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<MarkedName> marked, marked_runs(runs));
  TRAINWARDEN_ASSIGN_OR_RETURN(KnownMarks known, known_marks(database, "run", place));
  FolderChanges changes = compare(marked, std::move(known));
  std::vector<CataloguedRun> seen;
  for (const MarkedName& changed : changes.changed) {
    const storage::Location location = runs.child(changed.name);
    if (!trial::is_run(location)) {
      changes.gone.push_back(changed.name);  // if it ever was a run
      continue;
    }
    CataloguedRun run = read(location);
    run.name = changed.name;
    run.mark = run.over ? changed.mark : 0;
    seen.push_back(std::move(run));
    if (seen.size() < kRunsInTransaction) continue;
    TRAINWARDEN_RETURN_IF_ERROR(write_runs(database, place, seen));
    seen.clear();
  }
  if (!seen.empty()) TRAINWARDEN_RETURN_IF_ERROR(write_runs(database, place, seen));
  return forget_measured(database, "run", place, changes.gone);
}

Result<std::vector<CataloguedRun>> read_runs(Database& database, std::int64_t place) {
  TRAINWARDEN_ASSIGN_OR_RETURN(
      Statement rows,
      database.prepare("SELECT name, unreadable, mark, created, state, status, recorder, labels, steps, "
                       "last_step, rules, fired, loss_tensor, loss_step, loss "
                       "FROM run WHERE place = ? ORDER BY name"));
  rows.bind(1, place);
  std::vector<CataloguedRun> all;
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) return all;
    CataloguedRun run;
    run.name = rows.text(0);
    if (!rows.is_null(1)) run.unreadable = Status(Code::kDataLoss, rows.text(1));
    run.mark = rows.integer(2);
    run.over = run.mark != 0;
    run.created_unix_ns = rows.integer(3);
    run.state = rows.text(4);
    run.status = rows.text(5);
    run.recorder = rows.text(6);
    run.labels = rows.text(7);
    run.steps = rows.integer(8);
    run.last_step = rows.integer(9);
    run.rules = rows.integer(10);
    run.fired = rows.integer(11);
    run.loss = loss_at(rows, 12);
    all.push_back(std::move(run));
  }
}

}  // namespace trainwarden::catalogue
