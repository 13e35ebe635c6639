// LayerCalls: the names of what goes into and comes out of layers, with an index that runs on within a step.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/hook.h"

namespace trainwarden::torch {

class LayerCalls {
 public:
  // Under a budget so many inputs and outputs of a layer are captured in a step: a cell that is called for each element
  // of a sequence would fill the run, and the training's heap with names. What is left out, the run says.
  static constexpr std::size_t kMaxUnasked = 64;

  explicit LayerCalls(Hook& hook)
      : hook_(hook), most_(hook.report().bill.budget > 0 ? kMaxUnasked : std::numeric_limits<std::size_t>::max()) {}

  using Collections = std::vector<std::string_view>;  // names that live as long as the program

  // The number of the layer of this name. A new one is declared: `<name>_input_0` in collection `inputs` and those of
  // `input_kinds`, `<name>_output_0` in `outputs`.
  std::size_t layer(std::string_view name, const Collections& input_kinds = {});
  // The same for a loss, whose outputs are in collection `losses`; its inputs are declared when they are saved.
  std::size_t loss(std::string_view name);
  // The same for an activation function: nothing is declared before it is saved.
  std::size_t function(std::string_view name, const Collections& input_kinds, const Collections& output_kinds);

  // `kind`: a further collection of the tensor; one tensor is always of the same.
  void save_input(std::size_t layer, const at::Tensor& tensor, std::string_view kind = {});
  void save_output(std::size_t layer, const at::Tensor& tensor);

  // Is any input or output of the layer, as far as they are known, wanted at the current step?
  bool any_wanted(std::size_t layer);
  // Indices begin at 0 again.
  void begin_step();
  // The run says what of the step was left out.
  void end_step();

 private:
  // One side of a layer.
  struct Series {
    std::string stem;  // "conv0_output_"
    Collections collections;
    std::vector<TensorId> ids;  // by index
    std::size_t next = 0;       // index within the step
    std::size_t most = 0;       // in a step
    bool is_cut = false;        // a step had more
  };
  struct Layer {
    Series inputs;
    Series outputs;
  };

  std::size_t add(std::string_view name, Collections of_inputs, Collections of_outputs);
  void declare_next(Series& series, std::string_view kind = {});
  void save(Series& series, const at::Tensor& tensor, std::string_view kind = {});
  bool any_wanted(const Series& series);
  void cut(Series& series);

  Hook& hook_;
  const std::size_t most_;
  std::vector<std::string> unseen_;  // what the run is to say that is not captured
  std::size_t unseen_written_ = 0;
  std::vector<Layer> layers_;
  std::map<std::string, std::size_t, std::less<>> layer_by_name_;
};

}  // namespace trainwarden::torch
