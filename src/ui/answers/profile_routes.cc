// Where the time of a run went.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"
#include "read/trial/trial_access.h"
#include "ui/answers/profile_json.h"
#include "ui/answers/replies.h"
#include "ui/answers/route.h"
#include "ui/views/profile/compare_profiles.h"
#include "ui/views/profile/operator_calls.h"
#include "ui/views/profile/profile_steps.h"
#include "ui/views/profile/read_profile.h"

namespace trainwarden::answers {
namespace {

using format::OrderedJson;

constexpr std::int64_t kFarUnixMs = std::int64_t{1} << 43;  // the year 2248
constexpr std::int64_t kNsInMs = 1'000'000;
constexpr std::int64_t kFarStep = std::int64_t{1} << 53;

// The other run, on its own, so that nobody waits for two at once.
Result<views::ProfileReport> report_of(const std::string& id, const Services& services) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto run, services.shelf.run(id));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, run->use());
  return views::read_profile(use);
}

Result<Reply> get_profile(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({"against"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(views::ProfileReport report, report_of(request.in_path("run"), services));
  if (request.query.has("against")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto other, report_of(request.query.text("against"), services));
    report.comparison = views::compare_profiles(report, other);
  }
  return json_reply(answers::json_of(report));
}

Result<Reply> get_timeline(const Request& request, const Services& services) {
  const views::Query& query = request.query;
  TRAINWARDEN_RETURN_IF_ERROR(query.only({"from_unix_ms", "to_unix_ms", "buckets"}));
  views::TimelineQuestion question;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t from, query.integer("from_unix_ms", 0, kFarUnixMs, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t to, query.integer("to_unix_ms", 0, kFarUnixMs, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t buckets,
                               query.integer("buckets", 1, views::kMostTimelineBuckets, 600));
  question.from_unix_ns = from * kNsInMs;
  question.to_unix_ns = to * kNsInMs;
  question.buckets = static_cast<std::size_t>(buckets);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, use_run(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const views::ProfileTimeline timeline, views::read_profile_timeline(use, question));
  return json_reply(answers::json_of(timeline));
}

Result<Reply> get_profile_steps(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, use_run(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const views::StepColumns columns, views::read_step_columns(use));
  ArraysReply reply;
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(columns.step.size())};
  reply.add("step", shape, std::span<const double>(columns.step));
  reply.add("worker", shape, std::span<const double>(columns.worker));
  reply.add("start_unix_ms", shape, std::span<const double>(columns.start_unix_ms));
  reply.add("ms", shape, std::span<const double>(columns.ms));
  reply.note_json("workers", columns.workers);
  return std::move(reply).to_reply();
}

Result<Reply> get_windows(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, use_run(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto windows, views::read_operator_windows(use));
  OrderedJson list = OrderedJson::array();
  for (const views::StepOfCalls& window : windows) {
    list.push_back({{"worker", window.worker},
                    {"step", window.step},
                    {"calls", window.calls},
                    {"lost_calls", window.lost_calls},
                    {"has_stacks", window.has_stacks}});
  }
  return json_reply(list);
}

template <class T>
std::string bytes_of_column(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
void add_column(ArraysReply& reply, const char* name, DType dtype, const std::vector<T>& values) {
  reply.add(name, dtype, {static_cast<std::int64_t>(values.size())}, bytes_of_column(values));
}

Result<Reply> get_calls(const Request& request, const Services& services) {
  const views::Query& query = request.query;
  TRAINWARDEN_RETURN_IF_ERROR(query.only({"step", "worker", "kinds"}));
  views::CallQuestion question;
  TRAINWARDEN_ASSIGN_OR_RETURN(question.step, query.required_integer("step", 0, kFarStep));
  question.worker = query.text("worker");
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto kinds, query.list("kinds", 16));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.kinds, views::operator_kinds(kinds));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, use_run(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const views::CallColumns columns, views::read_call_columns(use.trial(), question));
  ArraysReply reply;
  add_column(reply, "name", DType::kUInt32, columns.name);
  add_column(reply, "track", DType::kUInt16, columns.track);
  add_column(reply, "kind", DType::kUInt8, columns.kind);
  add_column(reply, "depth", DType::kUInt16, columns.depth);
  add_column(reply, "start_ns", DType::kFloat64, columns.start_ns);
  add_column(reply, "duration_ns", DType::kFloat64, columns.duration_ns);
  add_column(reply, "sequence", DType::kFloat64, columns.sequence);
  add_column(reply, "memory.time_ns", DType::kFloat64, columns.memory_time_ns);
  add_column(reply, "memory.bytes", DType::kFloat64, columns.memory_bytes);
  add_column(reply, "memory.total", DType::kFloat64, columns.memory_total);
  add_column(reply, "memory.device", DType::kInt32, columns.memory_device);
  reply.note_json("names", columns.names);
  reply.note_json("tracks", columns.tracks);
  reply.note_json("about", {{"worker", columns.worker},
                            {"step", question.step},
                            {"start_unix_ms", static_cast<double>(columns.start_unix_ns) / 1e6},
                            {"lost_calls", columns.lost_calls}});
  return std::move(reply).to_reply();
}

Result<Reply> get_flame(const Request& request, const Services& services) {
  const views::Query& query = request.query;
  TRAINWARDEN_RETURN_IF_ERROR(query.only({"of", "worker"}));
  const std::string of = query.text("of", "operators");
  if (of != "operators" && of != "stacks") {
    return Status(Code::kInvalidArgument,
                  fmt::format("of: expected \"operators\" or \"stacks\", found \"{}\"", printable(of)));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, use_run(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const views::FlameAnswer flame,
                               views::read_flame(use.trial(), of == "stacks", query.text("worker")));
  OrderedJson nodes = OrderedJson::array();
  for (const views::FlameRow& row : flame.nodes) {
    nodes.push_back(OrderedJson::array({row.parent, row.name, row.self_us, row.total_us, row.calls}));
  }
  return json_reply({{"names", flame.names}, {"nodes", std::move(nodes)}});
}

}  // namespace

std::vector<Route> profile_routes() {
  return {
      {Method::kGet, "/runs/{run}/profile", get_profile},
      {Method::kGet, "/runs/{run}/profile/timeline", get_timeline},
      {Method::kGet, "/runs/{run}/profile/steps", get_profile_steps},
      {Method::kGet, "/runs/{run}/profile/windows", get_windows},
      {Method::kGet, "/runs/{run}/profile/calls", get_calls},
      {Method::kGet, "/runs/{run}/profile/flame", get_flame},
  };
}

}  // namespace trainwarden::answers
