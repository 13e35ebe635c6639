// Database: SQLite, as the catalogue uses it. Nobody else includes sqlite3.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace trainwarden::catalogue {

// One statement, which may be run again and again with other values. One thread at a time; the database must outlive
// it.
class Statement {
 public:
  // Places of values count from 1, columns of a row from 0. A text is copied.
  Statement& bind(int place, std::int64_t value);
  Statement& bind(int place, double value);  // NaN is kept as NULL, as SQLite does
  Statement& bind(int place, std::string_view value);
  Statement& bind_null(int place);

  // True: there is a row, whose columns can be asked for. False: there is none (more), and values may be bound anew.
  // Codes as Database's.
  Result<bool> step();
  Status run();  // to its end; rows are dropped

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double number(int column) const;
  double number_or_nan(int column) const;  // NaN where it is NULL
  std::string text(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}

  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Many processes may have the same file open; of one object, one thread at a time. Codes: kDataLoss (the file is
// damaged, or no database), kUnavailable (another process has been writing for longer than kBusySeconds),
// kPermissionDenied, kResourceExhausted (disk full), kInternal.
class Database {
 public:
  static constexpr int kBusySeconds = 10;

  // Made when it is not there. No link is followed. With `shared_memory` false the journal is one that network file
  // systems can do (a rollback journal in place of a write-ahead log).
  static Result<Database> open(const std::filesystem::path& file, bool shared_memory);
  static Result<Database> open_in_memory();
  // For reading alone; kPermissionDenied when it is not there, too. No link is followed, no text or row may be larger
  // than `most_bytes`.
  static Result<Database> open_for_reading(const std::filesystem::path& file, std::size_t most_bytes);

  Status execute(const char* sql);  // any number of statements without values
  Result<Statement> prepare(std::string_view sql);
  Result<std::int64_t> read_integer(const char* sql);  // of the first column of the only row
  // Reads all of it. kDataLoss when something is wrong with it.
  Status check();

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit Database(sqlite3* database) : database_(database) {}
  static Result<Database> open_named(const std::string& name, int flags);

  std::unique_ptr<sqlite3, Close> database_;
};

// What is written until commit() is there whole afterwards, or, without it, not at all.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);  // waits for other writers; kUnavailable
  Transaction(Transaction&& other) noexcept : database_(other.database_) { other.database_ = nullptr; }
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace trainwarden::catalogue
