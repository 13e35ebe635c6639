// Figures of the delivery: what an event costs on its way from the ledger through a courier to an action that does
// nothing, with both records of the attempt; and to a handler of the user's that is ready for it.
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench.h"
#include "react/actions/exec_action.h"
#include "react/delivery/courier.h"
#include "react/events/ledger.h"
#include "store/storage/local_storage.h"
#include "temporary_folder.h"

namespace trainwarden::bench {
namespace {

constexpr int kRounds = 9;
constexpr int kEvents = 1'000;
constexpr std::size_t kMany = delivery::kMaxSubscriptions;
constexpr std::chrono::minutes kLongEnough{5};

class NoAction final : public actions::Action {
 public:
  std::string_view name() const override { return "nothing"; }
  std::string place() const override { return {}; }
  actions::ActionOutcome run(const actions::EventNotice& notice, std::stop_token) override {
    keep(notice);
    return actions::ActionOutcome::done();
  }
};

journal::RunInfo run_info() {
  journal::RunInfo info;
  info.id = "00112233445566778899aabbccddeeff";
  return info;
}

// About 2 KiB as a document.
events::Event event_of(int step) {
  events::Event event;
  event.key = fmt::format("vanishinggradient-{}", step);
  event.type = events::kAlertType;
  event.subject = "VanishingGradient";
  event.source = "/trainwarden/node7/runs/demo";
  event.unix_ns = 1'700'000'000'000'000'000 + step;
  event.change = {events::ChangeKind::kAlert, "VanishingGradient", "", ""};
  event.global_step = step;
  event.headline = fmt::format("VanishingGradient fired at step {}", step);
  event.data = {{"TrainingJobName", "demo"}, {"TrainingJobStatus", "InProgress"}};
  for (int rule = 0; rule < 10; ++rule) {
    event.data["DebugRuleEvaluationStatuses"].push_back({{"RuleConfigurationName", fmt::format("Rule{}", rule)},
                                                         {"RuleEvaluationStatus", "InProgress"},
                                                         {"StatusDetails", std::string(60, 'x')},
                                                         {"LastModifiedTime", 1'700'000'000'000}});
  }
  return event;
}

// Nanoseconds of one delivery, when `subscribers` get each event.
double one_delivery_ns(events::Ledger& ledger, std::size_t subscribers) {
  std::vector<delivery::Subscription> subscriptions;
  for (std::size_t i = 0; i < subscribers; ++i) {
    auto pattern =
        match::Pattern::parse(R"({"data": {"change": {"rule": [{"equals-ignore-case": "vanishinggradient"}]}}})");
    if (!pattern.ok()) throw std::runtime_error(pattern.status().to_string());
    subscriptions.push_back(
        {.name = fmt::format("s{}", i), .pattern = *std::move(pattern), .action = std::make_unique<NoAction>()});
  }
  for (int step = 0; step < kEvents; ++step) ledger.append(event_of(step));
  const double ns = elapsed_ns([&] {
    delivery::Courier courier(ledger, std::move(subscriptions), {.run_name = "demo"});
    if (!courier.drain(kLongEnough)) throw std::runtime_error("the courier did not deliver in five minutes");
  });
  return ns / (static_cast<double>(kEvents) * static_cast<double>(subscribers));
}

double on_disk_ns(std::size_t subscribers) {
  const TemporaryFolder folder;
  const auto storage = storage::open_local_storage(folder.path());
  auto ledger = events::Ledger::open(*storage, system_clock(), run_info());
  if (!ledger.ok()) throw std::runtime_error(ledger.status().to_string());
  return one_delivery_ns(**ledger, subscribers);
}

double in_memory_ns(std::size_t subscribers) {
  return one_delivery_ns(*events::Ledger::in_memory(system_clock(), run_info()), subscribers);
}

Spread in_us(const Spread& ns) {
  return {ns.low / 1e3, ns.median / 1e3, ns.high / 1e3};
}

Result<std::vector<Figure>> delivery_us() {
  const PairedRuns runs = measure_interleaved(
      kRounds, std::vector<std::function<double()>>{[] { return on_disk_ns(1); }, [] { return in_memory_ns(1); },
                                                    [] { return on_disk_ns(kMany); }});
  const std::string name = "events.delivery_us";
  return std::vector<Figure>{
      {name, in_us(runs.ns(0)), "us", at_most(1'000),
       fmt::format("{} events of about 2 KiB, one subscriber; two records are appended to a file for each", kEvents)},
      {name + ".in_memory", in_us(runs.ns(1)), "us", Goal{}, "the same without the file"},
      {name + fmt::format(".{}_subscribers", kMany), in_us(runs.ns(2)), "us", Goal{},
       "of one of the deliveries; the events are matched once for all, and the ledger takes one record at a time"},
  };
}

constexpr int kHandledEvents = 20;
// Answers each line; one that is started for an event finds no more than that.
constexpr const char* kHandler = "import sys\nfor line in sys.stdin: print('{\"exit_code\": 0}', flush=True)";

// Nanoseconds from an event in the ledger to the handler's answer: each event comes when the one before is done.
double handled_ns(bool keep) {
  const auto ledger = events::Ledger::in_memory(system_clock(), run_info());
  actions::ExecOptions options;
  options.command = {"/usr/bin/python3", "-c", kHandler};
  options.keep = keep;
  auto pattern = match::Pattern::parse(R"({"subject": ["VanishingGradient"]})");
  if (!pattern.ok()) throw std::runtime_error(pattern.status().to_string());
  std::vector<delivery::Subscription> subscriptions;
  subscriptions.push_back({.name = "handler",
                           .pattern = *std::move(pattern),
                           .action = actions::make_exec_action(std::move(options), {.name = "demo"})});
  delivery::Courier courier(*ledger, std::move(subscriptions), {.run_name = "demo"});
  const auto handle = [&](int step) {
    ledger->append(event_of(step));
    if (!courier.drain(kLongEnough) || courier.backlog().dead > 0) throw std::runtime_error("the handler has failed");
  };
  handle(0);
  const double ns = elapsed_ns([&] {
    for (int step = 1; step <= kHandledEvents; ++step) handle(step);
  });
  return ns / kHandledEvents;
}

Spread in_ms(const Spread& ns) {
  return {ns.low / 1e6, ns.median / 1e6, ns.high / 1e6};
}

Result<std::vector<Figure>> exec_ready_ms() {
  const PairedRuns runs = measure_interleaved(
      5, std::vector<std::function<double()>>{[] { return handled_ns(true); }, [] { return handled_ns(false); }});
  const std::string name = "events.exec_ready_ms";
  return std::vector<Figure>{
      {name, in_ms(runs.ns(0)), "ms", at_most(100), "from the event to the answer of a kept handler in Python"},
      {name + ".started", in_ms(runs.ns(1)), "ms", Goal{}, "the same with a Python that is started for each event"},
  };
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{"events.delivery_us", delivery_us}, {"events.exec_ready_ms", exec_ready_ms}};
}

}  // namespace trainwarden::bench
