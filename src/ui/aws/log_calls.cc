// CloudWatch Logs: DescribeLogStreams and GetLogEvents. A job's output is one stream of the group of training jobs, and
// where it has several ranks what each of them prints is one of its own.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "store/storage/location.h"
#include "ui/aws/aws_calls.h"

namespace trainwarden::aws {
namespace {

using format::Json;
using format::OrderedJson;

constexpr const char* kGroup = "/aws/sagemaker/TrainingJobs";
constexpr std::string_view kStreamEnding = "/algo-1";      // "bert-7/algo-1"
constexpr std::string_view kRankEnding = "/algo-1-rank-";  // "bert-7/algo-1-rank-0"
constexpr const char* kForward = "f/";
constexpr const char* kBackward = "b/";
constexpr std::uint64_t kMostBytes = 1 << 20;  // of one answer, as AWS has it
constexpr std::int64_t kMostEvents = 10'000;
constexpr std::int64_t kMostStreams = 50;
constexpr std::int64_t kNsPerLogMs = 1'000'000;

Status check_group(const Json& request) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string group, text_or(request, "logGroupName", ""));
  if (group == kGroup) return Status();
  return Status(Code::kNotFound,
                fmt::format("there is no log group \"{}\"; expected {}", printable(group.substr(0, 200)), kGroup));
}

AwsAnswer not_found(const Status& status) {
  // The code that the Logs have for it.
  return status.code() == Code::kNotFound ? aws_error("ResourceNotFoundException", status.message())
                                          : aws_error(status);
}

// Streams of a job. Its ranks are asked for when it is named alone: to list many jobs does not take a question for
// each.
Result<std::vector<std::string>> streams_of(const std::string& job, const std::string& prefix,
                                            const AwsContext& context) {
  std::vector<std::string> streams = {job + std::string(kStreamEnding)};
  if (prefix != job && !prefix.starts_with(job + "/")) return streams;
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json found, context.ask({"job", "describe", "--", job}));
  const auto ranks = found.at("ranks").get<std::int64_t>();
  for (std::int64_t rank = 0; ranks > 1 && rank < ranks; ++rank) {
    streams.push_back(fmt::format("{}{}{}", job, kRankEnding, rank));
  }
  return streams;
}

Result<AwsAnswer> find_streams(const Json& request, const AwsContext& context) {
  TRAINWARDEN_RETURN_IF_ERROR(check_group(request));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string prefix, text_or(request, "logStreamNamePrefix", ""));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t limit, number_or(request, "limit", kMostStreams));
  const auto most = static_cast<std::size_t>(std::clamp<std::int64_t>(limit, 1, kMostStreams));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json listed, context.ask({"job", "ls"}));
  AwsAnswer answer;
  OrderedJson& streams = answer.body["logStreams"] = OrderedJson::array();
  for (const Json& row : listed.at("jobs")) {
    if (row.contains("unreadable") || streams.size() == most) continue;
    const double created = seconds_of(row.at("submitted").get<std::string>());
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto names, streams_of(row.at("name").get<std::string>(), prefix, context));
    for (const std::string& name : names) {
      if (!name.starts_with(prefix) || streams.size() == most) continue;
      streams.push_back({{"logStreamName", name}, {"creationTime", static_cast<std::int64_t>(created * 1000)}});
    }
  }
  return answer;
}

AwsAnswer list_streams(const Json& request, const AwsContext& context) {
  const auto answer = find_streams(request, context);
  return answer.ok() ? *answer : not_found(answer.status());
}

struct StreamName {
  std::string job;
  std::optional<std::int64_t> rank;  // nothing: all that the job prints
};

Result<StreamName> parse_stream(const std::string& stream) {
  const std::size_t end = stream.rfind('/');
  const std::string_view ending = std::string_view(stream).substr(std::min(end, stream.size()));
  if (ending == kStreamEnding) return StreamName{stream.substr(0, end), {}};
  if (ending.starts_with(kRankEnding)) {
    const auto rank = parse_int(ending.substr(kRankEnding.size()));
    if (rank && *rank >= 0) return StreamName{stream.substr(0, end), rank};
  }
  return Status(Code::kNotFound, "there is no such log stream: expected JOB/algo-1, or JOB/algo-1-rank-0");
}

