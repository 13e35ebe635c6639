// Numbers over steps.
#include <chrono>

#include <fmt/format.h>

#include "core/base/text.h"
#include "read/trial/trial_access.h"
#include "ui/answers/replies.h"
#include "ui/answers/route.h"
#include "ui/views/metric_frame.h"
#include "ui/views/metric_series.h"
#include "ui/views/run_steps.h"
#include "ui/views/series.h"

namespace trainwarden::answers {
namespace {

using format::OrderedJson;

constexpr std::size_t kMostSeriesTensors = 64;
constexpr std::int64_t kMostBuckets = 4096;
// So long one answer reads what it does not know yet; what is left then comes with the next.
constexpr std::chrono::milliseconds kSeriesPatience(1000);

Result<views::SeriesQuestion> question_of(const views::Query& query) {
  views::SeriesQuestion question;
  if (query.has("of")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(question.number, trial::parse_series_number(query.text("of")));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(question.mode, query.mode());
  if (question.mode == Mode::kGlobal) question.mode.reset();
  question.worker = query.text("worker");
  constexpr std::int64_t kFar = std::int64_t{1} << 53;
  TRAINWARDEN_ASSIGN_OR_RETURN(question.from, query.integer("from", -kFar, kFar, question.from));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.to, query.integer("to", -kFar, kFar, question.to));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t buckets, query.integer("buckets", 1, kMostBuckets, 1000));
  question.buckets = static_cast<std::size_t>(buckets);
  return question;
}

// The arrays of one series: columns of the same length.
class Columns {
 public:
  Columns(ArraysReply& reply, std::string prefix) : reply_(reply), prefix_(std::move(prefix)) {}

  template <class Items, class Pick>
  void add(const char* name, const Items& items, const Pick& pick) {
    std::vector<double> column;
    column.reserve(items.size());
    for (const auto& item : items) column.push_back(static_cast<double>(pick(item)));
    reply_.add(prefix_ + name, {static_cast<std::int64_t>(column.size())}, std::span<const double>(column));
  }

 private:
  ArraysReply& reply_;
  const std::string prefix_;
};

double seconds(std::int64_t unix_ns) {
  return static_cast<double>(unix_ns) / 1e9;
}

void add_points(Columns& columns, const std::vector<views::SeriesPointOut>& points) {
  columns.add("step", points, [](const auto& p) { return p.step; });
  columns.add("time", points, [](const auto& p) { return seconds(p.unix_ns); });
  columns.add("value", points, [](const auto& p) { return p.value; });
}

void add_buckets(Columns& columns, const std::vector<views::SeriesBucket>& buckets) {
  columns.add("step", buckets, [](const auto& b) { return b.first_step; });
  columns.add("last_step", buckets, [](const auto& b) { return b.last_step; });
  columns.add("time", buckets, [](const auto& b) { return seconds(b.first_unix_ns); });
  columns.add("last_time", buckets, [](const auto& b) { return seconds(b.last_unix_ns); });
  columns.add("min", buckets, [](const auto& b) { return b.summary.min; });
  columns.add("max", buckets, [](const auto& b) { return b.summary.max; });
  columns.add("first", buckets, [](const auto& b) { return b.summary.first; });
  columns.add("last", buckets, [](const auto& b) { return b.summary.last; });
  columns.add("count", buckets, [](const auto& b) { return b.summary.count; });
  columns.add("nan", buckets, [](const auto& b) { return b.summary.nan; });
  columns.add("positive_inf", buckets, [](const auto& b) { return b.summary.positive_inf; });
  columns.add("negative_inf", buckets, [](const auto& b) { return b.summary.negative_inf; });
}

OrderedJson json_of(const views::Series& series) {
  const views::SeriesSummary& all = series.all;
  return {{"of", name(series.number)},
          {"worker", series.worker},
          {"mode", series.mode ? OrderedJson(name(*series.mode)) : OrderedJson()},
          {"form", series.buckets.empty() ? "points" : "buckets"},
          {"count", all.count},
          {"first_step", series.first_step},
          {"last_step", series.last_step},
          {"min", json_number(all.min)},
          {"max", json_number(all.max)},
          {"last", json_number(all.last)},
          {"newest", json_number(series.newest)},
          {"nan", all.nan},
          {"positive_inf", all.positive_inf},
          {"negative_inf", all.negative_inf},
          {"left", series.left},
          {"unreadable", series.unreadable},
          {"counted", series.counted}};
}

// Null where nobody has read the output.
OrderedJson output_json(const Trial& trial) {
  const auto report = TrialAccess::output_report(trial);
  return report ? format::json_of(*report) : OrderedJson();
}

struct AskedSeries {
  views::SeriesQuestion question;
  bool by_mode = false;
  // How the modes count the steps, too: who draws a run that is written asks once for each step.
  bool with_modes = false;
};

Result<bool> has_choice(const views::Query& query, std::string_view key, std::string_view choice) {
  const std::string text = query.text(key);
  if (text.empty() || text == choice) return text == choice;
  return Status(Code::kInvalidArgument,
                fmt::format("{}: expected {} or nothing, found \"{}\"", key, choice, printable(text)));
}

Result<AskedSeries> asked_series(const views::Query& query) {
  AskedSeries asked;
  TRAINWARDEN_ASSIGN_OR_RETURN(asked.question, question_of(query));
  TRAINWARDEN_ASSIGN_OR_RETURN(asked.by_mode, has_choice(query, "by", "mode"));
  TRAINWARDEN_ASSIGN_OR_RETURN(asked.with_modes, has_choice(query, "with", "modes"));
  if (asked.by_mode && asked.question.mode) {
    return Status(Code::kInvalidArgument, "by=mode gives a series for each mode; leave out mode");
  }
  return asked;
}

// Of a tensor, or of a metric that was found in the output.
Result<std::vector<views::Series>> series_of(const views::OpenRun::Use& use, const std::string& id, AskedSeries& asked,
                                             std::chrono::nanoseconds patience) {
  const auto tensor = use.tensor_name(id);
  if (tensor.status().code() == Code::kNotFound) {
    TRAINWARDEN_ASSIGN_OR_RETURN(views::Series metric, views::read_metric_series(use, id, asked.question));
    return std::vector{std::move(metric)};
  }
  if (!tensor.ok()) return tensor.status();
  asked.question.tensor = *tensor;
  if (asked.by_mode) return views::read_series_by_mode(use, asked.question, patience);
  TRAINWARDEN_ASSIGN_OR_RETURN(views::Series series, views::read_series(use, asked.question, patience));
  return std::vector{std::move(series)};
}

void add_series(const views::Series& series, const std::string& id, ArraysReply& reply, OrderedJson& list) {
  Columns columns(reply, std::to_string(list.size()) + ".");
  if (series.buckets.empty()) {
    add_points(columns, series.points);
  } else {
    add_buckets(columns, series.buckets);
  }
  OrderedJson json = {{"id", id}, {"name", series.name}};
  json.update(json_of(series));
  list.push_back(std::move(json));
}

// One after the other, so that the last may find its patience spent: it then says how much is left.
Result<Reply> series_of_run(const Request& request, const Services& services) {
  const views::Query& query = request.query;
  TRAINWARDEN_RETURN_IF_ERROR(query.only({"tensors", "of", "mode", "by", "worker", "from", "to", "buckets", "with"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto ids, query.list("tensors", kMostSeriesTensors));
  TRAINWARDEN_ASSIGN_OR_RETURN(AskedSeries asked, asked_series(query));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, use_run(request, services));
  ArraysReply reply;
  OrderedJson list = OrderedJson::array();
  const auto patience = kSeriesPatience / static_cast<std::int64_t>(std::max<std::size_t>(1, ids.size()));
  for (const std::string& id : ids) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto found, series_of(use, id, asked, patience));
    for (const views::Series& series : found) add_series(series, id, reply, list);
  }
  reply.note_json("series", list);
  reply.note_json("output", output_json(use.trial()));
  if (asked.with_modes) {
    reply.note_json("modes", modes_json(use.memory<views::RunStepsMemory>().read(use.trial())));
  }
  return std::move(reply).to_reply();
}

