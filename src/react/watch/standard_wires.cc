#include "react/watch/standard_wires.h"

#include <utility>

namespace trainwarden::watch {
namespace {

delivery::Wire wire_of(std::string action, std::vector<std::string> rule_ids) {
  delivery::Wire wire;
  wire.name = action;
  wire.rules = std::move(rule_ids);
  wire.action = std::move(action);
  wire.where = "the rules of this program";
  return wire;
}

}  // namespace

delivery::Wire black_box_wire(std::vector<std::string> rule_ids) {
  delivery::Wire wire = wire_of("black-box", std::move(rule_ids));
  wire.parameters.emplace("needed", std::vector<std::string>{"false"});
  return wire;
}

delivery::Wire stop_wire(std::vector<std::string> rule_ids) {
  return wire_of("stop", std::move(rule_ids));
}

}  // namespace trainwarden::watch