struct LogPlace {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // behind the last whole line
  std::string text;
};

// Whole lines from `begin` on; of a line that is longer than an answer its beginning.
Result<LogPlace> read_lines(const storage::ReadableFile& file, std::uint64_t begin, std::int64_t most_events) {
  LogPlace place{begin, begin, std::string(kMostBytes, '\0')};
  const auto buffer = MutableByteSpan(reinterpret_cast<std::byte*>(place.text.data()), place.text.size());
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::size_t bytes, file.read_at(begin, buffer));
  place.text.resize(bytes);
  std::size_t end = 0;
  for (std::int64_t events = 0; events < most_events; ++events) {
    const std::size_t line = place.text.find('\n', end);
    if (line == std::string::npos) break;
    end = line + 1;
  }
  if (end == 0 && bytes == kMostBytes) end = bytes;
  place.text.resize(end);
  place.end = begin + end;
  return place;
}

Result<std::uint64_t> begin_of(const Json& request, const storage::ReadableFile& file) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t size, file.bytes());
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string token, text_or(request, "nextToken", ""));
  if (token.starts_with(kForward) || token.starts_with(kBackward)) {
    const auto offset = parse_int(token.substr(2));
    if (offset && *offset >= 0) return std::min(size, static_cast<std::uint64_t>(*offset));
  }
  if (!token.empty()) return Status(Code::kInvalidArgument, "nextToken: expected one of this server");
  TRAINWARDEN_ASSIGN_OR_RETURN(const bool from_head, flag_or(request, "startFromHead", false));
  return from_head || size <= kMostBytes ? 0 : size - kMostBytes;
}

OrderedJson events_json(std::string_view text, std::int64_t unix_ms) {
  OrderedJson events = OrderedJson::array();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    events.push_back({{"timestamp", unix_ms}, {"message", with_valid_utf8(text.substr(0, end))}});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return events;
}

Result<AwsAnswer> read_events(const Json& request, const AwsContext& context) {
  TRAINWARDEN_RETURN_IF_ERROR(check_group(request));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string name, text_or(request, "logStreamName", ""));
  TRAINWARDEN_ASSIGN_OR_RETURN(const StreamName stream, parse_stream(name));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t most, number_or(request, "limit", kMostEvents));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json found, context.ask({"job", "describe", "--", stream.job}));
  const auto ranks = stream.rank ? found.at("ranks").get<std::int64_t>() : 0;
  if (stream.rank && (ranks < 2 || *stream.rank >= ranks)) {
    return Status(Code::kNotFound, fmt::format("there is no such log stream: job {} has {}", stream.job,
                                               ranks < 2 ? "one rank" : fmt::format("ranks 0 to {}", ranks - 1)));
  }
  const std::filesystem::path output = found.at("output").get<std::string>();
  const storage::Location folder(output.parent_path());
  const std::string log = stream.rank ? fmt::format("ranks/{}.log", *stream.rank) : output.filename().string();
  AwsAnswer answer;
  answer.body["events"] = OrderedJson::array();
  const auto file = folder.storage().open(log);
  if (!file.ok()) return answer;  // it has printed nothing yet
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t begin, begin_of(request, **file));
  TRAINWARDEN_ASSIGN_OR_RETURN(const LogPlace place,
                               read_lines(**file, begin, std::clamp<std::int64_t>(most, 1, kMostEvents)));
  TRAINWARDEN_ASSIGN_OR_RETURN(const storage::FileInfo info, folder.storage().info(log));
  answer.body["events"] = events_json(place.text, info.changed_unix_ns / kNsPerLogMs);
  answer.body["nextForwardToken"] = kForward + std::to_string(place.end);
  answer.body["nextBackwardToken"] = kBackward + std::to_string(begin - std::min<std::uint64_t>(begin, kMostBytes));
  return answer;
}

AwsAnswer read_stream(const Json& request, const AwsContext& context) {
  const auto answer = read_events(request, context);
  return answer.ok() ? *answer : not_found(answer.status());
}

}  // namespace

std::vector<NamedCall> log_calls() {
  return {{"Logs_20140328.DescribeLogStreams", list_streams}, {"Logs_20140328.GetLogEvents", read_stream}};
}

}  // namespace trainwarden::aws
