// Objects that are put in parts, and those that are put with a digest which the server compares.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "core/exchange/digest.h"
#include "store/s3/content_tag.h"
#include "store/s3/s3_call.h"
#include "store/s3/s3_documents.h"

namespace trainwarden::storage {
namespace {

constexpr int kMaxUploadPages = 1'000;

}  // namespace

Status S3Client::put_large(const std::string& key, std::uint64_t bytes, const ReadBytes& read) {
  if (bytes <= kPartBytes) {
    auto loan = parts_.borrow();
    loan.bytes().resize(bytes);
    TRAINWARDEN_RETURN_IF_ERROR(read(0, std::as_writable_bytes(std::span(loan.bytes()))));
    return put(key, as_bytes(loan.bytes()), PutCondition::kAlways);
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string upload, begin_upload(key));
  const auto etags = put_parts(key, upload, bytes, read);
  const Status status = etags.ok() ? end_upload(key, upload, *etags).status() : etags.status();
  // What was sent so far would be kept, and paid for, for ever.
  if (!status.ok()) (void)give_up_upload(key, upload);
  return status;
}

Result<std::string> S3Client::begin_upload(const std::string& key) {
  std::string text;
  Call call{.method = "POST", .key = key, .query = {{"uploads", ""}}};
  call.headers["content-type"] = "application/octet-stream";
  call.begin = [&] { text.clear(); };
  call.take = take_up_to(text, kMaxS3TextBytes);
  TRAINWARDEN_ASSIGN_OR_RETURN(const Outcome outcome, perform(call));
  if (!outcome.is_fine()) return error_of(call, outcome);
  return parse_upload_id(text);
}

Result<std::vector<std::string>> S3Client::put_parts(const std::string& key, const std::string& upload,
                                                     std::uint64_t bytes, const ReadBytes& read) {
  const std::uint64_t part_bytes = part_bytes_for(bytes), count = (bytes + part_bytes - 1) / part_bytes;
  std::vector<std::string> etags(count);
  std::atomic<std::uint64_t> next = 0;
  std::mutex mutex;
  Status failure;  // the first one; no part is begun after it
  const auto put_one = [&](std::uint64_t index) -> Status {
    auto loan = parts_.borrow();
    std::string& part = loan.bytes();
    const std::uint64_t offset = index * part_bytes;
    part.resize(std::min(part_bytes, bytes - offset));
    TRAINWARDEN_RETURN_IF_ERROR(read(offset, std::as_writable_bytes(std::span(part))));
    TRAINWARDEN_ASSIGN_OR_RETURN(etags[index], put_part(key, upload, static_cast<int>(index) + 1, as_bytes(part)));
    return {};
  };
  const auto put_all = [&] {
    for (std::uint64_t index = next++; index < count; index = next++) {
      const Status status = no_throw([&] { return put_one(index); });
      if (status.ok()) continue;
      next = count;
      const std::lock_guard guard(mutex);
      if (failure.ok()) failure = status;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 1; i < std::min<std::uint64_t>(kPartsAtOnce, count); ++i) threads.emplace_back(put_all);
    put_all();
  }
  if (!failure.ok()) return failure;
  return etags;
}

// The server compares the digest with what has come, and its answer's tag says what it has kept.
Result<std::string> S3Client::put_content(const std::string& key, QueryParameters query, ByteSpan content,
                                          const std::string& md5) {
  Call call{.method = "PUT", .key = key, .query = std::move(query), .body = content};
  call.headers["content-type"] = "application/octet-stream";
  if (!md5.empty()) call.headers[kMd5Header] = exchange::base64(md5);
  TRAINWARDEN_ASSIGN_OR_RETURN(const Outcome outcome, perform(call));
  if (!outcome.is_fine()) return error_of(call, outcome);
  const HeaderMap& headers = outcome.answer.headers;
  const std::string etag = header_of(headers, "etag");
  const auto tag = parse_content_tag(etag);
  const bool says_nothing = md5.empty() || !tag || tag->parts != 0 || has_opaque_etag(headers);
  if (says_nothing || tag->digest == exchange::hex(md5)) return etag;
  return Status(Code::kDataLoss, fmt::format("{}: the server has other bytes than were sent: expected MD5 {}, found {}",
                                             address_of(key), exchange::hex(md5), printable(etag)));
}

Result<std::string> S3Client::put_checked(const std::string& key, ByteSpan content) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string md5, exchange::md5(as_text(content)));
  return put_content(key, {}, content, md5);
}

Result<std::string> S3Client::put_part(const std::string& key, const std::string& upload, int number, ByteSpan content,
                                       const std::string& md5) {
  return put_content(key, {{"partNumber", std::to_string(number)}, {"uploadId", upload}}, content, md5);
}

