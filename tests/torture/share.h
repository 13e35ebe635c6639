// Share: a file system that several machines have mounted, as NFS is, with what such systems do not promise: a machine
// sees names, lengths and bytes of the others late and not in order, locks may be missing or of one machine alone, and
// a file that was replaced leaves who had it with a handle of nothing.
//
// What it does promise is what NFS does: who opens a file that its writer has closed, or synced, sees all of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "case_plan.h"
#include "dice.h"
#include "sim_clock.h"
#include "sim_process.h"

namespace trainwarden::torture {

enum class LockMode { kWork, kMissing, kOfOneMachine };

struct ShareFile {
  std::string bytes;                     // as the server has them
  const std::string* written = nullptr;  // as the machine has them that writes, while it does
  int machine = -1;                      // which that is
  int looks_until_whole = 0;             // of a file that could not be put whole: the first looks see less
  std::uint64_t identity = 0;
  std::int64_t changed_unix_ns = 0;
};
using ShareFilePointer = std::shared_ptr<ShareFile>;

// The server.
struct ShareServer {
  LockMode locks = LockMode::kWork;
  std::int64_t lag_ns = 0;       // for so long a machine believes what it has seen
  bool puts_whole = true;        // it has links
  bool is_calm = false;          // nothing is late any more
  bool had_old_promise = false;  // somebody has seen a lease as it was before
  std::map<std::string, ShareFilePointer> files;
  std::set<std::string> folders{""};
  std::map<std::string, int> held;  // locks, and which machine has each
  std::uint64_t created = 0;
  const SimClock* clock = nullptr;  // that files get their times of; null: that of the machine which writes
};

// A machine that has it mounted: its caches, shared by its processes.
class ShareMachine {
 public:
  // All must outlive it.
  ShareMachine(int number, ShareServer& server, const SimClock& clock, const CasePlan& plan, Dice& dice, CaseLog& log)
      : number_(number), server_(server), clock_(clock), plan_(plan), dice_(dice), log_(log) {}

  int number() const { return number_; }
  ShareServer& server() { return server_; }
  const SimClock& clock() const { return clock_; }
  std::int64_t file_time_ns() const { return (server_.clock == nullptr ? clock_ : *server_.clock).unix_ns(); }
  Dice& dice() { return dice_; }
  bool lags() const { return !server_.is_calm && !plan_.leaves_out(FaultSort::kLag); }
  CaseLog& log() { return log_; }
  const CasePlan& plan() const { return plan_; }

  Result<ShareFilePointer> look_up(const std::string& path);
  std::vector<std::string> list(const std::string& folder);
  // What this machine did itself it sees at once.
  void forget(const std::string& path);
  // Its files' bytes, as it sees them.
  const std::string& bytes_of(const ShareFile& file) const;

 private:
  struct SeenName {
    ShareFilePointer file;  // null: it was not there
    std::int64_t seen_ns = 0;
  };
  struct SeenList {
    std::vector<std::string> names;
    std::int64_t seen_ns = 0;
  };
  Result<ShareFilePointer> look_up_old(const std::string& path, const SeenName& seen, const ShareFilePointer& now);
  bool is_old(std::int64_t seen_ns) const { return clock_.steady_ns() - seen_ns >= server_.lag_ns; }

  const int number_;
  ShareServer& server_;
  const SimClock& clock_;
  const CasePlan& plan_;
  Dice& dice_;
  CaseLog& log_;
  std::map<std::string, SeenName> names_;
  std::map<std::string, SeenList> lists_;
};

// What is written and not with the server yet. Of one file.
class WriteBack {
 public:
  WriteBack(ShareMachine& machine, ShareFilePointer file, std::string path);
  ~WriteBack();

  void append(std::string_view bytes);
  void send_some();  // anything of it, in any order
  void send_all();
  void lose();  // with the machine
  std::size_t bytes() const { return bytes_.size(); }

 private:
  ShareMachine& machine_;
  const ShareFilePointer file_;
  const std::string path_;
  std::string bytes_;
  std::size_t sent_ = 0;  // all before it is with the server
  bool is_lost_ = false;
};

// The storage as one process sees it.
class ShareProcess final : public storage::Storage {
 public:
  // All must outlive it. `reads`: it judges promises by the system's clock.
  ShareProcess(std::string name, ShareMachine& machine, bool reads)
      : machine_(machine),
        fate_(std::make_shared<ProcessFate>(std::move(name), machine.plan(), machine.dice(), machine.log())),
        reads_(reads) {}

  ProcessFate& fate() { return *fate_; }
  const std::string& last_file() const { return *last_file_; }
  void send_some();  // of what it has written
  void lose_with_machine();

  Result<std::unique_ptr<storage::WritableFile>> create(const std::string& path) override;
  Result<std::unique_ptr<storage::ReadableFile>> open(const std::string& path) const override;
  Status put_if_absent(const std::string& path, ByteSpan content) override;
  Status replace(const std::string& path, ByteSpan content) override;
  Result<std::string> read(const std::string& path, std::uint64_t limit_bytes) const override;
  Status create_folder(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) const override;
  Result<std::vector<storage::Entry>> entries(const std::string& path) const override;
  Result<storage::FileInfo> info(const std::string& path) const override;
  bool exists(const std::string& path) const override { return info(path).ok(); }
  Result<std::unique_ptr<storage::Lock>> lock(const std::string& path) override;
  bool locked(const std::string& path) const override;
  std::string describe(const std::string& path) const override { return "share:/" + path; }

 private:
  ShareFilePointer make_file(std::string bytes) const;
  Result<ShareFilePointer> insert(const std::string& path, std::string bytes);
  std::string promise_seen(std::string text) const;

  ShareMachine& machine_;
  const std::shared_ptr<ProcessFate> fate_;
  const bool reads_;
  const std::shared_ptr<std::string> last_file_ = std::make_shared<std::string>();
  std::vector<std::weak_ptr<WriteBack>> written_;
  mutable std::set<std::string> dropped_;  // of a mutation
  std::string own_promise_;                // of another
};

}  // namespace trainwarden::torture
