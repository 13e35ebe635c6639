// What a case is: its kind, its seed, and what of it is switched off to find the shortest story.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "case_log.h"

namespace trainwarden::torture {

enum class Kind : std::uint8_t { kKill, kPower, kFull, kShared, kBucket, kMirror, kClock, kListing, kCount };
std::string_view name(Kind kind);
std::optional<Kind> kind_of(std::string_view name);

// Faults that are put into the storage on purpose, to see that they are found. Each stands for a mistake that a store
// could make.
enum class Mutation : std::uint8_t {
  kNone,
  kSyncDoesNothing,    // sync() returns ok and nothing is on the medium
  kSyncForgetsName,    // the bytes are, the name of the file is not
  kEarlyAnswer,        // an append is acknowledged, and written with the next one
  kHalfWritten,        // the second half of an append is left out
  kAppendTwice,        // a try again writes what was written already
  kLastRecordDropped,  // who reads takes the last whole record for torn
  kOldListing,         // who reads believes the first listing for ever
  kZerosRead,          // who reads gets zeros where bytes are
  kTwoLocks,           // a lock is given to everybody
  kNameNotKept,        // a file that was put is gone after a power loss
  kErrorSwallowed,     // an append that failed is called done
  kRequestDropped,     // what was asked for is read once, and taken for nothing when it was not whole
  kPieceTwice,         // a bucket gets a piece of a file under two numbers
  kPieceSkipped,       // the mirror believes a piece sent whose answer was an error
  kPromiseAlone,       // who is alive is judged by the clock of one machine
  kBlindBeat,          // a beat does not look whether another has taken the lease over
  kListBelieved,       // the mirror goes on from where an old list ends
  kCount,
};
std::string_view name(Mutation mutation);
std::optional<Mutation> mutation_of(std::string_view name);
Kind kind_that_finds(Mutation mutation);

struct CasePlan {
  Kind kind = Kind::kKill;
  std::uint64_t seed = 0;
  Mutation mutation = Mutation::kNone;
  int most_actions = std::numeric_limits<int>::max();
  std::uint32_t without = 0;  // a bit for each FaultSort that is left out
  bool leaves_out(FaultSort sort) const { return (without >> static_cast<unsigned>(sort) & 1) != 0; }
};

// Plays the case of the plan into the log.
void play(const CasePlan& plan, CaseLog& log);

}  // namespace trainwarden::torture
