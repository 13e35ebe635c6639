#include "work/catalogue/component_rows.h"

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace trainwarden::catalogue {
namespace {

using experiments::ArtifactUse;
using experiments::Component;
using experiments::MetricSummary;

void bind_values(Statement& statement, int& place, const std::vector<SearchValue>& values) {
  for (const SearchValue& value : values) {
    switch (value.kind) {
      case SearchValue::Kind::kInteger: statement.bind(place++, value.integer); break;
      case SearchValue::Kind::kNumber: statement.bind(place++, value.number); break;
      case SearchValue::Kind::kText: statement.bind(place++, value.text); break;
    }
  }
}

// The rows that are meant, in a table of this connection's own: what belongs to them is then read table by table.
Status choose_components(Database& database, std::int64_t place, const SearchExpression& expression,
                         const SortChoice& sort, std::size_t most) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const SearchCondition condition, condition_of(expression));
  TRAINWARDEN_ASSIGN_OR_RETURN(const SearchCondition key, sort_key_of(sort.property));
  TRAINWARDEN_RETURN_IF_ERROR(
      database.execute("CREATE TEMP TABLE IF NOT EXISTS chosen(position INTEGER PRIMARY KEY, id INTEGER NOT NULL); "
                       "DELETE FROM temp.chosen;"));
  TRAINWARDEN_ASSIGN_OR_RETURN(
      Statement choose, database.prepare(fmt::format(
                            "INSERT INTO temp.chosen(id) SELECT id FROM (SELECT c.id AS id, c.name AS name, {} AS key "
                            "FROM component c WHERE c.place = ? AND {}) ORDER BY key IS NULL, key {}, name LIMIT ?",
                            key.sql, condition.sql, sort.ascending ? "ASC" : "DESC")));
  int next = 1;
  bind_values(choose, next, key.values);
  choose.bind(next++, place);
  bind_values(choose, next, condition.values);
  choose.bind(next, static_cast<std::int64_t>(most));
  return choose.run();
}

// Reads rows that begin with the position of their component. `read` gets the component that each belongs to.
template <class Read>
Status read_parts(Database& database, std::vector<FoundComponent>& found, const char* columns, const char* tables,
                  const Read& read) {
  TRAINWARDEN_ASSIGN_OR_RETURN(
      Statement rows, database.prepare(fmt::format(
                          "SELECT f.position, {} FROM temp.chosen f JOIN {} ORDER BY f.position", columns, tables)));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t first,
                               database.read_integer("SELECT coalesce(min(position), 1) FROM temp.chosen"));
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) return Status();
    const auto index = static_cast<std::size_t>(rows.integer(0) - first);
    if (index < found.size()) read(rows, found[index]);
  }
}

std::optional<std::int64_t> integer_or_none(const Statement& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional<std::int64_t>(row.integer(column));
}

FoundComponent component_of(const Statement& row) {
  FoundComponent found;
  Component& component = found.component;
  component.name = row.text(1);
  component.now.display_name = row.text(2);
  component.now.run_name = row.text(3);
  component.now.source = row.text(4);
  component.now.status = row.text(5);
  component.now.message = row.text(6);
  component.now.start_unix_ns = integer_or_none(row, 7);
  component.now.end_unix_ns = integer_or_none(row, 8);
  component.created_unix_ns = row.integer(9);
  component.now.unix_ns = row.integer(10);
  if (const std::string unread = row.text(11); !unread.empty()) component.unread = {unread};
  return found;
}

Result<std::vector<FoundComponent>> read_components(Database& database) {
  TRAINWARDEN_ASSIGN_OR_RETURN(
      Statement rows,
      database.prepare(
          "SELECT f.position, c.name, c.display, c.run_name, c.source, c.status, c.message, c.began, c.ended, "
          "c.created, c.changed, c.unread FROM temp.chosen f JOIN component c ON c.id = f.id "
          "ORDER BY f.position"));
  std::vector<FoundComponent> found;
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) return found;
    found.push_back(component_of(rows));
  }
}

