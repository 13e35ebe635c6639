// ControlFolder: the requests of one kind that others have put into the run's control folder, each read once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::capture {

// One thread at a time.
class ControlFolder {
 public:
  // No storage: nobody can ask. `is_request_file` says of a file's name whether it is of the kind. What is meant for
  // another run than `run_id` is passed over like what cannot be understood; empty: none is.
  ControlFolder(std::shared_ptr<const storage::Storage> storage, std::string run_id,
                bool (*is_request_file)(std::string_view))
      : storage_(std::move(storage)), run_id_(std::move(run_id)), is_request_file_(is_request_file) {}

  // The requests that were not there at the last call. A file that is not whole is asked for again for a minute: where
  // a file system cannot put a file whole, or shows it late, it is on its way. `decode` makes one of a file's text and
  // path; what it refuses is logged once and passed over.
  template <class Request>
  std::vector<Request> read_new(
      const std::function<Result<Request>(std::string_view text, std::string_view path)>& decode) {
    std::vector<Request> requests;
    for_each_new([&](std::string_view text, std::string_view path) -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(Request request, decode(text, path));
      requests.push_back(std::move(request));
      return {};
    });
    return requests;
  }

 private:
  void for_each_new(const std::function<Status(std::string_view text, std::string_view path)>& take);

  bool is_on_its_way(const std::string& file, const Result<std::string>& text);
  Status take_if_ours(std::string_view text, std::string_view path,
                      const std::function<Status(std::string_view text, std::string_view path)>& take) const;

  std::shared_ptr<const storage::Storage> storage_;
  std::string run_id_;
  bool (*is_request_file_)(std::string_view);
  std::set<std::string> seen_files_;
  std::map<std::string, std::int64_t> waited_since_ns_;  // for files that were not whole
};

}  // namespace trainwarden::capture
