#include "fake_bucket.h"

#include <algorithm>
#include <functional>

#include "core/base/rfc3339.h"
#include "core/base/text.h"
#include "dice.h"
#include "store/s3/appended_file.h"

namespace trainwarden::torture {
namespace {

constexpr std::string_view kEndpoint = "http://bucket.torture";
constexpr std::size_t kStatesKept = 12;
constexpr const char* kWriteHeader = "x-amz-meta-trainwarden-write";

std::string error_text(std::string_view code) {
  return fmt::format("<Error><Code>{}</Code></Error>", code);
}

std::string header_value(const storage::HeaderMap& headers, const char* name) {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

int hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
}

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_code = text[i] == '%' && i + 2 < text.size();
    plain += is_code ? static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])) : text[i];
    if (is_code) i += 2;
  }
  return plain;
}

class FakeConnection final : public storage::HttpConnection {
 public:
  FakeConnection(FakeBucket& bucket, std::shared_ptr<FakeBucket::Session> session)
      : bucket_(bucket), session_(std::move(session)) {}
  Result<storage::ClientAnswer> exchange(const storage::ClientRequest& request, std::string_view,
                                         const std::stop_token&) override {
    return bucket_.exchange(request, *session_);
  }

 private:
  FakeBucket& bucket_;
  const std::shared_ptr<FakeBucket::Session> session_;
};

}  // namespace

std::shared_ptr<storage::S3Client> FakeBucket::client(std::int64_t dies_after) {
  const auto session = std::make_shared<Session>();
  session->requests_left = dies_after;
  return client_of(session);
}

std::shared_ptr<storage::S3Client> FakeBucket::mirror_client(std::int64_t dies_after) {
  const auto session = std::make_shared<Session>();
  session->requests_left = dies_after;
  session->lists_badly = plan_.kind == Kind::kListing;
  return client_of(session);
}

std::shared_ptr<storage::S3Client> FakeBucket::client_of(std::shared_ptr<Session> session) {
  const Environment environment = [](const char* name) -> const char* {
    const std::string_view wanted = name;
    return wanted == "AWS_ACCESS_KEY_ID" || wanted == "AWS_SECRET_ACCESS_KEY" ? "torture" : nullptr;
  };
  storage::S3Settings settings;
  settings.region = "us-east-1";
  settings.endpoint = kEndpoint;
  settings.path_style = true;
  settings.is_encrypted = false;
  storage::S3Ground ground;
  ground.connect = [this, session] { return std::make_unique<FakeConnection>(*this, session); };
  ground.pause = [](std::chrono::milliseconds) {};
  return std::make_shared<storage::S3Client>("b", settings,
                                             std::make_shared<storage::CredentialChain>(environment, clock_), clock_,
                                             std::stop_token(), std::move(ground));
}

FakeBucket::Asked FakeBucket::parse(const storage::ClientRequest& request) const {
  Asked asked;
  asked.method = request.method;
  std::string_view rest = std::string_view(request.url).substr(kEndpoint.size() + std::string_view("/b").size());
  const std::size_t question = rest.find('?');
  const std::string_view path = rest.substr(0, question);
  asked.key = decoded(path.empty() ? path : path.substr(1));
  if (question == std::string_view::npos) return asked;
  for (const std::string& field : split_list(std::string(rest.substr(question + 1)), '&')) {
    const std::size_t equals = field.find('=');
    asked.query[field.substr(0, equals)] = equals == std::string::npos ? "" : decoded(field.substr(equals + 1));
  }
  return asked;
}

FakeBucket::Trouble FakeBucket::trouble_of(const Asked& asked) {
  const std::string what =
      asked.method + " " + asked.key + (asked.query.contains("prefix") ? asked.query.at("prefix") : "");
  const std::uint64_t times = times_asked_[what]++;
  std::uint64_t seed = plan_.seed ^ (times * 0x9e3779b97f4a7c15ULL);
  for (const char c : what) seed = seed * 1099511628211ULL + static_cast<unsigned char>(c);
  Dice dice(seed);
  if (is_down_ && !plan_.leaves_out(FaultSort::kHttpError)) return Trouble::kRefused;
  if (dice.roll(100) >= trouble_percent_) return Trouble::kNone;
  const auto trouble = static_cast<Trouble>(1 + dice.roll(8));
  const bool is_writing = asked.method == "PUT";
  switch (trouble) {
    case Trouble::kRefused:
    case Trouble::kFailsAfter: return plan_.leaves_out(FaultSort::kHttpError) ? Trouble::kNone : trouble;
    case Trouble::kLate:
      if (!is_writing) return Trouble::kNone;
      [[fallthrough]];
    case Trouble::kLost:
    case Trouble::kLostBefore: return plan_.leaves_out(FaultSort::kLostAnswer) ? Trouble::kNone : trouble;
    case Trouble::kCut: return plan_.leaves_out(FaultSort::kCutAnswer) ? Trouble::kNone : trouble;
    case Trouble::kTwice: return plan_.leaves_out(FaultSort::kRepeated) ? Trouble::kNone : trouble;
    case Trouble::kExpired:
      was_expired_ = !was_expired_ && !plan_.leaves_out(FaultSort::kExpired);
      return was_expired_ ? trouble : Trouble::kNone;
    default: return Trouble::kNone;
  }
}

