#include "judge/rules/builtin/training/signal_reading.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace trainwarden::rules {
namespace {

Result<std::vector<double>> read_list(const StepWindow& window, const TensorSpot& spot) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const SharedTensorValue shared, window.value(spot));
  TensorValue value{shared.view.dtype, shared.view.shape, {}, {}};
  if (value.dtype == DType::kString) {
    return Status(Code::kInvalidArgument, fmt::format("{} holds text where numbers are expected", spot.tensor));
  }
  value.data.resize(shared.view.packed_bytes());
  if (!value.data.empty()) std::memcpy(value.data.data(), shared.view.data, value.data.size());
  return value.to_doubles();
}

Result<format::Json> read_json(const StepWindow& window, const TensorSpot& spot) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const SharedTensorValue value, window.value(spot));
  if (value.view.dtype != DType::kString || value.view.element_count() != 1) {
    return Status(Code::kInvalidArgument, fmt::format("{} is no string tensor with one element", spot.tensor));
  }
  return format::parse_json_object(*static_cast<const std::string_view*>(value.view.data), spot.tensor);
}

// "name", "name#1", "name#2", ...
bool is_called(std::string_view tensor, std::string_view name) {
  if (tensor.substr(0, name.size()) != name) return false;
  return tensor.size() == name.size() || tensor[name.size()] == '#';
}

// Read: (spot) → Result<T>.
template <class T, class Read>
SignalsFound<T> read_signals_called(const StepWindow& window, std::string_view name, Read read) {
  SignalsFound<T> found;
  const TensorSelection all_signals{.collections = {std::string(signals::kCollection)}};
  found.gaps = visit_tensors(all_signals, window, [&](const TensorSpot& spot) -> Status {
    if (!is_called(spot.tensor, name)) return {};
    TRAINWARDEN_ASSIGN_OR_RETURN(T value, read(spot));
    found.signals.push_back({spot, std::move(value)});
    return {};
  });
  return found;
}

}  // namespace

SignalsFound<double> scalar_signals(const StepWindow& window, std::string_view name) {
  return read_signals_called<double>(window, name, [&](const TensorSpot& spot) { return window.scalar(spot); });
}

SignalsFound<std::vector<double>> list_signals(const StepWindow& window, std::string_view name) {
  return read_signals_called<std::vector<double>>(window, name,
                                                  [&](const TensorSpot& spot) { return read_list(window, spot); });
}

SignalsFound<format::Json> json_signals(const StepWindow& window, std::string_view name) {
  return read_signals_called<format::Json>(window, name,
                                           [&](const TensorSpot& spot) { return read_json(window, spot); });
}

}  // namespace trainwarden::rules
