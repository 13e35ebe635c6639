#include "store/storage/lease.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/boot_id.h"
#include "store/storage/naming.h"

namespace trainwarden::storage {
namespace {

constexpr std::uint64_t kMaxLeaseBytes = 1024;

struct Promise {
  std::string holder;   // a random name
  std::string boot;     // of the holder's machine (core/base/boot_id.h)
  bool locked = false;  // it holds the lock, too
  LeaseSign sign;       // its next_unix_ns is 0 when nothing more is to come
};

std::string file_of(const std::string& path) {
  return path + ".lease";
}

std::string encode(const Promise& promise) {
  const nlohmann::ordered_json json = {
      {"holder", promise.holder},
      {"pid", promise.sign.pid},
      {"boot", promise.boot},
      {"locked", promise.locked},
      {"renewed_unix_ns", promise.sign.renewed_unix_ns},
      {"next_unix_ns", promise.sign.next_unix_ns},
  };
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::int64_t integer_of(const nlohmann::json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

// It is replaced every ten seconds, and who reads it over a network file system may meet the file that was (ESTALE):
// the next try finds the new one.
Result<std::string> read_lease_file(const Storage& storage, const std::string& path) {
  constexpr int kTries = 3;
  auto text = storage.read(file_of(path), kMaxLeaseBytes);
  for (int i = 1; i < kTries && text.status().code() == Code::kUnavailable; ++i) {
    text = storage.read(file_of(path), kMaxLeaseBytes);
  }
  return text;
}

// None when there is none, or something else lies there. kUnavailable when it cannot be read now.
Result<std::optional<Promise>> read_promise(const Storage& storage, const std::string& path) {
  const auto text = read_lease_file(storage, path);
  if (text.status().code() == Code::kUnavailable) return text.status();
  if (!text.ok()) return std::optional<Promise>();
  const auto json = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::optional<Promise>();
  const auto holder = json.find("holder");
  const auto boot = json.find("boot");
  const auto locked = json.find("locked");
  const auto next = json.find("next_unix_ns");
  const bool whole = holder != json.end() && holder->is_string() && boot != json.end() && boot->is_string() &&
                     locked != json.end() && locked->is_boolean() && next != json.end() && next->is_number_integer();
  if (!whole) return std::optional<Promise>();
  const LeaseSign sign = {integer_of(json, "pid"), integer_of(json, "renewed_unix_ns"), next->get<std::int64_t>()};
  return std::optional(Promise{holder->get<std::string>(), boot->get<std::string>(), locked->get<bool>(), sign});
}

// A time far in the future is no promise of anybody who keeps to the rules: it would hold forever.
bool still_counts(const Promise& promise, std::int64_t now_unix_ns) {
  const std::int64_t latest = now_unix_ns + kLeasePromiseNs + kLeaseSlackNs;
  return promise.sign.next_unix_ns > now_unix_ns - kLeaseSlackNs && promise.sign.next_unix_ns <= latest;
}

bool lock_could_be_seen(const Storage& storage, const Promise& promise) {
  return storage.has_locks() && promise.locked && promise.boot == boot_id();
}

// By the storage's own clock, whatever those of machines say. False also where it gives files no times, and where the
// lease was written in its future: its clock has jumped then, and the promise alone says more.
Result<bool> was_renewed_lately(Storage& storage, const std::string& path) {
  const std::string now_file = path + ".now.tmp";
  TRAINWARDEN_RETURN_IF_ERROR(storage.replace(now_file, {}));  // first: what is known of the folder is forgotten
  const auto lease = storage.info(file_of(path));
  if (lease.status().code() == Code::kNotFound) return false;
  TRAINWARDEN_RETURN_IF_ERROR(lease.status());
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileInfo now, storage.info(now_file));
  if (lease->changed_unix_ns == 0 || now.changed_unix_ns == 0) return false;
  const std::int64_t age_ns = now.changed_unix_ns - lease->changed_unix_ns;
  return age_ns >= -kLeaseSlackNs && age_ns < kLeasePromiseNs + kLeaseSlackNs;
}

Result<bool> counts_by_any_clock(Storage& storage, const std::string& path, const Promise& promise,
                                 std::int64_t now_unix_ns) {
  if (promise.sign.next_unix_ns == 0) return false;  // its holder has ended it
  if (still_counts(promise, now_unix_ns)) return true;
  return was_renewed_lately(storage, path);
}

class HeldLease final : public Lease {
 public:
  HeldLease(Storage& storage, std::string path, const Clock& clock, std::unique_ptr<Lock> lock, Promise promise)
      : storage_(storage),
        path_(std::move(path)),
        clock_(clock),
        lock_(std::move(lock)),
        promise_(std::move(promise)) {}

  Status beat() override {
    if (!ousted_.ok()) return ousted_;
    const Status kept = lock_ != nullptr ? lock_->keep() : Status();
    if (kept.code() == Code::kAlreadyExists) return ousted_ = kept;
    const Status renewed = renew();
    return kept.ok() ? renewed : kept;
  }

  Status end() override {
    if (!ousted_.ok() || !std::exchange(promised_, false)) return {};
    if (lock_ == nullptr && other_) return {};  // the promise that lies there is not its own
    return write(0);
  }

 private:
  Status renew() {
    const std::int64_t now = clock_.steady_ns();
    if (promised_ && now - renewed_ns_ < kLeaseBeatNs) return {};
    renewed_ns_ = now;                                         // also when it fails: the next try is at the next beat
    const bool is_first = !std::exchange(was_written_, true);  // what lies there then was looked at
    if (lock_ == nullptr && !is_first && !is_free_of_others(now)) return ousted_;
    promised_ = true;
    return write(clock_.unix_ns() + kLeasePromiseNs);
  }

  // Another's promise that is renewed is that of a process which lives. One that is not, for two beats, is left over: a
  // request of a dead process may reach a bucket late.
  bool is_free_of_others(std::int64_t now) {
    const auto read = read_promise(storage_, path_);
    if (!read.ok()) return true;  // nothing is known, and its own promise must not run out
    const std::optional<Promise>& there = *read;
    const bool is_other = there && there->holder != promise_.holder && there->sign.next_unix_ns != 0;
    if (!is_other) {
      other_.reset();
      return true;
    }
    const bool is_known = other_ && other_->holder == there->holder;
    if (is_known && other_->sign.renewed_unix_ns != there->sign.renewed_unix_ns) {
      ousted_ = Status(Code::kAlreadyExists,
                       fmt::format("{} is held by another process by now, which took this one for dead: it had given "
                                   "no sign of life for a minute, or a clock has jumped; end one of the two",
                                   storage_.describe(path_)));
      return false;
    }
    if (!is_known) {
      other_ = there;
      other_seen_ns_ = now;
    }
    if (now - other_seen_ns_ < 2 * kLeaseBeatNs) return false;
    other_.reset();
    return true;
  }

  Status write(std::int64_t next_unix_ns) {
    promise_.sign = {::getpid(), clock_.unix_ns(), next_unix_ns};
    const std::string text = encode(promise_);
    return storage_.replace(file_of(path_), as_bytes(text));
  }

  Storage& storage_;
  const std::string path_;
  const Clock& clock_;
  const std::unique_ptr<Lock> lock_;  // null where the storage has none
  Promise promise_;
  bool promised_ = false;
  bool was_written_ = false;
  std::int64_t renewed_ns_ = 0;
  std::optional<Promise> other_;  // that lies there in place of its own
  std::int64_t other_seen_ns_ = 0;
  Status ousted_;
};

Status held_by_promise(const Storage& storage, const std::string& path, const Promise& promise, std::int64_t now) {
  constexpr std::int64_t kMost = kLeasePromiseNs / 1'000'000'000;
  const std::int64_t left = (promise.sign.next_unix_ns - now) / 1'000'000'000;
  const std::int64_t seconds = left < 0 || left > kMost ? kMost : left;  // outside, the clocks do not agree
  return Status(Code::kAlreadyExists,
                fmt::format("{} is held by another process, which has promised a sign of life within {} s; wait for it "
                            "to end, or use another folder",
                            storage.describe(path), seconds));
}

}  // namespace

std::string lock_of_lease(const std::string& path) {
  return path + ".lock";
}

Result<std::unique_ptr<Lease>> take_lease(Storage& storage, const std::string& path, const Clock& clock) {
  auto lock = storage.lock(lock_of_lease(path));
  const bool has_locks = lock.status().code() != Code::kUnimplemented;
  if (has_locks) {
    TRAINWARDEN_RETURN_IF_ERROR(lock.status());
  } else {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto other, read_promise(storage, path));
    if (other) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const bool counts, counts_by_any_clock(storage, path, *other, clock.unix_ns()));
      if (counts) return held_by_promise(storage, path, *other, clock.unix_ns());
    }
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(std::string holder, random_name());
  auto lease = std::make_unique<HeldLease>(storage, path, clock, has_locks ? *std::move(lock) : nullptr,
                                           Promise{std::move(holder), boot_id(), has_locks, {}});
  const Status promised = lease->beat();
  if (!promised.ok() && !has_locks) return promised;
  return std::unique_ptr<Lease>(std::move(lease));
}

bool is_leased(const Storage& storage, const std::string& path, const Clock& clock) {
  if (storage.locked(lock_of_lease(path))) return true;
  const auto read = read_promise(storage, path);
  if (!read.ok()) return true;  // nothing shows that its holder is gone
  const std::optional<Promise>& promise = *read;
  if (!promise || !still_counts(*promise, clock.unix_ns())) return false;
  return !lock_could_be_seen(storage, *promise);
}

Result<bool> may_be_leased(Storage& storage, const std::string& path, const Clock& clock) {
  if (is_leased(storage, path, clock)) return true;
  const auto promise = read_promise(storage, path).value_or(std::nullopt);
  if (!promise || lock_could_be_seen(storage, *promise)) return false;
  return counts_by_any_clock(storage, path, *promise, clock.unix_ns());
}

std::optional<LeaseSign> sign_of_life(const Storage& storage, const std::string& path, const Clock& clock) {
  if (!is_leased(storage, path, clock)) return std::nullopt;
  const auto promise = read_promise(storage, path).value_or(std::nullopt);
  return promise ? std::optional(promise->sign) : std::nullopt;
}

}  // namespace trainwarden::storage
