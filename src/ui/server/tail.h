// Tail: the thread that looks whether runs have news, as long as somebody listens.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "trainwarden/trial.h"
#include "ui/server/notice_board.h"
#include "ui/views/shelf.h"

namespace trainwarden::server {

// Runs that somebody looked at within the last hour are asked every 20 ms; the folder itself once a second, and a part
// of its other runs with it. The public calls may be made from any thread.
class Tail {
 public:
  Tail(views::Shelf& shelf, NoticeBoard& board);
  ~Tail();
  Tail(const Tail&) = delete;
  Tail& operator=(const Tail&) = delete;

  // Somebody asked for something of this run.
  void looked_at(std::string_view run_id);
  // While there are no listeners, the thread sleeps.
  void set_listeners(std::size_t count);

 private:
  // What of a run was published already.
  struct Followed {
    std::string identity;
    std::int64_t step = -1;
    RunState state = RunState::kRunning;
    std::uint64_t rules = 0;    // how many bytes the journals of verdicts and the ledger have
    std::uint64_t version = 0;  // of OpenRun
    bool known = false;
  };

  void work();
  void follow_runs();
  void follow(const std::string& id, Followed& followed);
  void look_at_folder();
  void look_at_others(const std::vector<views::RunOnShelf>& runs);

  views::Shelf& shelf_;
  NoticeBoard& board_;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
  std::size_t listeners_ = 0;
  std::map<std::string, std::int64_t, std::less<>> looked_at_;  // by run id; steady clock

  // Of the thread alone.
  std::map<std::string, Followed, std::less<>> followed_;
  std::set<std::string> listed_;
  bool listed_once_ = false;
  std::map<std::string, std::uint64_t> sizes_;  // of runs that nobody looks at, by id
  std::size_t next_other_ = 0;
  std::int64_t folder_looked_ns_ = 0;

  std::thread thread_;  // last: it uses the rest
};

}  // namespace trainwarden::server
