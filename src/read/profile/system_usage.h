// System usage: how much of a machine was in use while a training ran on it, from what its sampler has read: counters
// become rates, and amounts shares where it is known of how much.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// The means of `count` stretches of the same length between the times; those without a sample are left out. At the
// middle of each.
std::vector<Sample> means_of(std::span<const Sample> samples, std::int64_t from_unix_ns, std::int64_t to_unix_ns,
                             std::size_t count);

}  // namespace trainwarden::profile
