#include "work/catalogue/metric_table.h"

#include <span>
#include <utility>

#include "work/catalogue/marked_table.h"

namespace trainwarden::catalogue {
namespace {

constexpr std::size_t kOwnersInTransaction = 500;
constexpr std::int64_t kPauseFactor = 20;  // of the time that reading took

// When the metrics of one were read.
struct Measuring {
  std::int64_t mark = 0;
  std::int64_t at_unix_ns = 0;
  std::int64_t took_ns = 0;
};

struct MeasuredOwner {
  const MetricOwner* owner = nullptr;
  Measuring measuring;
  MetricsByName metrics;
};

Result<std::map<std::string, Measuring>> known_measurings(Database& database, std::int64_t place) {
  TRAINWARDEN_ASSIGN_OR_RETURN(
      Statement rows, database.prepare("SELECT name, mark, at, took FROM measuring WHERE place = ? ORDER BY name"));
  rows.bind(1, place);
  std::map<std::string, Measuring> known;
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) return known;
    known.emplace_hint(known.end(), rows.text(0), Measuring{rows.integer(1), rows.integer(2), rows.integer(3)});
  }
}

bool is_due(const MetricOwner& owner, const std::map<std::string, Measuring>& known, std::int64_t now_unix_ns) {
  const auto before = known.find(owner.name);
  if (before == known.end() || before->second.mark != owner.mark) return true;
  if (owner.mark != 0) return false;
  const std::int64_t age_ns = now_unix_ns - before->second.at_unix_ns;
  return age_ns < 0 || age_ns / kPauseFactor >= before->second.took_ns;
}

MeasuredOwner measure(const MetricOwner& owner, const ReadMetrics& read, const Clock& clock) {
  const std::int64_t began_ns = clock.steady_ns();
  MeasuredOwner measured{&owner, {owner.mark, clock.unix_ns(), 0}, {}};
  // Why a run cannot be read is said where runs are listed.
  if (auto metrics = read(owner.run); metrics.ok()) measured.metrics = *std::move(metrics);
  measured.measuring.took_ns = clock.steady_ns() - began_ns;
  return measured;
}

Status put_metrics_of(Database& database, std::int64_t place, const std::string& name, const MetricsByName& metrics) {
  TRAINWARDEN_RETURN_IF_ERROR(forget(database, "measured", place, {name}));
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement put,
                               database.prepare("INSERT INTO measured VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  for (const auto& [metric, summary] : metrics) {
    put.bind(1, place).bind(2, name).bind(3, metric);
    put.bind(4, static_cast<std::int64_t>(summary.count)).bind(5, static_cast<std::int64_t>(summary.finite));
    int column = 6;
    for (const double number : {summary.min, summary.max, summary.mean, summary.m2}) {
      summary.finite == 0 ? put.bind_null(column) : put.bind(column, number);
      ++column;
    }
    TRAINWARDEN_RETURN_IF_ERROR(put.bind(10, summary.last).bind(11, summary.last_unix_ns).run());
  }
  return Status();
}

Status write_measured(Database& database, std::int64_t place, std::span<const MeasuredOwner> all) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(database));
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement put, database.prepare("REPLACE INTO measuring VALUES(?, ?, ?, ?, ?)"));
  for (const auto& [owner, measuring, metrics] : all) {
    put.bind(1, place).bind(2, owner->name).bind(3, measuring.mark);
    TRAINWARDEN_RETURN_IF_ERROR(put.bind(4, measuring.at_unix_ns).bind(5, measuring.took_ns).run());
    TRAINWARDEN_RETURN_IF_ERROR(put_metrics_of(database, place, owner->name, metrics));
  }
  return transaction.commit();
}

// How many are left unread.
Result<std::size_t> measure_due(Database& database, std::int64_t place, const std::vector<const MetricOwner*>& due,
                                const ReadMetrics& read, std::chrono::milliseconds patience, const Clock& clock) {
  const std::int64_t until_ns = clock.steady_ns() + std::chrono::nanoseconds(patience).count();
  std::vector<MeasuredOwner> measured;
  std::size_t done = 0;
  for (; done < due.size() && clock.steady_ns() < until_ns; ++done) {
    measured.push_back(measure(*due[done], read, clock));
    if (measured.size() < kOwnersInTransaction) continue;
    TRAINWARDEN_RETURN_IF_ERROR(write_measured(database, place, measured));
    measured.clear();
  }
  if (!measured.empty()) TRAINWARDEN_RETURN_IF_ERROR(write_measured(database, place, measured));
  return due.size() - done;
}

Result<std::map<std::string, MetricsByName>> read_measured(Database& database, std::int64_t place) {
  TRAINWARDEN_ASSIGN_OR_RETURN(
      Statement rows, database.prepare("SELECT name, metric, count, finite, min, max, mean, m2, last, last_time "
                                       "FROM measured WHERE place = ? ORDER BY name, metric"));
  rows.bind(1, place);
  std::map<std::string, MetricsByName> all;
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) return all;
    experiments::MetricSummary summary;
    summary.count = static_cast<std::uint64_t>(rows.integer(2));
    summary.finite = static_cast<std::uint64_t>(rows.integer(3));
    if (summary.finite != 0) {
      summary.min = rows.number_or_nan(4);
      summary.max = rows.number_or_nan(5);
      summary.mean = rows.number_or_nan(6);
      summary.m2 = rows.number_or_nan(7);
    }
    summary.last = rows.number_or_nan(8);
    summary.last_unix_ns = rows.integer(9);
    MetricsByName& metrics = all.try_emplace(all.end(), rows.text(0))->second;
    metrics.emplace_hint(metrics.end(), rows.text(1), summary);
  }
}

}  // namespace

Result<OwnedMetrics> current_metrics(Database& database, std::int64_t place, const std::vector<MetricOwner>& owners,
                                     const ReadMetrics& read, std::chrono::milliseconds patience, const Clock& clock) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto known, known_measurings(database, place));
  const std::int64_t now_unix_ns = clock.unix_ns();
  std::vector<const MetricOwner*> due;
  for (const MetricOwner& owner : owners) {
    if (is_due(owner, known, now_unix_ns)) due.push_back(&owner);
  }
  OwnedMetrics metrics;
  TRAINWARDEN_ASSIGN_OR_RETURN(metrics.unread, measure_due(database, place, due, read, patience, clock));
  TRAINWARDEN_ASSIGN_OR_RETURN(metrics.of, read_measured(database, place));
  return metrics;
}

}  // namespace trainwarden::catalogue
