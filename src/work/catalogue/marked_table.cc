#include "work/catalogue/marked_table.h"

#include <fmt/format.h>

namespace trainwarden::catalogue {

Result<KnownMarks> known_marks(Database& database, const char* table, std::int64_t place) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement rows,
                               database.prepare(fmt::format("SELECT name, mark FROM {} WHERE place = ?", table)));
  rows.bind(1, place);
  KnownMarks known;
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) return known;
    known.emplace_hint(known.end(), rows.text(0), rows.integer(1));
  }
}

Status forget(Database& database, const char* table, std::int64_t place, const std::vector<std::string>& names) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement drop,
                               database.prepare(fmt::format("DELETE FROM {} WHERE place = ? AND name = ?", table)));
  for (const std::string& name : names) TRAINWARDEN_RETURN_IF_ERROR(drop.bind(1, place).bind(2, name).run());
  return Status();
}

Status forget_measured(Database& database, const char* table, std::int64_t place,
                       const std::vector<std::string>& names) {
  if (names.empty()) return Status();
  TRAINWARDEN_ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(database));
  for (const char* const each : {table, "measuring", "measured"}) {
    TRAINWARDEN_RETURN_IF_ERROR(forget(database, each, place, names));
  }
  return transaction.commit();
}

}  // namespace trainwarden::catalogue