Result<storage::ClientAnswer> FakeBucket::exchange(const storage::ClientRequest& request, Session& session) {
  const std::lock_guard guard(mutex_);
  if (session.requests_left == 0) return Status(Code::kCancelled, "the process is gone");
  if (session.requests_left > 0) --session.requests_left;
  const Asked asked = parse(request);
  const std::string what = asked.method + " " + asked.key;
  const Trouble trouble = trouble_of(asked);
  const Status lost(Code::kUnavailable, "the connection was reset");
  switch (trouble) {
    case Trouble::kRefused:
      log_.fault(FaultSort::kHttpError, "503 to {}", what);
      return deliver(request, {.status = 503, .body = error_text("SlowDown")}, false);
    case Trouble::kExpired:
      log_.fault(FaultSort::kExpired, "400 to {}", what);
      return deliver(request, {.status = 400, .body = error_text("ExpiredToken")}, false);
    case Trouble::kLostBefore: log_.fault(FaultSort::kLostAnswer, "{} does not arrive", what); return lost;
    case Trouble::kLate:
      log_.fault(FaultSort::kLostAnswer, "{} is given up, and arrives later", what);
      late_.push_back({asked, request.headers, std::string(as_text(request.body))});
      return lost;
    default: break;
  }
  Answer answer = serve(asked, request.headers, request.body, session);
  if (trouble == Trouble::kTwice) {
    log_.fault(FaultSort::kRepeated, "{} arrives twice", what);
    answer = serve(asked, request.headers, request.body, session);
  } else if (trouble == Trouble::kFailsAfter) {
    log_.fault(FaultSort::kHttpError, "500 to {}, which was done", what);
    answer = {.status = 500, .body = error_text("InternalError")};
  } else if (trouble == Trouble::kLost) {
    log_.fault(FaultSort::kLostAnswer, "{} was done, and its answer is lost", what);
    return lost;
  } else if (trouble == Trouble::kCut && !answer.body.empty()) {
    log_.fault(FaultSort::kCutAnswer, "{}", what);
  }
  return deliver(request, answer, trouble == Trouble::kCut && !answer.body.empty());
}

Result<storage::ClientAnswer> FakeBucket::deliver(const storage::ClientRequest& request, const Answer& answer,
                                                  bool is_cut) {
  const std::string_view body = is_cut ? std::string_view(answer.body).substr(0, answer.body.size() / 2) : answer.body;
  const bool has_body = std::string_view(request.method) != "HEAD";
  if (has_body && request.take && !request.take(answer.status, body)) {
    return Status(Code::kOutOfRange, "its answer is too long");
  }
  if (is_cut) return Status(Code::kUnavailable, "the connection was closed in the midst of the answer");
  return storage::ClientAnswer{.status = answer.status, .headers = answer.headers};
}

FakeBucket::Answer FakeBucket::serve(const Asked& asked, const storage::HeaderMap& headers, ByteSpan body,
                                     Session& session) {
  if (asked.method == "PUT") {
    Answer answer = put(asked, headers, body);
    session.seen = state_;
    return answer;
  }
  if (asked.method == "DELETE") {
    remember_listing();
    objects_.erase(asked.key);
    session.seen = state_;
    return {.status = 204};
  }
  if (asked.query.contains("list-type")) return list(asked, session);
  return get(asked, headers);
}

FakeBucket::Answer FakeBucket::put(const Asked& asked, const storage::HeaderMap& headers, ByteSpan body) {
  if (header_value(headers, "if-none-match") == "*" && objects_.contains(asked.key)) {
    return {.status = 412, .body = error_text("PreconditionFailed")};
  }
  remember_listing();
  const std::string etag = fmt::format("\"{:032x}\"", ++etags_);
  Object object{std::string(as_text(body)), etag, header_value(headers, kWriteHeader)};
  const std::size_t mark = asked.key.rfind(".~");
  if (plan_.mutation == Mutation::kPieceTwice && mark != std::string::npos && !object.bytes.empty()) {
    const std::int64_t number = parse_int(asked.key.substr(mark + 2)).value_or(0);
    objects_[fmt::format("{}.~{:010}", asked.key.substr(0, mark), number + 1)] = object;
  }
  const bool is_skipped = plan_.mutation == Mutation::kPieceSkipped && !object.bytes.empty() && etags_ % 5 == 0;
  if (!is_skipped) objects_[asked.key] = std::move(object);
  return {.status = 200, .headers = {{"etag", etag}}};
}

