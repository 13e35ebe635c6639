// Moments: what a machine's sampler has read, half second by half second, of one machine at a time.
//
// The rules of SageMaker Debugger count samples of 500 ms, and compare what was sampled within 20 ms. Samplers here
// tick at any rate, and those of processors and of GPUs at rates of their own. So each sample holds for the time since
// the one before it (a counter as its rise over that time), and a moment has the mean of what holds in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

inline constexpr std::int64_t kMomentNs = 500'000'000;
inline constexpr double kMomentsASecond = 2;

// The value of one metric in a moment. A counter's is a rate, in its unit a second.
struct MomentValue {
  std::size_t role = 0;   // which of the reader's names it is
  std::string_view part;  // what stands for the "*" in it: a processor, a disk; of a device or process its instance
  double value = 0;
};

// Valid while it is visited.
struct Moment {
  const std::string& node;  // the machine
  std::int64_t from_unix_ns = 0;
  std::span<const MomentValue> values;  // by role, then by part; what was not sampled is not there

  std::optional<double> first(std::size_t role) const;    // of the role's first part
  std::optional<double> highest(std::size_t role) const;  // of its parts
  std::optional<double> mean(std::size_t role) const;
  std::span<const MomentValue> all(std::size_t role) const;
};

// Reads windows, which come in the order of time. A machine is what has one host's name: several samplers may have
// written of it, one after the other. Bounded: kMaxMetrics metrics, and of each what lies less than kLongestGapNs back.
class MomentReader {
 public:
  static constexpr std::size_t kMaxMetrics = 8192;
  // After a longer silence of a metric it is not known what was in between.
  static constexpr std::int64_t kLongestGapNs = 65'000'000'000;
  // One that is so much later than it was before comes no more: a process that ended.
  static constexpr std::int64_t kLateNs = 3'000'000'000;

  using Visit = std::function<void(const Moment&)>;

  // Names of metrics, each with one "*" at most. It is asked every `cadence_ns`.
  MomentReader(std::vector<std::string> roles, std::int64_t cadence_ns);

  TimeSchedule schedule() const;
  // Visits the moments of which all is known now: of each machine in the order of time.
  void take(const TimeWindow& window, const Visit& visit);

 private:
  struct Track {
    std::size_t role = 0;
    std::string part;
    bool counter = false;
    std::optional<Sample> last{};
    std::int64_t gap_ns = 0;  // between its last two samples
  };
  struct Held {
    double sum = 0;  // value × seconds
    double seconds = 0;
  };
  struct Node {
    std::map<std::pair<std::size_t, std::string>, Track> tracks;   // by role and part
    std::map<std::int64_t, std::map<const Track*, Held>> moments;  // by number
    std::int64_t visited = -1;                                     // the last number
    std::int64_t newest_unix_ns = 0;
  };

  std::string node_of(const TimeWindow& window, const MetricSeries& series);
  Track* track_of(Node& node, const MetricSeries& series);
  static void take_sample(Node& node, Track& track, const Sample& sample);
  static void hold(Node& node, const Track& track, std::int64_t from_unix_ns, std::int64_t to_unix_ns, double value);
  static std::int64_t known_until(const Node& node, bool last);
  void visit_known(const std::string& name, Node& node, bool last, const Visit& visit) const;

  const std::vector<std::string> roles_;
  const std::int64_t cadence_ns_;
  std::size_t metrics_ = 0;
  std::map<std::string, std::string> hosts_;  // by journal
  std::map<std::string, Node> nodes_;
};

// Has the run ended, and is this the last of its windows? That one ends behind the last sample.
bool is_last_window(const TimeWindow& window);

// How much must be known before a rule says something: `patience` moments; at the end of a run that was shorter, a few.
struct Patience {
  static constexpr std::size_t kFewestAtEnd = 8;
  std::size_t moments = 0;
  bool is_over(std::size_t known, bool run_ended) const {
    return known > moments || (run_ended && known >= kFewestAtEnd);
  }
};
// "12.5 s of 50 s".
std::string known_text(std::size_t known, const Patience& patience);

// A parameter that all of these rules have: how often they are asked, in microseconds.
RuleParameter scan_interval_parameter();

}  // namespace trainwarden::rules
