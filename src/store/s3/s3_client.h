// S3Client: the calls of S3 on the objects of one bucket (docs.aws.amazon.com/AmazonS3/latest/API), signed, with what
// passes tried again.
//
// From many threads at once; each call that is under way has a connection of its own, which is kept for the next one.
// A forked child goes on with connections of its own.
// Codes: kNotFound, kAlreadyExists (put with kIfAbsent), kPermissionDenied, kResourceExhausted (quota), kUnavailable
// (what passes, and did not after all attempts), kFailedPrecondition (no such bucket, or in another region), kAborted
// (it is another object by now), kCancelled, kInvalidArgument, kInternal.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "store/s3/credentials.h"
#include "store/s3/fork_aware_mutex.h"
#include "store/s3/http_connection.h"
#include "store/s3/part_buffers.h"
#include "store/s3/retry_pauses.h"
#include "store/s3/s3_documents.h"
#include "store/s3/s3_settings.h"

namespace trainwarden::storage {

// Of 16 MiB, but for those of objects beyond 160 GiB (content_tag.h).
inline constexpr std::size_t kPartsAtOnce = 4;

enum class PutCondition { kAlways, kIfAbsent };

// How much was asked of the bucket, for who pays for it.
struct S3Use {
  std::uint64_t requests = 0, retries = 0, bytes_sent = 0, bytes_received = 0;
};

// What a client stands on; a test gives another. None: the network and the clock on the wall.
struct S3Ground {
  std::function<std::unique_ptr<HttpConnection>()> connect{};
  std::function<void(std::chrono::milliseconds)> pause{};
};

class S3Client {
 public:
  // Once `stop` is asked for, calls end at once with kCancelled.
  S3Client(std::string bucket, S3Settings settings, std::shared_ptr<CredentialChain> credentials, const Clock& clock,
           std::stop_token stop = {}, S3Ground ground = {});
  ~S3Client();
  S3Client(const S3Client&) = delete;
  S3Client& operator=(const S3Client&) = delete;

  Result<ObjectInfo> head(const std::string& key);
  // Fills `destination` from `offset`; returns how many bytes there were. `etag`: of this content alone, else kAborted.
  Result<std::size_t> get(const std::string& key, std::uint64_t offset, MutableByteSpan destination,
                          const std::string& etag);
  // kOutOfRange when it is larger than `limit_bytes`.
  Result<std::string> get_whole(const std::string& key, std::uint64_t limit_bytes);
  Status put(const std::string& key, ByteSpan content, PutCondition condition);
  // What `read` gives, `bytes` of it, in place of what is there: in parts where it is large, some of them at once, so
  // `read` is called from several threads. Of all uploads of a client kPartsAtOnce parts are in memory. Nothing of it
  // is seen before all of it is there.
  using ReadBytes = std::function<Status(std::uint64_t offset, MutableByteSpan destination)>;
  Status put_large(const std::string& key, std::uint64_t bytes, const ReadBytes& read);
  // In place of what is there. The tag of what the server has now, which was compared with the content where it can be.
  Result<std::string> put_checked(const std::string& key, ByteSpan content);

  // Uploads in parts, which others may go on with (docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html).
  Result<std::string> begin_upload(const std::string& key);
  // `number` from 1. `md5` of the content, 16 bytes, where the caller has it: then the server compares that too, and
  // the tag is compared with it. The part's tag. kNotFound: there is no such upload any more.
  Result<std::string> put_part(const std::string& key, const std::string& upload, int number, ByteSpan content,
                               const std::string& md5 = "");
  // The object's tag. Parts 1, 2, ... have these tags.
  Result<std::string> end_upload(const std::string& key, const std::string& upload,
                                 const std::vector<std::string>& etags);
  Status give_up_upload(const std::string& key, const std::string& upload);  // fine when there is none
  // Of keys that begin with `prefix`. Some stores list those of a whole key alone.
  Result<std::vector<UnfinishedUpload>> unfinished_uploads(const std::string& prefix);
  Result<std::vector<UploadedPart>> uploaded_parts(const std::string& key, const std::string& upload);
  // How large the parts were in which an object was put; 0: the server does not say.
  Result<std::uint64_t> part_bytes(const std::string& key, const std::string& etag);
  // Within the server. kUnimplemented: it cannot do that.
  Status copy_from(const std::string& bucket, const std::string& key, const std::string& etag,
                   const std::string& to_key);

  Status remove(const std::string& key);  // fine when it is not there
  // Keys that begin with `prefix`, in order; with a delimiter those up to it alone. `after`: behind this key.
  // `token`: the next page.
  Result<ObjectPage> list(const std::string& prefix, const std::string& delimiter, const std::string& after,
                          const std::string& token, int max_keys = 1000);

  Status check_credentials() { return credentials_->get().status(); }
  S3Use use() const;
  const std::string& bucket() const { return bucket_; }
  std::string address_of(std::string_view key) const;  // "s3://BUCKET/KEY"; what cannot be printed in it as escapes
  const S3Settings& settings() const { return settings_; }
  // By how much the server's clock is ahead of ours, as of its last answer. Its times are of whole seconds.
  std::int64_t server_ahead_ns() const { return server_ahead_ns_; }

 private:
  struct Call;
  struct Outcome;

  Result<std::string> put_content(const std::string& key, QueryParameters query, ByteSpan content,
                                  const std::string& md5);
  Result<std::vector<std::string>> put_parts(const std::string& key, const std::string& upload, std::uint64_t bytes,
                                             const ReadBytes& read);
  Result<Outcome> perform(const Call& call);
  Result<Outcome> attempt(const Call& call, std::int64_t clock_offset_ns);
  std::string url_of(const Call& call) const;
  std::string host() const;
  std::string path_of(const std::string& key) const;
  Status sign(const Call& call, const AwsCredentials& credentials, std::int64_t clock_offset_ns,
              HeaderMap& headers) const;
  Status error_of(const Call& call, const Outcome& outcome) const;
  std::unique_ptr<HttpConnection> take_connection();
  bool wait(std::chrono::milliseconds time) const;
  void keep_connection(std::unique_ptr<HttpConnection> connection);
  void leave_inherited();

  const std::string bucket_;
  const S3Settings settings_;
  const std::shared_ptr<CredentialChain> credentials_;
  const Clock& clock_;
  const std::stop_token stop_;
  const S3Ground ground_;
  RetryPauses retries_;
  PartBuffers parts_{kPartsAtOnce};
  ForkAwareMutex mutex_;
  std::vector<std::unique_ptr<HttpConnection>> idle_;
  pid_t idle_of_;                                  // the process whose connections these are
  std::atomic<std::int64_t> clock_offset_ns_ = 0;  // of the server's clock against ours, where it has said so
  std::atomic<std::int64_t> server_ahead_ns_ = 0;
  std::atomic<std::uint64_t> requests_ = 0, tried_again_ = 0, bytes_sent_ = 0, bytes_received_ = 0;
};

}  // namespace trainwarden::storage
