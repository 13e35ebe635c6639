// speedscope: JSON with a profile for each track of each step: which call opens and closes when, in nanoseconds since
// the trace began. A call that overlaps another in part ends where the other begins, as profiles know only calls in
// calls.
#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "read/profile/call_nesting.h"
#include "read/transfer/number_text.h"
#include "read/transfer/trace_writer.h"

namespace trainwarden::transfer {
namespace {

constexpr std::string_view kSchema = "https://www.speedscope.app/file-format-schema.json";

class SpeedscopeTrace final : public TraceWriter {
 public:
  explicit SpeedscopeTrace(TraceText& out) : out_(out) {}

  Status begin(std::int64_t first_unix_ns, const std::string& run_id) override {
    first_unix_ns_ = first_unix_ns;
    out_.text += fmt::format("{{\"$schema\":\"{}\",\"exporter\":\"trainwarden\",\"name\":{},\"profiles\":[", kSchema,
                             json_text(run_id));
    return {};
  }

  Status add(const TraceStep& step, TraceReport& report) override {
    const std::vector<std::size_t> order = profile::calls_in_order(step.batch);
    span_ = profile::span_of(step.batch);
    frames_of_batch_.assign(step.batch.names.size(), kNoFrame);
    std::size_t first = 0;
    while (first < order.size()) {
      const std::uint32_t track = step.batch.calls[order[first]].track;
      std::size_t last = first;
      while (last < order.size() && step.batch.calls[order[last]].track == track) ++last;
      if (full()) {
        report.left_out_calls += order.size() - first;
        return {};
      }
      const std::span<const std::size_t> calls(order.data() + first, last - first);
      TRAINWARDEN_RETURN_IF_ERROR(add_profile(step, calls, report));
      first = last;
    }
    return {};
  }

  bool full() const override { return out_.full(frames_.size()); }

  Status end(TraceReport&) override {
    out_.text += "\n],\"shared\":{\"frames\":[";
    out_.text += frames_;
    out_.text += "\n]}}\n";
    return {};
  }

 private:
  struct OpenCall {
    std::uint32_t frame = 0;
    std::int64_t end_ns = 0;
  };

  std::uint32_t frame_of(const std::string& name) {
    const auto [known, added] = frame_by_name_.try_emplace(name, static_cast<std::uint32_t>(frame_by_name_.size()));
    if (added) frames_ += fmt::format("{}\n{{\"name\":{}}}", known->second == 0 ? "" : ",", json_text(name));
    return known->second;
  }

  Status add_profile(const TraceStep& step, std::span<const std::size_t> calls, TraceReport& report) {
    const OperatorBatch& batch = step.batch;
    const OperatorCall& first = batch.calls[calls.front()];
    const std::string title =
        fmt::format("{} step {} {}", step.worker, batch.global_step, batch.tracks[first.track].name);
    out_.text += fmt::format(
        "{}\n{{\"type\":\"evented\",\"name\":{},\"unit\":\"nanoseconds\",\"startValue\":{},\"endValue\":{},\"events\":"
        "[",
        profiles_++ == 0 ? "" : ",", json_text(title), span_.first_unix_ns - first_unix_ns_,
        span_.last_unix_ns - first_unix_ns_);
    first_event_ = true;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      // Calls that are open are still to be closed.
      if (out_.full(frames_.size() + open_.size() * kClosingBytes)) {
        report.left_out_calls += calls.size() - i;
        break;
      }
      open_call(batch, batch.calls[calls[i]]);
      ++report.calls;
      TRAINWARDEN_RETURN_IF_ERROR(out_.pass_on_when_large());
    }
    while (!open_.empty()) close(open_.back().end_ns);
    out_.text += "]}";
    return {};
  }

  void open_call(const OperatorBatch& batch, const OperatorCall& call) {
    const std::int64_t end_ns = profile::end_ns(call);
    while (!open_.empty() && !(call.start_unix_ns < open_.back().end_ns && end_ns <= open_.back().end_ns)) {
      close(std::min(open_.back().end_ns, call.start_unix_ns));
    }
    std::uint32_t& frame = frames_of_batch_[call.name];
    if (frame == kNoFrame) frame = frame_of(batch.names[call.name]);
    add_event('O', frame, call.start_unix_ns);
    open_.push_back({frame, end_ns});
  }

  void close(std::int64_t at_ns) {
    add_event('C', open_.back().frame, at_ns);
    open_.pop_back();
  }

  void add_event(char type, std::uint32_t frame, std::int64_t at_ns) {
    if (!std::exchange(first_event_, false)) out_.text += ',';
    out_.text += "\n{\"type\":\"";
    out_.text += type;
    out_.text += "\",\"frame\":";
    append_integer(out_.text, frame);
    out_.text += ",\"at\":";
    append_integer(out_.text, at_ns - first_unix_ns_);
    out_.text += '}';
  }

  static constexpr std::uint32_t kNoFrame = ~std::uint32_t{0};
  static constexpr std::uint64_t kClosingBytes = 64;  // of one event, about

  TraceText& out_;
  std::int64_t first_unix_ns_ = 0;
  std::unordered_map<std::string, std::uint32_t> frame_by_name_;
  profile::CallSpan span_;                      // of the batch
  std::vector<std::uint32_t> frames_of_batch_;  // of the names of the batch
  std::string frames_;                          // as JSON, without the brackets
  std::vector<OpenCall> open_;
  std::uint64_t profiles_ = 0;
  bool first_event_ = true;
};

}  // namespace

std::unique_ptr<TraceWriter> make_speedscope_trace(TraceText& out) {
  return std::make_unique<SpeedscopeTrace>(out);
}

}  // namespace trainwarden::transfer
