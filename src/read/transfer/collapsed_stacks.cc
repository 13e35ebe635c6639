// collapsed: a line for each stack of calls, "rank-00000 thread 1;aten::linear;aten::addmm 1234": the calls from the
// outermost on, and how many nanoseconds the last one took itself. What flame graphs are drawn from.
#include <fmt/format.h>

#include "core/base/text.h"
#include "read/profile/flame_tree.h"
#include "read/transfer/trace_writer.h"

namespace trainwarden::transfer {
namespace {

// One line, and no more calls than there are.
std::string frame_text(std::string_view name) {
  std::string text = with_valid_utf8(name);
  for (char& c : text) {
    if (c == ';') c = ',';
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7F') c = ' ';
  }
  return text.empty() ? "(no name)" : text;
}

class CollapsedStacks final : public TraceWriter {
 public:
  explicit CollapsedStacks(TraceText& out) : out_(out) {}

  Status begin(std::int64_t, const std::string&) override { return {}; }

  Status add(const TraceStep& step, TraceReport& report) override {
    tree_.add(step.batch, step.worker);
    report.calls += step.batch.calls.size();
    return {};
  }

  bool full() const override { return false; }  // a stack that is there takes no more room the next time

  Status end(TraceReport& report) override {
    std::vector<std::string> frames;
    for (const std::string& name : tree_.names()) frames.push_back(frame_text(name));
    std::string stack;
    std::vector<std::size_t> lengths(tree_.nodes().size());  // of the stack, with each node
    std::vector<std::uint32_t> open = {0};
    while (!open.empty()) {
      const std::uint32_t index = open.back();
      open.pop_back();
      const profile::FlameNode& node = tree_.nodes()[index];
      if (index != 0) {
        lengths[index] = go_to(stack, lengths[node.parent], frames[node.name]);
        TRAINWARDEN_RETURN_IF_ERROR(add_line(stack, lengths[index] != kTooLong, node, report));
      }
      open.insert(open.end(), node.children.rbegin(), node.children.rend());
    }
    return {};
  }

 private:
  static constexpr std::size_t kTooLong = ~std::size_t{0};
  static constexpr std::size_t kMaxStackBytes = std::size_t{1} << 20;

  // How long the stack is then; kTooLong when it would not be one that anybody reads.
  static std::size_t go_to(std::string& stack, std::size_t parent_length, const std::string& frame) {
    if (parent_length == kTooLong || parent_length + frame.size() >= kMaxStackBytes) return kTooLong;
    stack.resize(parent_length);
    if (parent_length != 0) stack += ';';
    stack += frame;
    return stack.size();
  }

  Status add_line(const std::string& stack, bool fits, const profile::FlameNode& node, TraceReport& report) {
    if (node.self_ns <= 0) return {};
    if (!fits || out_.full(stack.size())) {
      report.left_out_calls += node.calls;
      report.calls -= node.calls;
      return {};
    }
    out_.text += fmt::format("{} {}\n", stack, node.self_ns);
    return out_.pass_on_when_large();
  }

  TraceText& out_;
  profile::FlameTree tree_;
};

}  // namespace

std::unique_ptr<TraceWriter> make_collapsed_stacks(TraceText& out) {
  return std::make_unique<CollapsedStacks>(out);
}

}  // namespace trainwarden::transfer
