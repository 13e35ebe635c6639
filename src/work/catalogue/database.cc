#include "work/catalogue/database.h"

#include <sqlite3.h>

#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::catalogue {
namespace {

constexpr int kWritten = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;

Code code_of(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Code::kDataLoss;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return Code::kUnavailable;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY: return Code::kPermissionDenied;
    case SQLITE_TOOBIG:
    case SQLITE_FULL: return Code::kResourceExhausted;
    default: return Code::kInternal;
  }
}

Status error_of(sqlite3* database) {
  const Code code = code_of(sqlite3_extended_errcode(database));
  const char* const file = sqlite3_db_filename(database, "main");
  const std::string what = fmt::format("{}: {}", file == nullptr || *file == '\0' ? "the catalogue in memory" : file,
                                       printable(sqlite3_errmsg(database)));
  if (code != Code::kUnavailable) return Status(code, what);
  return Status(code, what + "; another process has been writing it for long");
}

// Processes that open a new file at once all want to choose its journal; SQLite refuses some of them without waiting,
// as they would wait for one another.
Status choose_journal(Database& database, const char* sql) {
  constexpr auto kPause = std::chrono::milliseconds(10);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(Database::kBusySeconds);
  for (;;) {
    Status status = database.execute(sql);
    if (status.code() != Code::kUnavailable || std::chrono::steady_clock::now() >= until) return status;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

// What cannot be bound (no such place, no memory) shows in step(): the value is missing and the constraint fails.
Statement& Statement::bind(int place, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), place, value);
  return *this;
}

Statement& Statement::bind(int place, double value) {
  sqlite3_bind_double(statement_.get(), place, value);
  return *this;
}

Statement& Statement::bind(int place, std::string_view value) {
  sqlite3_bind_text64(statement_.get(), place, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_null(int place) {
  sqlite3_bind_null(statement_.get(), place);
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  Status status = code == SQLITE_DONE ? Status() : error_of(database_);
  sqlite3_reset(statement_.get());
  if (!status.ok()) return status;
  return false;
}

Status Statement::run() {
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool more, step());
    if (!more) return Status();
  }
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::number(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

double Statement::number_or_nan(int column) const {
  return is_null(column) ? std::numeric_limits<double>::quiet_NaN() : number(column);
}

std::string Statement::text(int column) const {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  return text == nullptr ? std::string()
                         : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)));
}

void Database::Close::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

Result<Database> Database::open_named(const std::string& name, int flags) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  Database database(handle);
  if (handle == nullptr) return Status(Code::kResourceExhausted, "no memory for the catalogue");
  if (code != SQLITE_OK) {
    return Status(code_of(code), fmt::format("cannot open {}: {}", printable(name), printable(sqlite3_errmsg(handle))));
  }
  sqlite3_busy_timeout(handle, kBusySeconds * 1000);
  // The file may be anybody's: what its schema says is not obeyed.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return database;
}

Result<Database> Database::open(const std::filesystem::path& file, bool shared_memory) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Database database, open_named(file.string(), kWritten | SQLITE_OPEN_NOFOLLOW));
  if (sqlite3_db_readonly(database.database_.get(), "main") == 1) {  // somebody else's
    return Status(Code::kPermissionDenied, fmt::format("{} cannot be written", printable(file.string())));
  }
  // After a power loss the last changes may be gone: they are read from the folders again.
  TRAINWARDEN_RETURN_IF_ERROR(choose_journal(database, shared_memory
                                                           ? "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                                                           : "PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL;"));
  return database;
}

Result<Database> Database::open_in_memory() {
  return open_named(":memory:", kWritten);
}

Result<Database> Database::open_for_reading(const std::filesystem::path& file, std::size_t most_bytes) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Database database,
                               open_named(file.string(), SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW));
  sqlite3_limit(database.database_.get(), SQLITE_LIMIT_LENGTH, static_cast<int>(most_bytes));
  return database;
}

Status Database::execute(const char* sql) {
  return sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK ? Status()
                                                                                    : error_of(database_.get());
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK) {
    return error_of(database_.get());
  }
  return Statement(database_.get(), statement);
}

Result<std::int64_t> Database::read_integer(const char* sql) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement statement, prepare(sql));
  TRAINWARDEN_ASSIGN_OR_RETURN(const bool found, statement.step());
  if (!found) return Status(Code::kNotFound, fmt::format("{}: no row", sql));
  return statement.integer(0);
}

Status Database::check() {
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement statement, prepare("PRAGMA quick_check(1)"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const bool found, statement.step());
  const std::string answer = found ? statement.text(0) : "no answer";
  return answer == "ok" ? Status() : Status(Code::kDataLoss, "the catalogue is damaged: " + printable(answer));
}

Result<Transaction> Transaction::begin(Database& database) {
  TRAINWARDEN_RETURN_IF_ERROR(database.execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  // An error that has rolled it back already leaves nothing to be done.
  if (database_ != nullptr) (void)database_->execute("ROLLBACK");
}

Status Transaction::commit() {
  TRAINWARDEN_RETURN_IF_ERROR(database_->execute("COMMIT"));
  database_ = nullptr;
  return Status();
}

}  // namespace trainwarden::catalogue
