#include "read/transfer/output_claim.h"
#include "store/storage/system_error.h"

#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/json.h"
#include "read/transfer/record_choice.h"
#include "store/storage/local_storage.h"

namespace trainwarden::transfer {
namespace {

namespace fs = std::filesystem;

Status taken(const fs::path& out, std::string_view what) {
  return Status(Code::kAlreadyExists, fmt::format("{} {}; take another place, or --force to write there all the same",
                                                  printable(out.string()), what));
}

// Anything but the lock of an export that came to nothing.
Result<bool> holds_something(const fs::path& out) {
  std::error_code error;
  const fs::file_status status = fs::status(out, error);
  if (!fs::exists(status)) return false;
  if (!fs::is_directory(status)) return true;
  fs::directory_iterator entry(out, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().filename() != kClaimLock) return true;
  }
  if (error) return storage::system_error(error.value(), "look into", out.string());
  return false;
}

std::string identity_of(const ExportOptions& options, const std::string& run_id) {
  format::OrderedJson identity = {
      {"run_id", run_id}, {"format", name(options.format)}, {"choice", describe(options.choice)}};
  if (!options.texts) identity["texts"] = false;
  return format::dump_json(identity);
}

struct FormerExport {
  std::string identity;
  std::int64_t last_step = -1;
  bool finished = false;
};

std::optional<FormerExport> former_export(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (!stream || !(text << stream.rdbuf())) return std::nullopt;
  const auto json = format::parse_json_object(text.str(), kClaimFile);
  if (!json.ok()) return std::nullopt;
  const auto identity = format::string_field(*json, "identity");
  const auto last_step = format::int_field(*json, "last_step");
  const auto finished = format::bool_field(*json, "finished");
  if (!identity.ok() || !last_step.ok() || !finished.ok()) return std::nullopt;
  return FormerExport{*identity, *last_step, *finished};
}

}  // namespace

bool writes_one_file(ExportFormat format) {
  switch (format) {
    case ExportFormat::kCsv:
    case ExportFormat::kJson:
    case ExportFormat::kMcap:
    case ExportFormat::kParquet: return true;
    case ExportFormat::kSmdebug:
    case ExportFormat::kTensorBoard:
    case ExportFormat::kSafetensors:
    case ExportFormat::kNpz: break;
  }
  return false;
}

Result<OutputClaim> OutputClaim::take(const ExportOptions& options, const std::string& run_id) {
  if (options.out.empty()) return Status(Code::kInvalidArgument, "an export needs a place to write to");
  const bool one_file = writes_one_file(options.format);
  OutputClaim claim(one_file ? fs::path() : options.out / kClaimFile, identity_of(options, run_id));
  TRAINWARDEN_ASSIGN_OR_RETURN(const bool occupied, holds_something(options.out));
  if (occupied) TRAINWARDEN_RETURN_IF_ERROR(claim.go_on(options));
  if (!one_file) TRAINWARDEN_RETURN_IF_ERROR(claim.lock(options.out));
  return claim;
}

Status OutputClaim::go_on(const ExportOptions& options) {
  const bool is_folder = fs::is_directory(options.out);
  const bool wants_folder = !file_.empty();
  if (is_folder != wants_folder) {
    return Status(Code::kAlreadyExists, fmt::format("{} is a {}, and {} is written into a {}; take another place",
                                                    printable(options.out.string()), is_folder ? "folder" : "file",
                                                    name(options.format), wants_folder ? "folder" : "file"));
  }
  const auto former = is_folder ? former_export(file_) : std::nullopt;
  if (former && !former->finished && former->identity == identity_) {
    last_step_ = former->last_step;
    return {};
  }
  if (options.force) return {};
  if (!is_folder) return taken(options.out, "is there already");
  if (!former) return taken(options.out, "is not empty");
  return taken(options.out,
               former->finished ? "holds a finished export" : "holds an unfinished export of another kind");
}

Status OutputClaim::lock(const fs::path& folder) {
  const auto storage = storage::open_local_storage(folder);
  TRAINWARDEN_RETURN_IF_ERROR(storage->create_folder(""));
  TRAINWARDEN_ASSIGN_OR_RETURN(lock_, storage->lock(kClaimLock));
  return {};
}

Status OutputClaim::mark(std::int64_t last_step, bool finished) {
  last_step_ = last_step;
  if (file_.empty()) return {};
  OutputTally not_counted;
  return write_file(
      file_, format::dump_json({{"identity", identity_}, {"last_step", last_step}, {"finished", finished}}) + '\n',
      not_counted);
}

}  // namespace trainwarden::transfer
