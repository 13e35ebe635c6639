#include "work/ranks/local_ranks.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"

namespace trainwarden::ranks {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRankLook{50};  // who follows the output waits so long; an end wakes us at once
constexpr const char* kThisMachine = "127.0.0.1";

std::string variable_or(const char* name, const std::string& otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

class RanksRun {
 public:
  RanksRun(const LocalRanks& plan, const RankSurroundings& around) : plan_(plan), around_(around) {}

  Status start() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const int port, free_port());
    RankPlace place;
    place.world_size = place.local_world_size = plan_.count;
    place.master_address = variable_or("MASTER_ADDR", kThisMachine);
    place.master_port = variable_or("MASTER_PORT", std::to_string(port));
    for (std::int64_t rank = 0; rank < plan_.count; ++rank) {
      place.rank = place.local_rank = rank;
      Result<RankProcess> started = RankProcess::start(plan_.program, place, around_);
      if (!started.ok()) {
        kill_all();
        return started.status();
      }
      ranks_.push_back(*std::move(started));
    }
    return {};
  }

  process::ExitRecord wait() {
    const auto began = steady_clock::now();
    while (std::any_of(ranks_.begin(), ranks_.end(), [](const RankProcess& rank) { return rank.runs(); })) {
      hand_on(around_.signals.wait(kRankLook));
      for (RankProcess& rank : ranks_) look_at(rank);
      if (kill_at_ && steady_clock::now() >= *kill_at_) kill_all();
    }
    process::ExitRecord end = first_failure_.value_or(process::ExitRecord{process::ExitRecord::How::kExited});
    end.wall = steady_clock::now() - began;
    return end;
  }

 private:
  void hand_on(std::optional<process::ReceivedSignal> received) {
    if (!received || received->number == SIGCHLD) return;
    asked_to_end_ = asked_to_end_ || (received->number != SIGUSR1 && received->number != SIGUSR2);
    send(received->number);
  }

  void send(int signal_number) {
    for (RankProcess& rank : ranks_) rank.child().send(signal_number);
  }

  void kill_all() {
    for (RankProcess& rank : ranks_) rank.child().kill_group();
    for (RankProcess& rank : ranks_) rank.print_new();
  }

  void look_at(RankProcess& rank) {
    if (!rank.runs()) return;
    rank.print_new();
    const process::ExitRecord* const end = rank.try_end();
    if (end == nullptr || !has_failed(*end) || first_failure_) return;
    first_failure_ = *end;
    if (asked_to_end_) return;
    if (const Status recorded = rank.record_failure(*end); !recorded.ok()) {
      log(LogLevel::kWarning, "rank {} failed, which cannot be recorded: {}", rank.rank(), recorded.message());
    }
    send(SIGTERM);
    kill_at_ = steady_clock::now() +
               std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(plan_.grace_seconds));
  }

  const LocalRanks& plan_;
  const RankSurroundings& around_;
  std::vector<RankProcess> ranks_;
  std::optional<process::ExitRecord> first_failure_;
  std::optional<steady_clock::time_point> kill_at_;  // what the failure of a rank has left running
  bool asked_to_end_ = false;
};

}  // namespace

std::vector<std::string> local_ranks_command(const std::string& trainwarden, const jobs::Resources& resources,
                                             double grace_seconds, const std::vector<std::string>& program) {
  std::vector<std::string> words = {trainwarden,
                                    "job",
                                    "ranks",
                                    fmt::format("--count={}", rank_count(resources)),
                                    fmt::format("--grace={}", grace_seconds),
                                    "--"};
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

Result<process::ExitRecord> run_local_ranks(const LocalRanks& plan, const RankSurroundings& surroundings) {
  RanksRun run(plan, surroundings);
  TRAINWARDEN_RETURN_IF_ERROR(run.start());
  return run.wait();
}

}  // namespace trainwarden::ranks