FakeBucket::Answer FakeBucket::get(const Asked& asked, const storage::HeaderMap& headers) const {
  const auto found = objects_.find(asked.key);
  const bool is_hidden = plan_.mutation == Mutation::kListBelieved && asked.method == "HEAD" &&
                         storage::parse_piece_name(asked.key).has_value();
  if (found == objects_.end() || is_hidden) return {.status = 404, .body = error_text("NoSuchKey")};
  const Object& object = found->second;
  const std::string match = header_value(headers, "if-match");
  if (!match.empty() && match != object.etag) return {.status = 412, .body = error_text("PreconditionFailed")};
  Answer answer;
  answer.headers = {{"etag", object.etag}, {kWriteHeader, object.write}};
  answer.headers["content-length"] = std::to_string(object.bytes.size());
  const std::string range = header_value(headers, "range");
  if (range.empty()) {
    answer.body = object.bytes;
    return answer;
  }
  const std::size_t dash = range.find('-');
  const auto first = static_cast<std::size_t>(parse_int(range.substr(6, dash - 6)).value_or(0));
  const auto last = static_cast<std::size_t>(parse_int(range.substr(dash + 1)).value_or(0));
  if (first >= object.bytes.size()) return {.status = 416, .body = error_text("InvalidRange")};
  answer.status = 206;
  answer.body = object.bytes.substr(first, last - first + 1);
  return answer;
}

// A mirror wants a store that lists what was put, as Amazon's does, and does without one in the kind kListing.
bool FakeBucket::is_stale(const Session& session, Dice& dice) const {
  if (plan_.kind == Kind::kMirror || plan_.leaves_out(FaultSort::kStaleListing)) return false;
  if (session.lists_badly) return dice.one_in(2);
  return !is_calm_ && dice.roll(100) < trouble_percent_;
}

// Of a server that does not promise to list what others have just put, one of the last states.
const FakeBucket::Objects& FakeBucket::state_for(const std::string& prefix, Session& session) {
  Dice dice(plan_.seed + 31 * ++times_asked_["list " + prefix]);
  const std::uint64_t oldest = std::max(session.seen, state_ - earlier_.size());
  const std::uint64_t chosen = is_stale(session, dice) ? oldest + dice.roll(state_ - oldest + 1) : state_;
  session.seen = chosen;
  if (chosen == state_) return objects_;
  log_.fault(FaultSort::kStaleListing, "of {}", prefix);
  return earlier_[chosen - (state_ - earlier_.size())];
}

FakeBucket::Answer FakeBucket::list(const Asked& asked, Session& session) {
  const auto field = [&](const char* name) {
    const auto found = asked.query.find(name);
    return found == asked.query.end() ? std::string() : found->second;
  };
  const Objects* const shown = &state_for(field("prefix"), session);
  const std::string prefix = field("prefix"), delimiter = field("delimiter");
  const std::string after = std::max(field("start-after"), field("continuation-token"));
  const auto most = static_cast<std::size_t>(parse_int(field("max-keys")).value_or(1'000));
  std::string text = "<ListBucketResult>";
  std::size_t count = 0;
  std::string last_key, last_prefix;
  for (auto it = shown->upper_bound(after.empty() ? prefix.substr(0, 0) : after); it != shown->end(); ++it) {
    const auto& [key, object] = *it;
    if (!key.starts_with(prefix)) continue;
    if (count == most) {
      text += fmt::format("<IsTruncated>true</IsTruncated><NextContinuationToken>{}</NextContinuationToken>", last_key);
      break;
    }
    ++count;
    last_key = key;
    const std::size_t slash = delimiter.empty() ? std::string::npos : key.find(delimiter, prefix.size());
    const std::string folder = slash == std::string::npos ? "" : key.substr(0, slash + 1);
    if (!folder.empty() && folder == last_prefix) continue;
    last_prefix = folder;
    const std::string entry = !folder.empty()
                                  ? fmt::format("<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>", folder)
                                  : fmt::format("<Contents><Key>{}</Key><Size>{}</Size><ETag>{}</ETag></Contents>", key,
                                                object.bytes.size(), object.etag);
    text += entry;
    const bool comes_twice =
        session.lists_badly && !plan_.leaves_out(FaultSort::kListedTwice) && (state_ + count) % 7 == 0;
    if (!comes_twice) continue;
    log_.fault(FaultSort::kListedTwice, "{}", key);
    text += entry;
  }
  return {.status = 200, .body = text + "</ListBucketResult>"};
}

void FakeBucket::remember_listing() {
  ++state_;
  earlier_.push_back(objects_);
  if (earlier_.size() > kStatesKept) earlier_.erase(earlier_.begin());
}

void FakeBucket::let_late_requests_come() {
  const std::lock_guard guard(mutex_);
  for (const LateRequest& late : late_) {
    log_.note("a late request arrives: {} {}", late.asked.method, late.asked.key);
    Session nobody;
    static_cast<void>(serve(late.asked, late.headers, as_bytes(late.body), nobody));
    had_late_requests_ = true;
  }
  late_.clear();
}

}  // namespace trainwarden::torture
