#include "ui/cli/commands/check_runs.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/base/text_file.h"
#include "data/format/parse_json.h"
#include "store/journal/file_maps.h"
#include "store/storage/location.h"
#include "ui/cli/options/run_locator.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

// What was judged, and by which rules: the same again need not be judged.
struct ResultKey {
  std::string run;  // absolute path
  std::string run_id;
  std::int64_t last_step = -1;
  std::string rules;
  friend auto operator<=>(const ResultKey&, const ResultKey&) = default;
};

// The file with the results of this check, and of earlier ones.
class Results {
 public:
  // An empty path: nothing is read or written.
  static Result<Results> open(const fs::path& file);

  const OrderedJson* find(const ResultKey& key) const {
    const auto found = known_.find(key);
    return found == known_.end() ? nullptr : &found->second;
  }
  Status add(const ResultKey& key, const OrderedJson& document);

 private:
  Status read(const std::string& text);

  fs::path file_;
  std::map<ResultKey, OrderedJson> known_;
};

OrderedJson key_to_json(const ResultKey& key) {
  return {{"path", key.run}, {"run_id", key.run_id}, {"last_step", key.last_step}, {"asked", key.rules}};
}

Result<Results> Results::open(const fs::path& file) {
  Results results;
  results.file_ = file;
  if (const std::optional<std::string> text = read_text_file(file)) {
    TRAINWARDEN_RETURN_IF_ERROR(results.read(*text).with_context(file.string()));
  }
  return results;
}

// The last line of a check that was killed may be torn: that run is judged again.
Status Results::read(const std::string& text) {
  std::istringstream stream(text);
  std::int64_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    const Result<OrderedJson> parsed = format::parse_ordered_json(line, "line");
    if (!parsed.ok() || !parsed->is_object()) {
      if (stream.peek() == std::istream::traits_type::eof()) break;
      return Status(Code::kDataLoss, fmt::format("line {} is not JSON; give --results another file", number));
    }
    const OrderedJson& json = *parsed;
    const OrderedJson key = json.value("key", OrderedJson::object());
    known_[{key.value("path", ""), key.value("run_id", ""), key.value("last_step", std::int64_t{-1}),
            key.value("asked", "")}] = json.value("result", OrderedJson::object());
  }
  return {};
}

Status Results::add(const ResultKey& key, const OrderedJson& document) {
  if (file_.empty()) return {};
  const std::string line = OrderedJson({{"key", key_to_json(key)}, {"result", document}})
                               .dump(-1, ' ', false, OrderedJson::error_handler_t::replace) +
                           "\n";
  std::FILE* const stream = std::fopen(file_.c_str(), "a");
  const bool written = stream != nullptr && std::fwrite(line.data(), 1, line.size(), stream) == line.size();
  const bool closed = stream != nullptr && std::fclose(stream) == 0;
  if (written && closed) return {};
  return Status(Code::kPermissionDenied, fmt::format("{}: results cannot be written", file_.string()));
}

OrderedJson document_of(const CheckedRun& run) {
  if (!run.status.ok()) return {{"run", run_name(run.path)}, {"error", run.status.to_string()}};
  OrderedJson document = {{"run", run_name(run.path)}, {"last_judged_step", run.last_judged_step}};
  document.update(cli::json_of(run.report));
  return document;
}

// The report as the document has it, so that exit codes and tables are the same.
Status take_document(const OrderedJson& document, CheckedRun& run) {
  run.document = document;
  run.from_results = true;
  run.last_judged_step = document.value("last_judged_step", std::int64_t{-1});
  for (const OrderedJson& json : document.value("rules", OrderedJson::array())) {
    TRAINWARDEN_ASSIGN_OR_RETURN(auto status, rules::decode_rule_status(json.dump()));
    if (status) run.report.statuses.push_back(*std::move(status));
  }
  for (const OrderedJson& json : document.value("verdicts", OrderedJson::array())) {
    TRAINWARDEN_ASSIGN_OR_RETURN(auto verdict, rules::decode_verdict(json.dump()));
    if (verdict) run.report.fired.push_back(*std::move(verdict));
  }
  return {};
}

class Checker {
 public:
  Checker(const CheckPlan& plan, std::string asked, Results results,
          const std::function<void(const CheckedRun&)>& on_done)
      : plan_(plan),
        asked_(std::move(asked)),
        results_(std::move(results)),
        on_done_(on_done),
        checked_(plan.runs.size()) {}

  Result<std::vector<CheckedRun>> run() {
    const auto jobs = static_cast<std::size_t>(std::max(1, plan_.jobs));
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min(jobs, plan_.runs.size()); ++i) threads.emplace_back([this] { work(); });
    work();
    threads.clear();
    if (!failure_.ok()) return failure_;
    return std::move(checked_);
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < plan_.runs.size(); i = next_++) {
      CheckedRun run{.path = plan_.runs[i]};
      ResultKey key;
      try {
        run.status = judge(run, key);
      } catch (const std::exception& error) {
        run.status = Status(Code::kInternal, fmt::format("judging the run failed: {}", error.what()));
      }
      done(i, std::move(run), key);
    }
  }

  Status judge(CheckedRun& run, ResultKey& key) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial, Trial::open(run.path));
    key = {storage::Location(run.path).absolute().address(), trial->run_id(), trial->last_complete_step(), asked_};
    if (const OrderedJson* const known = results_.find(key)) return take_document(*known, run);
    TRAINWARDEN_ASSIGN_OR_RETURN(auto rules, plan_.rules.create());
    rules::EngineOptions options;
    options.mute = plan_.rules.mute;
    rules::Engine engine(*trial, std::move(rules), options);
    const Status judged = engine.poll();
    engine.finish();
    run.report = watch::report_of(engine);
    run.last_judged_step = engine.last_judged_step();
    return judged;
  }

  void done(std::size_t index, CheckedRun run, const ResultKey& key) {
    if (!run.from_results) run.document = document_of(run);
    std::lock_guard lock(mutex_);
    if (run.status.ok() && !run.from_results) {
      const Status written = results_.add(key, run.document);
      if (failure_.ok()) failure_ = written;
    }
    on_done_(run);
    checked_[index] = std::move(run);
  }

  const CheckPlan& plan_;
  const std::string asked_;
  std::mutex mutex_;  // guards what follows, but reading results_, which are read before anything is added
  Results results_;
  const std::function<void(const CheckedRun&)>& on_done_;
  std::vector<CheckedRun> checked_;
  Status failure_;
  std::atomic<std::size_t> next_ = 0;
};

}  // namespace

Result<std::vector<CheckedRun>> check_runs(const CheckPlan& plan,
                                           const std::function<void(const CheckedRun&)>& on_done) {
  TRAINWARDEN_RETURN_IF_ERROR(plan.rules.create_some().status());  // before the first run is opened
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> specs, plan.rules.specs());
  const std::string asked = fmt::format("{}; mute {}", fmt::join(specs, "; "), fmt::join(plan.rules.mute, "; "));
  TRAINWARDEN_ASSIGN_OR_RETURN(Results results, Results::open(plan.results));
  journal::allow_file_maps();
  return Checker(plan, asked, std::move(results), on_done).run();
}

}  // namespace trainwarden::cli
