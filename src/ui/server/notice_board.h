// NoticeBoard: the newest of each kind of news about each run. Who reads slowly misses what was overtaken, never the
// newest, so nobody needs a queue.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainwarden::server {

struct Notice {
  std::uint64_t version = 0;    // grows with each notice, also from one start of the server to the next
  std::string run;              // its id; "" when the list of runs is meant
  std::string kind;             // "steps", "rules", "state", "runs"
  std::int64_t last_step = -1;  // of kind "steps"
};

// May be used from any thread.
class NoticeBoard {
 public:
  // `first_version` is to be greater than any that an earlier server gave out, and at most 2^53 after all.
  explicit NoticeBoard(std::uint64_t first_version) : first_(first_version), last_(first_version) {}

  void publish(std::string run, std::string_view kind, std::int64_t last_step = -1);
  // Those behind `version`, oldest first. For a version that this server did not give out, 0 above all: one of kind
  // "runs", which says that everything may have changed.
  std::vector<Notice> after(std::uint64_t version) const;
  std::uint64_t last_version() const;

  // Called after each publish, by the thread that published; must not ask the board. Null: nobody, from the return on.
  void on_news(std::function<void()> listener);

 private:
  const std::uint64_t first_;
  mutable std::mutex mutex_;
  std::uint64_t last_;
  std::map<std::pair<std::string, std::string>, Notice, std::less<>> newest_;  // by run and kind
  std::function<void()> listener_;
};

// As it goes over the wire: one event of a text/event-stream.
std::string to_event(const Notice& notice);

}  // namespace trainwarden::server