// What can be drawn as series, for who chooses: the tensors with their collections, then metrics of the output.
OrderedJson choices_of(Trial& trial) {
  OrderedJson list = OrderedJson::array();
  trial::TensorCatalog& catalog = TrialAccess::catalog(trial);
  for (auto& [name, tensor] : catalog.tensors()) {
    list.push_back(
        {{"id", views::tensor_id_of(name)}, {"name", name}, {"collections", catalog.collections_of(tensor)}});
  }
  for (const views::MetricChoice& metric : views::metric_choices(trial)) {
    list.push_back({{"id", metric.id}, {"name", metric.name}, {"collections", {"metrics"}}});
  }
  return list;
}

Result<Reply> series_choices(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, use_run(request, services));
  return json_reply({{"tensors", choices_of(use.trial())}});
}

// Rows in the shape of SageMaker's TrainingJobAnalytics, and what of the output could not be read.
Result<Reply> metrics_of_run(const Request& request, const Services& services) {
  const views::Query& query = request.query;
  TRAINWARDEN_RETURN_IF_ERROR(query.only({"period", "relative"}));
  views::MetricFrameQuestion question;
  TRAINWARDEN_ASSIGN_OR_RETURN(question.period_seconds, query.number("period", question.period_seconds));
  if (!(question.period_seconds >= 0 && question.period_seconds <= views::kMostPeriodSeconds)) {
    return Status(Code::kInvalidArgument, fmt::format("period: expected 0 to {} seconds, found {}",
                                                      views::kMostPeriodSeconds, question.period_seconds));
  }
  const std::string relative = query.text("relative", "metric");
  const auto start = views::parse_frame_start(relative);
  if (!start) {
    return Status(Code::kInvalidArgument,
                  fmt::format("relative: expected metric, job or none, found \"{}\"", printable(relative)));
  }
  question.start = *start;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, use_run(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto rows, views::read_metric_frame(use.trial(), question));
  return json_reply({{"rows", views::frame_json(rows, true)}, {"output", output_json(use.trial())}});
}

}  // namespace

std::vector<Route> series_routes() {
  return {
      {Method::kGet, "/runs/{run}/series", series_of_run},
      {Method::kGet, "/runs/{run}/series/choices", series_choices},
      {Method::kGet, "/runs/{run}/metrics", metrics_of_run},
  };
}

}  // namespace trainwarden::answers
