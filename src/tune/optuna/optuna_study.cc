#include "tune/optuna/optuna_study.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "core/base/text.h"
#include "tune/optuna/optuna_database.h"
#include "tune/optuna/optuna_journal.h"

namespace trainwarden::tune {
namespace {

constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);

enum class StorageKind : std::uint8_t { kDatabase, kJournal };

Result<StorageKind> kind_of(const std::filesystem::path& file) {
  const std::string shown = printable(file.string());
  std::error_code error;
  const auto status = std::filesystem::symlink_status(file, error);
  if (!std::filesystem::exists(status)) return Status(Code::kNotFound, fmt::format("there is no file {}", shown));
  if (!std::filesystem::is_regular_file(status)) {
    return Status(Code::kInvalidArgument, fmt::format("{}: expected a file, found another thing or a link", shown));
  }
  if (std::filesystem::file_size(file, error) > kMaxOptunaBytes || error) {
    return Status(Code::kResourceExhausted, fmt::format("{}: expected at most {} bytes", shown, kMaxOptunaBytes));
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) return Status(Code::kPermissionDenied, fmt::format("{} cannot be read: {}", shown, std::strerror(errno)));
  std::string head(kSqliteMagic.size(), '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  if (head == kSqliteMagic) return StorageKind::kDatabase;
  if (head.starts_with("{\"op_code\"")) return StorageKind::kJournal;
  return Status(
      Code::kInvalidArgument,
      fmt::format("{}: expected a storage of Optuna, a database of SQLite or its journal, found neither", shown));
}

}  // namespace

Result<std::vector<std::string>> optuna_study_names(const std::filesystem::path& file) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const StorageKind kind, kind_of(file));
  return kind == StorageKind::kDatabase ? names_in_optuna_database(file) : names_in_optuna_journal(file);
}

Result<OptunaStudy> read_optuna_study(const std::filesystem::path& file, const std::string& name) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const StorageKind kind, kind_of(file));
  auto study = kind == StorageKind::kDatabase ? read_optuna_database(file, name) : read_optuna_journal(file, name);
  if (!study.ok()) return study;
  std::sort(study->trials.begin(), study->trials.end(),
            [](const OptunaTrial& a, const OptunaTrial& b) { return a.number < b.number; });
  TRAINWARDEN_RETURN_IF_ERROR(check_optuna_study(*study));
  return study;
}

Status check_optuna_study(const OptunaStudy& study) {
  const auto damaged = [](std::string text) { return Status(Code::kDataLoss, std::move(text)); };
  if (study.goals.empty() || study.goals.size() > kMaxOptunaObjectives) {
    return damaged(fmt::format("expected 1 to {} directions, found {}", kMaxOptunaObjectives, study.goals.size()));
  }
  if (!study.metric_names.empty() && study.metric_names.size() != study.goals.size()) {
    return damaged(
        fmt::format("expected {} names of metrics, found {}", study.goals.size(), study.metric_names.size()));
  }
  for (std::size_t i = 0; i < study.trials.size(); ++i) {
    if (study.trials[i].number == static_cast<std::int64_t>(i)) continue;
    return damaged(fmt::format("expected a trial {}, found none or two: trials have the numbers from 0", i));
  }
  return {};
}

}  // namespace trainwarden::tune
