// Any text as a file of actions and as what --on-fire takes: it is refused with a message, or makes subscriptions.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "react/delivery/wiring.h"

namespace {

using namespace trainwarden;

class NoAction final : public actions::Action {
 public:
  std::string_view name() const override { return "stop"; }
  std::string place() const override { return {}; }
  actions::ActionOutcome run(const actions::EventNotice&, std::stop_token) override {
    return actions::ActionOutcome::done();
  }
};

Result<std::unique_ptr<actions::Action>> create(actions::ActionParameters& parameters, const actions::RunContext&) {
  parameters.list("list");
  parameters.secret("secret");
  parameters.duration("grace", {});
  return std::unique_ptr<actions::Action>(std::make_unique<NoAction>());
}

const std::vector<actions::ActionKind> kKinds{{"stop", "", {{"list", "", ""}}, create}, {"mail", "", {}, create}};

void check(const Status& status) {
  if (status.ok()) return;
  if (status.code() != Code::kInvalidArgument || status.message().empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  const auto file = delivery::parse_wiring(text, "/etc/actions.toml");
  check(file.status());
  if (file.ok()) check(delivery::subscribe(*file, kKinds, {}).status());
  auto wire = delivery::parse_wire(text);
  check(wire.status());
  if (wire.ok()) {
    delivery::Wiring wiring;
    wiring.wires.push_back(*std::move(wire));
    check(delivery::subscribe(wiring, kKinds, {}).status());
  }
  return 0;
}
