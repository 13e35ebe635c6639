// TopFacts: what `trainwarden top` shows of a run, gathered bit by bit while the run is written.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/rules/verdict_record.h"
#include "trainwarden/statistics.h"
#include "trainwarden/trial.h"
#include "ui/cli/reports/process_use.h"
#include "ui/cli/terminal/chart.h"
#include "ui/views/event_log.h"

namespace trainwarden::cli {

struct LossFacts {
  std::string name;
  std::vector<ChartPoint> points;  // by global step; of many, every second was left out, again and again
  double last = 0;
  std::int64_t last_step = -1;   // global
  std::optional<double> lowest;  // none: no number yet that is finite
};

// Of all tensors of a collection whose statistics were kept at their newest step.
struct HealthFacts {
  std::string collection;
  std::size_t tensors = 0;   // looked at
  std::size_t left_out = 0;  // beyond the limit
  std::int64_t step = -1;    // the newest, global
  std::uint64_t nan_count = 0;
  std::uint64_t inf_count = 0;
  std::uint64_t zero_count = 0;
  std::uint64_t count = 0;
  double largest = 0;        // |x|
  std::string largest_name;  // of the tensor that has it
};

struct RuleLine {
  std::string id;
  RuleStatus status = RuleStatus::kInProgress;
  std::string words;  // what its newest verdict says
};

struct TopFacts {
  std::string run;
  std::string state;  // "running", "failed"
  bool running = false;
  std::int64_t created_unix_ns = 0;
  std::int64_t last_unix_ns = 0;
  std::int64_t now_unix_ns = 0;
  std::string place;                  // "step 120 (train 100)"
  std::int64_t done_steps = 0;        // of mode train, or all when no mode is set
  std::optional<std::int64_t> total;  // of them: what a label of the run says, such as total_steps
  double steps_per_second = 0;        // of them; 0: not known
  std::vector<LossFacts> losses;
  std::vector<RuleLine> rules;
  std::vector<HealthFacts> health;
  std::optional<ProcessUse> process;  // of the training, when it runs on this machine
  std::string process_note;           // why there is none
  std::vector<std::string> events;    // the newest last
  double capture_share = -1;          // of the training's time; -1: no bill yet
  std::string machine;                // now_view.h: what is in use of it; "" when it is not sampled
  std::string phases;                 // of the last steps

  std::optional<std::int64_t> eta_seconds() const;
};

// Gathers the facts of one run. One thread.
class TopGatherer {
 public:
  static Result<std::unique_ptr<TopGatherer>> open(const std::filesystem::path& run);

  // Takes in what was written since. Cheap when nothing was.
  Status refresh();
  const TopFacts& facts() const { return facts_; }

 private:
  TopGatherer(std::unique_ptr<Trial> trial, std::unique_ptr<views::EventLog> log);

  void gather_progress();
  void gather_losses();
  void gather_loss(const std::string& name);
  void gather_health();
  HealthFacts health_of(const std::string& collection) const;
  Status gather_rules();
  Status gather_events();
  void gather_process();

  std::unique_ptr<Trial> trial_;
  std::unique_ptr<views::EventLog> log_;
  TopFacts facts_;
  std::map<std::string, std::int64_t> losses_seen_;           // the newest step that is in facts_, by name
  std::deque<std::pair<std::int64_t, std::int64_t>> recent_;  // steps done and when, of the last seconds
  std::int64_t slow_look_ns_ = 0;                             // when what is expensive was last looked at
  std::int64_t health_step_ = -1;
  std::size_t events_told_ = 0;
  ProcessMeter meter_;
};

}  // namespace trainwarden::cli
