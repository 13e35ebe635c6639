// StudyLog: the events of a study as they lie in its folder.
//
//   log/00000001.json       what happened together: {"events": [...]}; appears whole, and whoever makes the next number
//                           has made it
//   log/pack-00001000.json  the thousand entries up to that one in one file, which saves time; made by anybody
//
// Nothing is ever changed. Many processes may write, on any storage that can create a file that is not there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "tune/study/study_event.h"

namespace trainwarden::tune {

inline constexpr std::int64_t kEntriesOfPack = 1000;

// One thread at a time.
class StudyLog {
 public:
  explicit StudyLog(storage::Location place) : place_(std::move(place)) {}

  // Gives each event that is new since the last call to `take`, in order. A damaged entry is counted and left out.
  Status read_new(const std::function<void(const StudyEvent&)>& take);
  // kAborted when another process was faster: read what is new and decide again.
  Status append(const std::vector<StudyEvent>& events);
  std::int64_t entries() const { return read_; }
  std::int64_t damaged() const { return damaged_; }

 private:
  Status read_pack(const std::function<void(const StudyEvent&)>& take, bool& was_there);
  void take_text(std::string_view text, const std::string& path, const std::function<void(const StudyEvent&)>& take);
  void try_pack();

  storage::Location place_;
  std::int64_t read_ = 0;  // entries
  std::int64_t damaged_ = 0;
};

}  // namespace trainwarden::tune
