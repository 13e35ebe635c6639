// JobMarkers: a folder with an empty file for each of some jobs, so that nobody has to look at all jobs that ever were.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::jobs {

// Many processes may use one at once. Errors: those of the file system.
class JobMarkers {
 public:
  // A folder of this machine; made with the first of them.
  explicit JobMarkers(storage::Location place) : place_(std::move(place)) {}

  Status enter(const std::string& job);  // fine when it is in
  Status leave(const std::string& job);  // fine when it is not
  Result<std::vector<std::string>> names() const;
  // When it came in; nothing when it is not in.
  std::optional<std::int64_t> entered_unix_ns(const std::string& job) const;

 private:
  storage::Location place_;
};

}  // namespace trainwarden::jobs
