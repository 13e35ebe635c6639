// System usage: how much of a machine was in use while a training ran on it, from what its sampler has read: counters
// become rates, and amounts shares where it is known of how much.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "read/trial/sampled_journal.h"
#include "trainwarden/metric.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::profile {

// What is shown of a machine, in its order. `name` is for programs, `label` for people; a "*" in `of` is the part of
// the machine that it is about: which processor, disk, interface.
struct UsageKind {
  std::string_view name;      // "cpu"
  std::string_view label;     // "processors"
  std::string_view unit;      // "%", "bytes/s", "bytes", "processors", "watts"
  std::string_view of;        // metrics whose sum it is: "tree.cpu.user+tree.cpu.system"
  std::string_view share_of;  // a gauge that it is a share of; empty: of nothing
  double scale = 1;           // of the value; 100 for shares
  // The same as a share already, which another program sampled (docs/reference/export.md); where nobody sampled `of`.
  std::string_view ratio = {};
};
std::span<const UsageKind> usage_kinds();

struct UsageSeries {
  const UsageKind* kind = nullptr;
  std::string part;      // "3", "sda"; empty: of the whole
  std::string instance;  // host, process or device: "node7", "GPU-0"
  std::string worker;    // whose journal it is from: "machine-0"
  std::vector<Sample> samples;
};

struct UsageQuestion {
  std::vector<std::string> kinds;  // names; none: all
  std::int64_t from_unix_ns = 0;
  std::int64_t to_unix_ns = std::numeric_limits<std::int64_t>::max();
  bool parts = true;  // also each processor, disk and interface
};

// By kind, machine, instance and part. What was not sampled is not there. Errors as Trial::samples(); kInvalidArgument
// for a kind that there is not.
Result<std::vector<UsageSeries>> system_usage(Trial& trial, const UsageQuestion& question = {});

// Where several samplers have sampled one machine, as one: what a later one has outside of the time of the first is
// added to it. Gives how many series were there twice.
std::size_t merge_machines(std::vector<UsageSeries>& usage);

// The usage of a run that grows: what is new, read once.
class UsageFollower {
 public:
  // With the samples that are new; several times for one series.
  using UsageVisitor = std::function<void(const UsageSeries&)>;
  // Samples that come late, before others of their metric, are left out. Errors as system_usage().
  Status refresh(Trial& trial, const UsageVisitor& visit);

 private:
  struct Followed {
    std::size_t frames = 0;                                            // that were read
    std::map<std::tuple<std::string, int, std::string>, Sample> last;  // of each metric: name, source, instance
  };
  Status read_on(trial::SampledJournal& journal, std::span<const UsageKind* const> kinds,
                 const journal::SampleQuery& query, Followed& followed, const UsageVisitor& visit);

  std::map<std::string, Followed> journals_;
};

// The means of `count` stretches of the same length between the times; those without a sample are left out. At the
// middle of each.
std::vector<Sample> means_of(std::span<const Sample> samples, std::int64_t from_unix_ns, std::int64_t to_unix_ns,
                             std::size_t count);

}  // namespace trainwarden::profile