// An answer that began as a success may end as an error, which its document says.
Result<std::string> S3Client::end_upload(const std::string& key, const std::string& upload,
                                         const std::vector<std::string>& etags) {
  const std::string document = completed_upload(etags);
  std::string text;
  Call call{.method = "POST", .key = key, .query = {{"uploadId", upload}}, .body = as_bytes(document)};
  call.headers["content-type"] = "application/xml";
  call.begin = [&] { text.clear(); };
  call.take = take_up_to(text, kMaxS3TextBytes);
  TRAINWARDEN_ASSIGN_OR_RETURN(Outcome outcome, perform(call));
  const std::string code = parse_error_code(text);
  if (outcome.is_fine() && code.empty()) return parse_result_etag(text);
  if (outcome.is_fine()) outcome = {.answer = {.status = 500, .headers = {}}, .error = text};
  return error_of(call, outcome);
}

Status S3Client::give_up_upload(const std::string& key, const std::string& upload) {
  const Call call{.method = "DELETE", .key = key, .query = {{"uploadId", upload}}};
  TRAINWARDEN_ASSIGN_OR_RETURN(const Outcome outcome, perform(call));
  return outcome.is_fine() || outcome.answer.status == 404 ? Status() : error_of(call, outcome);
}

Result<std::vector<UnfinishedUpload>> S3Client::unfinished_uploads(const std::string& prefix) {
  std::vector<UnfinishedUpload> uploads;
  std::string text;
  Call call;
  call.query = {{"uploads", ""}, {"encoding-type", "url"}, {"prefix", prefix}};
  call.begin = [&] { text.clear(); };
  call.take = take_up_to(text, kMaxPageBytes);
  for (int number = 0; number < kMaxUploadPages; ++number) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const Outcome outcome, perform(call));
    if (!outcome.is_fine()) return error_of(call, outcome);
    TRAINWARDEN_ASSIGN_OR_RETURN(UploadPage page, parse_upload_page(text));
    for (UnfinishedUpload& upload : page.uploads) {
      if (upload.key.starts_with(prefix) && !upload.id.empty()) uploads.push_back(std::move(upload));
    }
    if (page.next_key.empty()) return uploads;
    call.query["key-marker"] = page.next_key;
    call.query["upload-id-marker"] = page.next_id;
  }
  return Status(Code::kResourceExhausted, fmt::format("{} has too many unfinished uploads", address_of(prefix)));
}

Result<std::vector<UploadedPart>> S3Client::uploaded_parts(const std::string& key, const std::string& upload) {
  std::vector<UploadedPart> parts;
  std::string text;
  Call call{.key = key, .query = {{"uploadId", upload}}};
  call.begin = [&] { text.clear(); };
  call.take = take_up_to(text, kMaxPageBytes);
  for (int number = 0; number < kMaxUploadPages; ++number) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const Outcome outcome, perform(call));
    if (!outcome.is_fine()) return error_of(call, outcome);
    TRAINWARDEN_ASSIGN_OR_RETURN(PartPage page, parse_part_page(text));
    for (UploadedPart& part : page.parts) parts.push_back(std::move(part));
    if (page.next.empty()) return parts;
    call.query["part-number-marker"] = page.next;
  }
  return Status(Code::kResourceExhausted, fmt::format("{} has too many parts", address_of(key)));
}

Result<std::uint64_t> S3Client::part_bytes(const std::string& key, const std::string& etag) {
  Call call{.method = "HEAD", .key = key, .query = {{"partNumber", "1"}}};
  call.headers["if-match"] = etag;
  TRAINWARDEN_ASSIGN_OR_RETURN(const Outcome outcome, perform(call));
  if (!outcome.is_fine()) return error_of(call, outcome);
  if (!outcome.answer.headers.contains("x-amz-mp-parts-count") && outcome.answer.status != 206) return std::uint64_t{0};
  const auto bytes = parse_int(header_of(outcome.answer.headers, "content-length"));
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, bytes.value_or(0)));
}

Status S3Client::copy_from(const std::string& bucket, const std::string& key, const std::string& etag,
                           const std::string& to_key) {
  std::string text;
  Call call{.method = "PUT", .key = to_key};
  call.headers["x-amz-copy-source"] = fmt::format("/{}/{}", bucket, encode_uri(key, true));
  if (!etag.empty()) call.headers["x-amz-copy-source-if-match"] = etag;
  call.begin = [&] { text.clear(); };
  call.take = take_up_to(text, kMaxS3TextBytes);
  TRAINWARDEN_ASSIGN_OR_RETURN(Outcome outcome, perform(call));
  if (outcome.answer.status == 501) return Status(Code::kUnimplemented, "this server copies no objects");
  const std::string code = parse_error_code(text);
  if (outcome.is_fine() && code.empty()) return {};
  if (outcome.is_fine()) outcome = {.answer = {.status = 500, .headers = {}}, .error = text};
  return error_of(call, outcome);
}

}  // namespace trainwarden::storage
