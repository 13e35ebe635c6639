// SimProcess: the storage as one process of a simulated machine sees it. It may be killed at each of its calls, before,
// in the midst of or after what the call does; and any call may fail.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "case_plan.h"
#include "dice.h"
#include "sim_clock.h"
#include "sim_disk.h"
#include "store/storage/storage.h"

namespace trainwarden::torture {

// What happens to a call.
enum class Turn { kWorks, kFails, kFailsAfter, kDiesBefore, kDiesWithin, kDiesAfter, kDead };

// Which calls of a process fail; shared with its files.
class ProcessFate {
 public:
  ProcessFate(std::string name, const CasePlan& plan, Dice& dice, CaseLog& log)
      : name_(std::move(name)), plan_(plan), dice_(dice), log_(log) {}

  // It dies at its `calls`-th call from now on, from 0.
  void kill_at(std::int64_t calls) { die_at_ = calls_ + calls; }
  // Its `calls`-th writing (or reading) call from now on fails.
  void fail_write_at(std::int64_t calls, Code code) { fail_write_at_ = writes_ + calls, code_ = code; }
  void fail_read_at(std::int64_t calls) { fail_read_at_ = reads_ + calls; }
  void fail_sync() { fails_sync_ = true; }
  void spare() { fail_write_at_ = fail_read_at_ = die_at_ = -1, fails_sync_ = false; }  // what is armed is forgotten
  void die() { is_dead_ = true; }
  // The file that was synced last; empty: none since it was taken.
  std::string take_synced_file() { return std::exchange(synced_file_, {}); }
  void note_synced(const std::string& path) { synced_file_ = path; }

  enum class Sort { kReads, kWrites, kSyncs };
  Turn next(Sort sort, std::string_view call, const std::string& path);
  // `effect` does what the call does.
  template <class Answer, class Effect>
  Answer perform(Sort sort, std::string_view call, const std::string& path, const Effect& effect) {
    const Turn turn = next(sort, call, path);
    if (turn == Turn::kDead || turn == Turn::kDiesBefore) return death();
    if (turn == Turn::kFails) return failure(call, path);
    Answer answer = effect();
    if (turn == Turn::kDiesWithin || turn == Turn::kDiesAfter) return death();
    return turn == Turn::kFailsAfter ? Answer(failure(call, path)) : std::move(answer);
  }
  bool is_dead() const { return is_dead_; }
  Status failure(std::string_view call, const std::string& path) const;
  Status death() const { return Status(Code::kCancelled, name_ + " was killed"); }
  const CasePlan& plan() const { return plan_; }
  Dice& dice() { return dice_; }
  CaseLog& log() { return log_; }
  bool mutated(Mutation mutation) const { return plan_.mutation == mutation; }
  const std::string& name() const { return name_; }

 private:
  std::optional<Turn> death_at_this_call(std::string_view call, const std::string& path);
  bool fails_now(Sort sort);

  const std::string name_;
  const CasePlan& plan_;
  Dice& dice_;
  CaseLog& log_;
  std::int64_t calls_ = 0, writes_ = 0, reads_ = 0;
  std::int64_t die_at_ = -1, fail_write_at_ = -1, fail_read_at_ = -1;
  bool fails_sync_ = false;
  Code code_ = Code::kUnavailable;
  bool is_dead_ = false;
  std::string synced_file_;
};

class SimProcess : public storage::Storage {
 public:
  // All must outlive it.
  SimProcess(std::string name, SimDisk& disk, const SimClock& clock, const CasePlan& plan, Dice& dice, CaseLog& log)
      : disk_(disk), clock_(clock), fate_(std::make_shared<ProcessFate>(std::move(name), plan, dice, log)) {}

  ProcessFate& fate() { return *fate_; }
  // Where the last append of this process went.
  const std::string& last_file() const { return *last_file_; }
  // Times of promises are told as the machine's clock has them, which is not that of this program: who judges them by
  // the system's clock comes to the same end.
  void use_system_time() { uses_system_time_ = true; }

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
  bool locked(const std::string& path) const override { return disk_.locks()->contains(path); }
  std::string describe(const std::string& path) const override { return "disk:/" + path; }

 protected:
  SimDisk& disk() const { return disk_; }
  const SimClock& clock() const { return clock_; }
  const std::shared_ptr<ProcessFate>& shared_fate() const { return fate_; }
  template <class Answer, class Effect>
  Answer perform(ProcessFate::Sort sort, std::string_view call, const std::string& path, const Effect& effect) const {
    return fate_->perform<Answer>(sort, call, path, effect);
  }

 private:
  SimDisk& disk_;
  const SimClock& clock_;
  const std::shared_ptr<ProcessFate> fate_;
  const std::shared_ptr<std::string> last_file_ = std::make_shared<std::string>();
  bool uses_system_time_ = false;
  mutable std::map<std::string, std::vector<std::string>> first_listings_;  // of a mutation
};

// The promise of a lease with its times as the system's clock would have them.
std::string in_system_time(std::string text, const SimClock& clock);

// The names directly in a folder, of these files and folders.
std::vector<std::string> names_in(const std::string& folder, const SimDisk::Names& files,
                                  const std::set<std::string>& folders);

}  // namespace trainwarden::torture
