#include "judge/rules/training_facts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/json.h"
#include "judge/rules/signals.h"

namespace trainwarden::rules {
namespace {

using format::Json;

// Without the "#1" of a name that was saved a second time within the step.
std::string_view without_repeat(std::string_view name) {
  return name.substr(0, name.rfind('#'));
}

Result<std::vector<TensorSpot>> find_signals(const StepWindow& window, std::string_view name) {
  static const TensorSelection kSignals{.collections = {std::string(signals::kCollection)}};
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto spots, window.select(kSignals));
  const bool is_family = !name.empty() && name.back() == '/';
  std::vector<TensorSpot> found;
  for (const TensorSpot& spot : spots) {
    const bool fits = is_family ? spot.tensor.compare(0, name.size(), name) == 0 : without_repeat(spot.tensor) == name;
    if (fits) found.push_back(spot);
  }
  return found;
}

// The newest of the string signals of that name; nothing when the step has none. All workers train the same model.
Result<std::optional<std::string>> read_text(const StepWindow& window, std::string_view name) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<TensorSpot> spots, find_signals(window, name));
  if (spots.empty()) return std::optional<std::string>();
  const auto read = window.value(spots.back());
  if (read.status().code() == Code::kOutOfRange) return std::optional<std::string>();  // its text was not kept
  TRAINWARDEN_ASSIGN_OR_RETURN(const SharedTensorValue value, read);
  if (value.view.dtype != DType::kString || value.view.shape.element_count() != 1) {
    return Status(Code::kDataLoss, fmt::format("{} is no string tensor of one element", name));
  }
  return std::optional(std::string(*static_cast<const std::string_view*>(value.view.data)));
}

double number_or_nan(const Json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_number() ? found->get<double>() : std::nan("");
}

// "conv1.weight" is a part of "conv1" and of "", the model itself; "conv10" is none of "conv1".
bool is_part_of(std::string_view part, std::string_view whole) {
  if (whole.empty()) return !part.empty();
  return part.size() > whole.size() && part.substr(0, whole.size()) == whole && part[whole.size()] == '.';
}

// In the order in which the model lists its modules, parents before their parts → parts before their parents.
void add_in_order(const std::vector<std::string>& listed, std::size_t& at,
                  std::map<std::string, std::size_t, std::less<>>& order) {
  const std::string& module = listed[at++];
  while (at < listed.size() && is_part_of(listed[at], module)) add_in_order(listed, at, order);
  order.try_emplace(module, order.size());
}

}  // namespace

Result<std::vector<SignalValue>> read_signals(const StepWindow& window, std::string_view name) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<TensorSpot> spots, find_signals(window, name));
  std::vector<SignalValue> values;
  for (const TensorSpot& spot : spots) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const double value, window.scalar(spot));
    values.push_back({spot, value});
  }
  return values;
}

Status TrainingFacts::update(const StepWindow& window) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto model, read_text(window, signals::kModel));
  if (model) TRAINWARDEN_RETURN_IF_ERROR(take_model(*model));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto optimizers, read_text(window, signals::kOptimizer));
  if (optimizers) TRAINWARDEN_RETURN_IF_ERROR(take_optimizers(*optimizers));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto rates, read_signals(window, signals::kLearningRate));
  for (const SignalValue& rate : rates) {
    const std::string_view group = without_repeat(rate.spot.tensor).substr(signals::kLearningRate.size());
    const auto number = parse_int(group);
    if (number && *number >= 0) learning_rates_[static_cast<std::size_t>(*number)] = rate.value;
  }
  return Status();
}

Status TrainingFacts::take_model(const std::string& text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, format::parse_json_object(text, signals::kModel));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* modules, format::array_field(json, "modules"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* parameters, format::array_field(json, "parameters"));
  std::vector<std::string> listed;
  module_kind_.clear();
  for (const Json& module : *modules) {
    TRAINWARDEN_ASSIGN_OR_RETURN(std::string name, format::string_field(module, "name"));
    TRAINWARDEN_ASSIGN_OR_RETURN(module_kind_[name], format::string_field(module, "kind"));
    listed.push_back(std::move(name));
  }
  module_order_.clear();
  // The outermost model comes first, under a name that those of its parts need not begin with.
  const bool has_whole =
      listed.size() > 1 && std::none_of(listed.begin(), listed.end(),
                                        [&](const std::string& module) { return is_part_of(module, listed.front()); });
  for (std::size_t at = has_whole ? 1 : 0; at < listed.size();) add_in_order(listed, at, module_order_);
  if (has_whole) module_order_.try_emplace(listed.front(), module_order_.size());
  trained_.clear();
  for (const Json& parameter : *parameters) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string name, format::string_field(parameter, "name"));
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool trainable, format::bool_field(parameter, "trainable"));
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool optimized, format::bool_field(parameter, "optimized"));
    trained_[name] = trainable && optimized;
  }
  knows_model_ = true;
  return Status();
}

Status TrainingFacts::take_optimizers(const std::string& text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, format::parse_json_object(text, signals::kOptimizer));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* listed, format::array_field(json, "optimizers"));
  std::vector<OptimizerFacts> optimizers;
  for (const Json& entry : *listed) {
    OptimizerFacts facts;
    TRAINWARDEN_ASSIGN_OR_RETURN(facts.kind, format::string_field(entry, "kind"));
    TRAINWARDEN_ASSIGN_OR_RETURN(const Json* groups, format::array_field(entry, "groups"));
    for (const Json& group : *groups) {
      const double epsilon = number_or_nan(group, "eps");
      if (!std::isnan(epsilon)) facts.epsilons.push_back(epsilon);
    }
    optimizers.push_back(std::move(facts));
  }
  optimizers_ = std::move(optimizers);
  return Status();
}

std::optional<bool> TrainingFacts::is_trained(std::string_view parameter) const {
  const auto found = trained_.find(parameter);
  if (found == trained_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::size_t> TrainingFacts::module_order(std::string_view module) const {
  const auto found = module_order_.find(module);
  if (found == module_order_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> TrainingFacts::module_kind(std::string_view module) const {
  const auto found = module_kind_.find(module);
  if (found == module_kind_.end()) return std::nullopt;
  return found->second;
}

std::optional<double> TrainingFacts::largest_learning_rate() const {
  if (learning_rates_.empty()) return std::nullopt;
  double largest = 0;
  for (const auto& [group, rate] : learning_rates_) {
    if (std::isnan(rate)) return rate;
    largest = std::max(largest, rate);
  }
  return largest;
}

}  // namespace trainwarden::rules
