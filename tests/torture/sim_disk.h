// SimDisk: the disk of a machine whose power may go. It knows what the running system shows, and what of it is on the
// medium: bytes that were synced, names of files whose folder was.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "case_plan.h"
#include "dice.h"
#include "sim_clock.h"
#include "trainwarden/status.h"

namespace trainwarden::torture {

struct SimFile {
  std::string bytes;
  std::size_t synced_bytes = 0;
  std::uint64_t identity = 0;
  std::int64_t changed_unix_ns = 0;
};
using SimFilePointer = std::shared_ptr<SimFile>;

class SimDisk {
 public:
  static constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();
  using Names = std::map<std::string, SimFilePointer>;

  SimDisk(const CasePlan& plan, const SimClock& clock, Dice& dice, CaseLog& log)
      : plan_(plan), clock_(clock), dice_(dice), log_(log) {}

  // kNotFound, kAlreadyExists as Storage.
  Result<SimFilePointer> find(const std::string& path) const;
  Result<SimFilePointer> insert(const std::string& path, std::string bytes);
  Status create_folder(const std::string& path);
  bool has_folder(const std::string& path) const { return folders_.contains(path); }
  const Names& files() const { return files_; }
  const std::set<std::string>& folders() const { return folders_; }

  // Appends up to the room that is left; returns how much that was.
  std::size_t append(SimFile& file, std::string_view bytes);
  void sync_bytes(SimFile& file) { file.synced_bytes = file.bytes.size(); }
  void sync_name(const std::string& path);
  // In place of what has this name, which stays with who has it open. On the medium when the system gets to it.
  Status replace(const std::string& path, std::string bytes);

  void set_room(std::uint64_t bytes) { room_ = bytes; }
  std::uint64_t room() const { return room_; }

  // The machine stops. Of what was not synced, anything may be left: names without bytes, lengths without contents, the
  // later without the earlier.
  void lose_power();

  // Locks of processes: who frees one does so in the table that it took it from.
  const std::shared_ptr<std::set<std::string>>& locks() const { return locks_; }

 private:
  SimFilePointer make_file(std::string bytes);
  SimFilePointer survivor(const std::string& path, const SimFilePointer& shown, const SimFilePointer& kept);
  void cut(const std::string& path, SimFile& file);

  const CasePlan& plan_;
  const SimClock& clock_;
  Dice& dice_;
  CaseLog& log_;
  Names files_;
  Names kept_files_;  // on the medium
  std::set<std::string> folders_{""};
  std::uint64_t room_ = kEndless;
  std::uint64_t created_ = 0;
  std::shared_ptr<std::set<std::string>> locks_ = std::make_shared<std::set<std::string>>();
};

}  // namespace trainwarden::torture
