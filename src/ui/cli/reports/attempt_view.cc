#include "ui/cli/reports/attempt_view.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "ui/cli/terminal/time_text.h"
#include "work/ranks/rank_binding.h"

namespace trainwarden::cli {
namespace {

template <class Content>
OrderedJson content_or_null(const std::optional<Content>& content) {
  return content ? OrderedJson(*content) : OrderedJson(nullptr);
}

OrderedJson words_or_null(const std::string& text) {
  return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
}

std::string allocation_text(const jobs::Allocation& allocation) {
  std::vector<std::string> parts;
  if (allocation.cpus) parts.push_back(fmt::format("processors {}", fmt::join(*allocation.cpus, ",")));
  if (allocation.gpus && !allocation.gpus->empty()) {
    parts.push_back(fmt::format("GPUs {}", fmt::join(*allocation.gpus, ",")));
  }
  return parts.empty() ? "what the machine has" : fmt::format("{}", fmt::join(parts, "; "));
}

std::string use_text(const jobs::JobExit& exit) {
  std::vector<std::string> parts;
  if (exit.cpu_ns) parts.push_back(fmt::format("{} of processors", format_duration_ns(*exit.cpu_ns)));
  if (exit.peak_memory_bytes) parts.push_back(fmt::format("{} at its peak", format_bytes(*exit.peak_memory_bytes)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string binding_text(const jobs::AttemptSetup& setup) {
  std::vector<std::string> ranks;
  for (std::size_t rank = 0; rank < setup.rank_cpus.size(); ++rank) {
    const std::vector<int>& cpus = setup.rank_cpus[rank];
    if (!cpus.empty()) ranks.push_back(fmt::format("rank {} to {}", rank, fmt::join(cpus, ",")));
  }
  return fmt::format("{}", fmt::join(ranks, "; "));
}

std::string image_text(const jobs::AttemptContainer& container) {
  const std::string digest = container.digest.empty() ? "" : ", " + container.digest;
  return fmt::format("{}{}, by {}", container.image, digest, container.engine);
}

OrderedJson container_json(const jobs::AttemptContainer& container) {
  return {{"engine", container.engine},
          {"image", container.image},
          {"digest", words_or_null(container.digest)},
          {"limits_memory", container.limits_memory}};
}

OrderedJson given_json(const jobs::Allocation& allocation) {
  return {{"cpus", content_or_null(allocation.cpus)},
          {"gpus", content_or_null(allocation.gpus)},
          {"memory_bytes", allocation.memory_bytes}};
}

OrderedJson setup_json(const jobs::AttemptSetup& setup) {
  return {{"control_group", words_or_null(setup.control_group)},
          {"memory", words_or_null(setup.memory)},
          {"rank_cpus", setup.rank_cpus}};
}

OrderedJson attempt_end_json(const jobs::JobExit& exit) {
  return {{"rank", content_or_null(exit.rank)},      {"code", content_or_null(exit.code)},
          {"signal", content_or_null(exit.signal)},  {"wall_ns", exit.wall_ns},
          {"stopped_by_rule", exit.stopped_by_rule}, {"killed", exit.killed},
          {"out_of_memory", exit.out_of_memory},     {"peak_memory_bytes", content_or_null(exit.peak_memory_bytes)},
          {"cpu_ns", content_or_null(exit.cpu_ns)}};
}

}  // namespace

Result<AttemptFacts> read_attempt(const jobs::JobRecord& job, int attempt) {
  AttemptFacts facts;
  facts.attempt = attempt;
  TRAINWARDEN_ASSIGN_OR_RETURN(facts.allocation, job.read_allocation(attempt));
  TRAINWARDEN_ASSIGN_OR_RETURN(facts.setup, job.read_setup(attempt));
  if (facts.setup && facts.setup->rank_cpus.empty()) {  // ranks of several nodes have each written their own
    TRAINWARDEN_ASSIGN_OR_RETURN(facts.setup->rank_cpus, ranks::read_rank_cpus(job, attempt));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(facts.container, job.read_container(attempt));
  TRAINWARDEN_ASSIGN_OR_RETURN(facts.exit, job.read_exit(attempt));
  return facts;
}

std::string attempt_text(const AttemptFacts& facts) {
  std::string text;
  const auto add = [&text](std::string_view title, const std::string& what) {
    if (!what.empty()) text += fmt::format("  {:<7} {}\n", title, printable(what));
  };
  if (facts.allocation) add("got", allocation_text(*facts.allocation));
  const bool engine_limits = facts.container && facts.container->limits_memory;
  if (engine_limits && facts.allocation) {
    add("memory", fmt::format("{} at most: {}", format_bytes(facts.allocation->memory_bytes), facts.container->engine));
  } else if (facts.setup) {
    add("memory", facts.setup->memory);
  }
  if (facts.setup) add("bound", binding_text(*facts.setup));
  if (facts.container) add("image", image_text(*facts.container));
  if (facts.exit) add("took", use_text(*facts.exit));
  return text;
}

OrderedJson attempt_json(const AttemptFacts& facts) {
  return {{"allocation", facts.allocation ? given_json(*facts.allocation) : OrderedJson(nullptr)},
          {"setup", facts.setup ? setup_json(*facts.setup) : OrderedJson(nullptr)},
          {"container", facts.container ? container_json(*facts.container) : OrderedJson(nullptr)},
          {"exit", facts.exit ? attempt_end_json(*facts.exit) : OrderedJson(nullptr)}};
}

}  // namespace trainwarden::cli
