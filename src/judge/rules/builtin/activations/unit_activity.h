// LayerWatch: which share of a layer's units is hardly ever active, over a window of steps.
//
// A unit is one neuron: an element of the layer's tensor without its batch axis 0, or a channel (axis 1) with all of
// its places. Each unit has samples: one a batch row, or one a place of a row. It is inactive when the share of its
// samples that are active is below a threshold.
//
// Where the values were kept the units are counted. Statistics give bounds, which mostly decide: let z be the share of
// all elements that are not active, and i the share below which a unit is inactive. An inactive unit is not active in
// more than 1 - i of its samples, so at most z / (1 - i) of the units are inactive; every other unit is active in at
// least i of them, so at least 1 - (1 - z) / i are.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

// An element is active when lowest < x < highest.
struct ActiveRange {
  double lowest = 0;
  double highest = 0;
};

enum class UnitKind : std::uint8_t {
  kAuto,  // channels of tensors of four and more dimensions (of convolutions), else elements
  kElement,
  kChannel,
};

struct ActivityLimits {
  double inactivity_percent = 1;  // a unit that is active in less than this is inactive
  double layer_percent = 50;      // more units than this are too many
  UnitKind unit = UnitKind::kAuto;
  std::int64_t num_steps = 1;     // a window has at least so many captured steps
  std::int64_t min_samples = 64;  // and so many samples of each unit
  std::int64_t patience = 2;      // windows in a row with too many inactive units
};

struct LayerActivity {
  enum class State : std::uint8_t {
    kCollecting,  // the window is not full
    kFine,
    kUnconfirmed,  // too many are inactive, but not for enough windows
    kTooManyInactive,
    kUndecided,  // statistics do not say
  };
  State state = State::kCollecting;
  double inactive_percent = 0;  // of the units
  bool at_least = false;        // it may be more
  std::int64_t samples = 0;     // of each unit
};

// One layer on one worker. Keeps four bytes a unit.
class LayerWatch {
 public:
  // Adds the step. kOutOfRange when neither values nor statistics were kept, it has no elements, or not all of them are
  // finite numbers; nothing is added then.
  Result<LayerActivity> add(const TensorSpot& spot, const StepWindow& window, const ActiveRange& range,
                            const ActivityLimits& limits);

 private:
  // The window of the steps at which values were kept.
  struct Counted {
    std::vector<std::uint32_t> active;  // samples, by unit
    std::int64_t samples = 0;
    std::int64_t steps = 0;
  };
  // The window of all captured steps.
  struct Bounded {
    double least = 0;  // elements that are not active, at least and at most
    double most = 0;
    double elements = 0;
    std::int64_t units = 0;
    std::int64_t samples = 0;
    std::int64_t steps = 0;
  };

  std::optional<LayerActivity> judge_counted(const ActivityLimits& limits);
  LayerActivity judge_bounded(const ActivityLimits& limits);
  LayerActivity confirm(LayerActivity activity, const ActivityLimits& limits);

  Counted counted_;
  Bounded bounded_;
  std::int64_t windows_inactive_ = 0;  // in a row
};

}  // namespace trainwarden::rules
