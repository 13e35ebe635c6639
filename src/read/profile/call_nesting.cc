#include "read/profile/call_nesting.h"

#include <algorithm>
#include <numeric>

namespace trainwarden::profile {
namespace {

// The calls around the one that is looked at, on one track.
class CallStack {
 public:
  CallStack(const OperatorBatch& batch, std::vector<CallPlace>& places)
      : batch_(batch), places_(places), open_of_label_(batch.names.size() * kKindsOfCalls) {}

  void add(std::size_t index) {
    const OperatorCall& call = batch_.calls[index];
    while (!open_.empty() && !holds(open_.back(), call)) pop();
    CallPlace& place = places_[index];
    place.self_ns = end_ns(call) - call.start_unix_ns;
    place.depth = static_cast<std::uint32_t>(open_.size());
    if (!open_.empty()) {
      place.parent = static_cast<std::int64_t>(open_.back().index);
      take_from_parent(call);
    }
    place.within_own = open_of_label_[label_of(call)]++ > 0;
    open_.push_back({index, call.start_unix_ns});
  }

 private:
  static constexpr std::size_t kKindsOfCalls = kOperatorKinds;

  struct Open {
    std::size_t index = 0;
    std::int64_t covered_to = 0;  // by calls within it
  };

  std::size_t label_of(const OperatorCall& call) const {
    return call.name * kKindsOfCalls + static_cast<std::size_t>(call.kind);
  }

  bool holds(const Open& open, const OperatorCall& call) const {
    const OperatorCall& around = batch_.calls[open.index];
    return around.track == call.track && call.start_unix_ns < end_ns(around) && end_ns(call) <= end_ns(around);
  }

  // Calls within a call may overlap: what two of them cover is taken once.
  void take_from_parent(const OperatorCall& call) {
    Open& parent = open_.back();
    const std::int64_t from = std::max(parent.covered_to, call.start_unix_ns);
    places_[parent.index].self_ns -= std::max<std::int64_t>(end_ns(call) - from, 0);
    parent.covered_to = std::max(parent.covered_to, end_ns(call));
  }

  void pop() {
    --open_of_label_[label_of(batch_.calls[open_.back().index])];
    open_.pop_back();
  }

  const OperatorBatch& batch_;
  std::vector<CallPlace>& places_;
  std::vector<Open> open_;
  std::vector<std::uint32_t> open_of_label_;  // how many of each name and kind are open
};

}  // namespace

std::vector<std::size_t> calls_in_order(const OperatorBatch& batch) {
  std::vector<std::size_t> order(batch.calls.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto before = [&](std::size_t a, std::size_t b) {
    const OperatorCall& x = batch.calls[a];
    const OperatorCall& y = batch.calls[b];
    if (x.track != y.track) return x.track < y.track;
    if (x.start_unix_ns != y.start_unix_ns) return x.start_unix_ns < y.start_unix_ns;
    return end_ns(x) > end_ns(y);
  };
  if (!std::is_sorted(order.begin(), order.end(), before)) std::stable_sort(order.begin(), order.end(), before);
  return order;
}

std::vector<CallPlace> nest_calls(const OperatorBatch& batch) {
  std::vector<CallPlace> places(batch.calls.size());
  CallStack stack(batch, places);
  for (const std::size_t index : calls_in_order(batch)) stack.add(index);
  return places;
}

CallSpan span_of(const OperatorBatch& batch) {
  if (batch.calls.empty()) return {};
  CallSpan span{batch.calls[0].start_unix_ns, end_ns(batch.calls[0])};
  for (const OperatorCall& call : batch.calls) {
    span.first_unix_ns = std::min(span.first_unix_ns, call.start_unix_ns);
    span.last_unix_ns = std::max(span.last_unix_ns, end_ns(call));
  }
  return span;
}

}  // namespace trainwarden::profile
