// FakeBucket: a server of S3 in this process, and connections to it that fail. It answers what the store's client asks
// (HEAD, GET, PUT, DELETE, ListObjectsV2), and nothing else.
//
// Which request fails follows from the case's seed, the request, and how often it was made: several threads may ask.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "case_plan.h"
#include "dice.h"
#include "sim_clock.h"
#include "store/s3/s3_client.h"

namespace trainwarden::torture {

class FakeBucket {
 public:
  struct Object {
    std::string bytes;
    std::string etag;
    std::string write;  // its x-amz-meta-trainwarden-write
  };
  using Objects = std::map<std::string, Object>;

  // All must outlive it.
  FakeBucket(const CasePlan& plan, const SimClock& clock, CaseLog& log) : plan_(plan), clock_(clock), log_(log) {}

  // A client of a process. It ends all that it asks for once `dies_after` requests were made; -1: never.
  std::shared_ptr<storage::S3Client> client(std::int64_t dies_after = -1);
  // The same for who mirrors: in the kind kListing its lists lag, and have names twice, also when all else is calm.
  std::shared_ptr<storage::S3Client> mirror_client(std::int64_t dies_after);

  void set_trouble(std::uint64_t percent) { trouble_percent_ = percent; }  // of requests
  void set_down(bool down) { is_down_ = down; }
  // Requests that were given up, and reach the server all the same.
  void let_late_requests_come();
  void calm() { set_trouble(0), set_down(false), is_calm_ = true, let_late_requests_come(); }

  // Such have come, so that something may lie there again that was removed.
  bool had_late_requests() const { return had_late_requests_; }
  // What is there, without any trouble.
  const Objects& objects() const { return objects_; }

  // What one client has seen: it is never shown an earlier state than that.
  struct Session {
    std::int64_t requests_left = -1;  // before its process dies; negative: endless
    std::uint64_t seen = 0;           // the number of the state
    bool lists_badly = false;
  };
  Result<storage::ClientAnswer> exchange(const storage::ClientRequest& request, Session& session);

 private:
  std::shared_ptr<storage::S3Client> client_of(std::shared_ptr<Session> session);
  struct Asked {
    std::string method, key;
    std::map<std::string, std::string> query;
  };
  struct Answer {
    int status = 200;
    storage::HeaderMap headers{};
    std::string body{};
  };
  enum class Trouble { kNone, kRefused, kFailsAfter, kLost, kLostBefore, kLate, kCut, kTwice, kExpired };

  Asked parse(const storage::ClientRequest& request) const;
  Trouble trouble_of(const Asked& asked);
  Answer serve(const Asked& asked, const storage::HeaderMap& headers, ByteSpan body, Session& session);
  Answer put(const Asked& asked, const storage::HeaderMap& headers, ByteSpan body);
  Answer get(const Asked& asked, const storage::HeaderMap& headers) const;
  Answer list(const Asked& asked, Session& session);
  bool is_stale(const Session& session, Dice& dice) const;
  const Objects& state_for(const std::string& prefix, Session& session);
  void remember_listing();
  Result<storage::ClientAnswer> deliver(const storage::ClientRequest& request, const Answer& answer, bool is_cut);

  const CasePlan& plan_;
  const SimClock& clock_;
  CaseLog& log_;
  std::mutex mutex_;
  Objects objects_;
  std::vector<Objects> earlier_;  // the last few states
  std::uint64_t state_ = 0;       // the number of the present one
  struct LateRequest {
    Asked asked;
    storage::HeaderMap headers;
    std::string body;
  };
  std::vector<LateRequest> late_;
  std::map<std::string, std::uint64_t> times_asked_;
  std::uint64_t etags_ = 0;
  std::uint64_t trouble_percent_ = 0;
  bool is_down_ = false;
  bool is_calm_ = false;
  bool had_late_requests_ = false;
  bool was_expired_ = false;  // the last refusal was one for its key: a new key is good for a while
};

}  // namespace trainwarden::torture
