#include "work/catalogue/schema.h"

#include <cstdint>

#include <fmt/format.h>

namespace trainwarden::catalogue {
namespace {

constexpr std::int64_t kApplicationId = 0x54774361;  // "TwCa"
constexpr std::int64_t kVersion = 3;                 // another one: thrown away and read anew

// `mark` says what a folder looked like when it was read; what has not changed is not read again. Times are nanoseconds
// since 1970. The common subset of SQLite and PostgreSQL, but for WITHOUT ROWID.
constexpr const char* kTables = R"(
CREATE TABLE place(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, address TEXT NOT NULL, UNIQUE(kind, address));
CREATE TABLE job(
  place INTEGER NOT NULL, name TEXT NOT NULL, mark INTEGER NOT NULL,
  submitted INTEGER NOT NULL, run TEXT NOT NULL, seq INTEGER NOT NULL, changed INTEGER NOT NULL,
  phase TEXT NOT NULL, cause TEXT NOT NULL, message TEXT NOT NULL,
  experiment TEXT NOT NULL, trial TEXT NOT NULL, parameters TEXT NOT NULL, ran INTEGER NOT NULL, unreadable TEXT,
  PRIMARY KEY(place, name)) WITHOUT ROWID;
CREATE TABLE run(
  place INTEGER NOT NULL, name TEXT NOT NULL, mark INTEGER NOT NULL,
  created INTEGER NOT NULL, state TEXT NOT NULL, status TEXT NOT NULL, recorder TEXT NOT NULL, labels TEXT NOT NULL,
  steps INTEGER NOT NULL, last_step INTEGER NOT NULL, loss_tensor TEXT, loss_step INTEGER NOT NULL, loss REAL,
  rules INTEGER NOT NULL, fired INTEGER NOT NULL, unreadable TEXT,
  PRIMARY KEY(place, name)) WITHOUT ROWID;
-- The metrics of jobs and of runs, by the place and name of those. `mark`: what they looked like when the metrics were
-- read; `took`: nanoseconds of that.
CREATE TABLE measuring(
  place INTEGER NOT NULL, name TEXT NOT NULL, mark INTEGER NOT NULL, at INTEGER NOT NULL, took INTEGER NOT NULL,
  PRIMARY KEY(place, name)) WITHOUT ROWID;
CREATE TABLE measured(
  place INTEGER NOT NULL, name TEXT NOT NULL, metric TEXT NOT NULL, count INTEGER NOT NULL, finite INTEGER NOT NULL,
  min REAL, max REAL, mean REAL, m2 REAL, last REAL, last_time INTEGER NOT NULL,
  PRIMARY KEY(place, name, metric)) WITHOUT ROWID;

CREATE TABLE experiment(
  place INTEGER NOT NULL, name TEXT NOT NULL, mark INTEGER NOT NULL, display TEXT NOT NULL, description TEXT NOT NULL,
  created INTEGER NOT NULL, PRIMARY KEY(place, name)) WITHOUT ROWID;
CREATE TABLE trial(
  place INTEGER NOT NULL, name TEXT NOT NULL, mark INTEGER NOT NULL, experiment TEXT NOT NULL, display TEXT NOT NULL,
  created INTEGER NOT NULL, PRIMARY KEY(place, name)) WITHOUT ROWID;
CREATE INDEX trial_of_experiment ON trial(place, experiment);
CREATE TABLE association(
  place INTEGER NOT NULL, name TEXT NOT NULL, mark INTEGER NOT NULL, source TEXT NOT NULL, destination TEXT NOT NULL,
  type TEXT NOT NULL, PRIMARY KEY(place, name)) WITHOUT ROWID;
CREATE INDEX association_source ON association(place, source);
CREATE INDEX association_destination ON association(place, destination);

CREATE TABLE component(
  id INTEGER PRIMARY KEY, place INTEGER NOT NULL, name TEXT NOT NULL, mark INTEGER NOT NULL,
  display TEXT NOT NULL, run_name TEXT NOT NULL, source TEXT NOT NULL, status TEXT NOT NULL, message TEXT NOT NULL,
  began INTEGER, ended INTEGER, created INTEGER NOT NULL, changed INTEGER NOT NULL, unread TEXT NOT NULL,
  UNIQUE(place, name));
CREATE TABLE component_trial(
  component INTEGER NOT NULL, trial TEXT NOT NULL, PRIMARY KEY(component, trial)) WITHOUT ROWID;
CREATE INDEX component_of_trial ON component_trial(trial);
CREATE TABLE parameter(
  component INTEGER NOT NULL, name TEXT NOT NULL, num REAL, str TEXT, PRIMARY KEY(component, name)) WITHOUT ROWID;
CREATE TABLE metric(
  component INTEGER NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL, finite INTEGER NOT NULL,
  min REAL, max REAL, mean REAL, m2 REAL, deviation REAL, last REAL, last_time INTEGER NOT NULL,
  PRIMARY KEY(component, name)) WITHOUT ROWID;
CREATE TABLE artifact(
  component INTEGER NOT NULL, is_output INTEGER NOT NULL, name TEXT NOT NULL, uri TEXT NOT NULL, media_type TEXT NOT NULL,
  type TEXT NOT NULL, hash TEXT NOT NULL, bytes INTEGER, note TEXT NOT NULL, node TEXT NOT NULL,
  PRIMARY KEY(component, is_output, name)) WITHOUT ROWID;
CREATE INDEX artifact_node ON artifact(node);
CREATE TABLE tag(
  component INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY(component, name)) WITHOUT ROWID;
)";

Status make_tables(Database& database) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(database));
  // Another process may have been faster.
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t version, database.read_integer("PRAGMA user_version"));
  if (version != 0) return Status();
  TRAINWARDEN_RETURN_IF_ERROR(database.execute(kTables));
  TRAINWARDEN_RETURN_IF_ERROR(database.execute(
      fmt::format("PRAGMA application_id={}; PRAGMA user_version={};", kApplicationId, kVersion).c_str()));
  return transaction.commit();
}

// Of one moment: another process may be making the tables.
struct Stamp {
  std::int64_t owner = 0;
  std::int64_t version = 0;
  std::int64_t tables = 0;
};

Result<Stamp> read_stamp(Database& database) {
  TRAINWARDEN_RETURN_IF_ERROR(database.execute("BEGIN"));
  Stamp stamp;
  TRAINWARDEN_ASSIGN_OR_RETURN(stamp.tables, database.read_integer("SELECT count(*) FROM sqlite_schema"));
  TRAINWARDEN_ASSIGN_OR_RETURN(stamp.owner, database.read_integer("PRAGMA application_id"));
  TRAINWARDEN_ASSIGN_OR_RETURN(stamp.version, database.read_integer("PRAGMA user_version"));
  TRAINWARDEN_RETURN_IF_ERROR(database.execute("COMMIT"));
  return stamp;
}

}  // namespace

Status prepare_schema(Database& database) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Stamp stamp, read_stamp(database));
  const auto [owner, version, tables] = stamp;
  if (owner == 0 && version == 0 && tables == 0) return make_tables(database);
  if (owner != kApplicationId) {
    return Status(Code::kFailedPrecondition,
                  "there is a catalogue.db of another program; name another folder with TRAINWARDEN_CATALOGUE");
  }
  if (version != kVersion) {
    return Status(Code::kAborted, fmt::format("it was of version {}, expected {}", version, kVersion));
  }
  return Status();
}

}  // namespace trainwarden::catalogue
