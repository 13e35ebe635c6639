// BucketDetour: where on this machine lies for a while what comes from a bucket or goes to one, for code that reads and
// writes files of this machine only. It is gone again with this object, also when a signal ends the program.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "trainwarden/status.h"

namespace trainwarden::cli {

class BucketDetour {
 public:
  enum class Kind { kFile, kFolder };

  // For what is to be written to `address`. A place of this machine is itself, and nothing is made or sent.
  // kInvalidArgument: no name of what is written; kPermissionDenied: no credentials; kAlreadyExists: something is
  // there, unless `force`. Other errors of the bucket.
  static Result<BucketDetour> to(const std::string& address, Kind kind, bool force);
  // What lies at `address`, fetched; of this machine, where it lies. kNotFound; errors of the bucket.
  static Result<BucketDetour> from(const std::string& address);

  BucketDetour(BucketDetour&& other) noexcept;
  BucketDetour& operator=(BucketDetour&&) = delete;
  ~BucketDetour();

  const std::filesystem::path& local() const { return local_; }
  const std::string& address() const { return address_; }  // as it was typed, for messages
  bool is_fetched() const { return !folder_.empty(); }     // what is local() came from a bucket, or goes to one

  // What was written goes to its bucket. When that fails, nothing that was begun there is left.
  Status send() const;
  // Runs `act` to its end. A signal that ends the program removes what is here first. Not for what has a SignalRelay.
  void attend(const std::function<void()>& act) const;

 private:
  BucketDetour(std::string address, std::filesystem::path local)
      : address_(std::move(address)), local_(std::move(local)) {}
  static Result<BucketDetour> make(const std::string& address, const std::string& name);
  void remove() const;

  std::string address_;
  std::filesystem::path local_;
  std::filesystem::path folder_;  // empty: none was made, and nothing is to go
};

}  // namespace trainwarden::cli
