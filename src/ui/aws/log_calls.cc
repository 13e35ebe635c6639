// CloudWatch Logs: DescribeLogStreams and GetLogEvents. A job's output is one stream of the group of training jobs.
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
constexpr const char* kStreamEnding = "/algo-1";  // "bert-7/algo-1"
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

AwsAnswer list_streams(const Json& request, const AwsContext& context) {
  if (const Status group = check_group(request); !group.ok()) return not_found(group);
  const auto prefix = text_or(request, "logStreamNamePrefix", "");
  if (!prefix.ok()) return aws_error(prefix.status());
  const auto most = number_or(request, "limit", kMostStreams);
  if (!most.ok()) return aws_error(most.status());
  const auto listed = context.ask({"job", "ls"});
  if (!listed.ok()) return aws_error(listed.status());
  AwsAnswer answer;
  OrderedJson& streams = answer.body["logStreams"] = OrderedJson::array();
  for (const Json& row : listed->at("jobs")) {
    const std::string stream = row.at("name").get<std::string>() + kStreamEnding;
    if (row.contains("unreadable") || !stream.starts_with(*prefix)) continue;
    if (static_cast<std::int64_t>(streams.size()) == std::clamp<std::int64_t>(*most, 1, kMostStreams)) break;
    const double created = seconds_of(row.at("submitted").get<std::string>());
    streams.push_back({{"logStreamName", stream}, {"creationTime", static_cast<std::int64_t>(created * 1000)}});
  }
  return answer;
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
  TRAINWARDEN_ASSIGN_OR_RETURN(std::string stream, text_or(request, "logStreamName", ""));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t most, number_or(request, "limit", kMostEvents));
  if (!stream.ends_with(kStreamEnding))
    return Status(Code::kNotFound, "there is no such log stream: expected JOB/algo-1");
  const std::string job = stream.substr(0, stream.size() - std::string_view(kStreamEnding).size());
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json found, context.ask({"job", "describe", "--", job}));
  const std::filesystem::path output = found.at("output").get<std::string>();
  const storage::Location folder(output.parent_path());
  AwsAnswer answer;
  answer.body["events"] = OrderedJson::array();
  const auto file = folder.storage().open(output.filename().string());
  if (!file.ok()) return answer;  // it has printed nothing yet
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t begin, begin_of(request, **file));
  TRAINWARDEN_ASSIGN_OR_RETURN(const LogPlace place,
                               read_lines(**file, begin, std::clamp<std::int64_t>(most, 1, kMostEvents)));
  TRAINWARDEN_ASSIGN_OR_RETURN(const storage::FileInfo info, folder.storage().info(output.filename().string()));
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