Status read_parameters(Database& database, std::vector<FoundComponent>& found) {
  return read_parts(database, found, "p.name, p.num, p.str", "parameter p ON p.component = f.id",
                    [](const Statement& row, FoundComponent& one) {
                      auto& parameter = one.component.now.parameters[row.text(1)];
                      if (row.is_null(3)) {
                        parameter = row.number_or_nan(2);
                      } else {
                        parameter = row.text(3);
                      }
                    });
}

Status read_metrics(Database& database, std::vector<FoundComponent>& found) {
  return read_parts(database, found, "m.name, m.count, m.finite, m.min, m.max, m.mean, m.m2, m.last, m.last_time",
                    "metric m ON m.component = f.id", [](const Statement& row, FoundComponent& one) {
                      MetricSummary& summary = one.component.now.metrics[row.text(1)];
                      summary.count = static_cast<std::uint64_t>(row.integer(2));
                      summary.finite = static_cast<std::uint64_t>(row.integer(3));
                      summary.min = row.number(4);
                      summary.max = row.number(5);
                      summary.mean = row.number(6);
                      summary.m2 = row.number(7);
                      summary.last = row.number_or_nan(8);
                      summary.last_unix_ns = row.integer(9);
                    });
}

Status read_artifacts(Database& database, std::vector<FoundComponent>& found) {
  return read_parts(database, found, "a.is_output, a.name, a.uri, a.media_type, a.type, a.hash, a.bytes, a.note",
                    "artifact a ON a.component = f.id", [](const Statement& row, FoundComponent& one) {
                      auto& artifacts = row.integer(1) != 0 ? one.component.now.outputs : one.component.now.inputs;
                      ArtifactUse& use = artifacts[row.text(2)];
                      use.uri = row.text(3);
                      use.media_type = row.text(4);
                      use.type = row.text(5);
                      use.hash = row.text(6);
                      if (!row.is_null(7)) use.bytes = static_cast<std::uint64_t>(row.integer(7));
                      use.note = row.text(8);
                    });
}

Status read_parents(Database& database, std::vector<FoundComponent>& found) {
  TRAINWARDEN_RETURN_IF_ERROR(
      read_parts(database, found, "ct.trial", "component_trial ct ON ct.component = f.id",
                 [](const Statement& row, FoundComponent& one) { one.component.now.trials.insert(row.text(1)); }));
  TRAINWARDEN_RETURN_IF_ERROR(
      read_parts(database, found, "t.name, t.value", "tag t ON t.component = f.id",
                 [](const Statement& row, FoundComponent& one) { one.component.now.tags[row.text(1)] = row.text(2); }));
  return read_parts(
      database, found, "e.experiment",
      "(SELECT DISTINCT ct.component AS component, t.experiment AS experiment FROM component_trial ct "
      "JOIN component c ON c.id = ct.component JOIN trial t ON t.name = ct.trial AND t.place = c.place) e "
      "ON e.component = f.id",
      [](const Statement& row, FoundComponent& one) { one.experiments.push_back(row.text(1)); });
}

}  // namespace

Result<std::vector<FoundComponent>> find_components(Database& database, std::int64_t place,
                                                    const SearchExpression& expression, const SortChoice& sort,
                                                    std::size_t most) {
  TRAINWARDEN_RETURN_IF_ERROR(choose_components(database, place, expression, sort, most));
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<FoundComponent> found, read_components(database));
  TRAINWARDEN_RETURN_IF_ERROR(read_parameters(database, found));
  TRAINWARDEN_RETURN_IF_ERROR(read_metrics(database, found));
  TRAINWARDEN_RETURN_IF_ERROR(read_artifacts(database, found));
  TRAINWARDEN_RETURN_IF_ERROR(read_parents(database, found));
  return found;
}

}  // namespace trainwarden::catalogue
