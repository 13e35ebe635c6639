// RunStatus: where a run stands, in the words of SageMaker's training jobs, and the one function by which it changes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainwarden::events {

enum class PrimaryStatus : std::uint8_t { kInProgress, kCompleted, kFailed, kStopping, kStopped };
enum class SecondaryStatus : std::uint8_t {
  kStarting,  // the run is there, no step has ended yet
  kTraining,
  kInterrupted,  // the training died without a word, and whoever started it has not given it up
  kRestarting,   // another process goes on with it
  kStopping,
  kCompleted,
  kFailed,
  kStopped,
};
inline constexpr std::array kSecondaryStatuses = {SecondaryStatus::kStarting,    SecondaryStatus::kTraining,
                                                  SecondaryStatus::kInterrupted, SecondaryStatus::kRestarting,
                                                  SecondaryStatus::kStopping,    SecondaryStatus::kCompleted,
                                                  SecondaryStatus::kFailed,      SecondaryStatus::kStopped};
std::string_view name(PrimaryStatus status);                             // "InProgress"
std::string_view name(SecondaryStatus status);                           // "Training"
std::optional<SecondaryStatus> secondary_status(std::string_view name);  // none: no such word
PrimaryStatus primary_of(SecondaryStatus status);
bool is_terminal(SecondaryStatus status);  // Completed, Failed, Stopped

// One line of the table.
struct RunTransition {
  SecondaryStatus status = SecondaryStatus::kStarting;
  std::int64_t start_unix_ns = 0;
  std::int64_t end_unix_ns = 0;  // 0: it still holds
  std::string message;           // why, for people: who asked for the stop, which signal ended it
};

// May `to` follow `from`? What has ended, in whatever way, may be followed by Restarting alone: another process goes on
// with the run.
bool may_follow(SecondaryStatus from, SecondaryStatus to);

// The table of a run, which only ever grows at its end.
class RunTable {
 public:
  // False, and nothing happens, when it is there already or may not follow. The first is Starting. A time before that
  // of the last line becomes that one.
  bool advance(SecondaryStatus to, std::int64_t unix_ns, std::string message);
  const std::vector<RunTransition>& transitions() const { return transitions_; }
  bool empty() const { return transitions_.empty(); }
  SecondaryStatus status() const { return transitions_.back().status; }  // not when empty
  int attempt() const;                                                   // 1, and one more for each Restarting

 private:
  std::vector<RunTransition> transitions_;
};

}  // namespace trainwarden::events
