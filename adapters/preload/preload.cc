// libtrainwarden_preload.so: stands before LibTorch in a program that knows nothing of us (LD_PRELOAD). It defines a
// few functions of LibTorch by their mangled names, notifies libtrainwarden_torch_attach.so of each call, and forwards
// it.
//
// It needs nothing but the C library: in a program without LibTorch nobody calls what is defined here, and it does
// nothing. An exception of the real function passes through; this file is compiled without exceptions, so nothing here
// stands in its way.
//
// Constructors of torch::nn::Module are left alone: its destructor is inline, so nothing would report when what they
// made is gone. A module is met when a program asks for its parameters, which every optimizer needs, or moves it.
#include "attach_library.h"
#include "real_function.h"

namespace trainwarden::preload {

// A result that is returned in memory of the caller, as std::vector and at::Tensor are. Never made here, only handed
// on.
struct ReturnedInMemory {
  ~ReturnedInMemory() {}
  void* words[4];
};
// c10::Device
struct Device {
  signed char type;
  signed char index;
};

// c10::optional<bool> and std::optional<bool>
struct OptionalBool {
  bool value;
  bool has_value;
};

namespace {

void report_module_seen(const void* module) {
  if (const AttachCalls* calls = attach_calls()) calls->module_seen(module);
}

void report_gradients_cleared(void* optimizer) {
  if (const AttachCalls* calls = attach_calls()) calls->gradients_cleared(optimizer);
}

void report_gradients_are_cleared() {
  if (const AttachCalls* calls = attach_calls()) calls->gradients_are_cleared();
}

// Reports a step when it begins, and when the real function has returned.
class ReportedStep {
 public:
  ReportedStep(void* optimizer, const void* loss_closure) : optimizer_(optimizer) {
    if (calls_ != nullptr) calls_->step_begins(optimizer_, loss_closure);
  }
  ~ReportedStep() {
    if (calls_ != nullptr) calls_->step_has_ended(optimizer_);
  }
  ReportedStep(const ReportedStep&) = delete;
  ReportedStep& operator=(const ReportedStep&) = delete;

 private:
  const AttachCalls* const calls_ = attach_calls();
  void* const optimizer_;
};

}  // namespace

// TW_INTERPOSE(name, mangled, result, parameters...): begins the definition of LibTorch's function `mangled`, which we
// call `name`; real_<name>() is LibTorch's own.
#define TW_INTERPOSE(name, mangled, result, ...)                                    \
  result name(__VA_ARGS__) __asm__(mangled);                                        \
  static const RealFunction<result(__VA_ARGS__)> real_##name{mangled}; /* NOLINT */ \
  __attribute__((visibility("default"))) result name

// std::vector<at::Tensor> torch::nn::Module::parameters(bool) const
TW_INTERPOSE(parameters, "_ZNK5torch2nn6Module10parametersEb", ReturnedInMemory, const void*, bool)
(const void* module, bool recurse) {
  report_module_seen(module);
  return real_parameters()(module, recurse);
}

// torch::OrderedDict<std::string, at::Tensor> torch::nn::Module::named_parameters(bool) const
TW_INTERPOSE(named_parameters, "_ZNK5torch2nn6Module16named_parametersB5cxx11Eb", ReturnedInMemory, const void*, bool)
(const void* module, bool recurse) {
  report_module_seen(module);
  return real_named_parameters()(module, recurse);
}

// void torch::nn::Module::train(bool); eval() calls it
TW_INTERPOSE(train, "_ZN5torch2nn6Module5trainEb", void, void*, bool)
(void* module, bool on) {
  real_train()(module, on);
  if (const AttachCalls* calls = attach_calls()) calls->training_set(module);
}

// void torch::nn::Module::zero_grad(bool)
TW_INTERPOSE(module_zero_grad, "_ZN5torch2nn6Module9zero_gradEb", void, void*, bool)
(void* module, bool set_to_none) {
  report_module_seen(module);
  real_module_zero_grad()(module, set_to_none);
}

// void torch::nn::Module::to(c10::Device, bool)
TW_INTERPOSE(to_device, "_ZN5torch2nn6Module2toEN3c106DeviceEb", void, void*, Device, bool)
(void* module, Device device, bool non_blocking) {
  report_module_seen(module);
  real_to_device()(module, device, non_blocking);
}

// void torch::autograd::backward(losses, gradients, std::optional<bool> retain_graph, bool create_graph, inputs), in
// its two spellings. The optional is two bytes, in a register.
#define TW_INTERPOSE_BACKWARD(name, mangled)                                                                      \
  TW_INTERPOSE(name, mangled, void, const void*, const void*, OptionalBool, bool, const void*)                    \
  (const void* losses, const void* gradients, OptionalBool retain_graph, bool create_graph, const void* inputs) { \
    if (const AttachCalls* calls = attach_calls()) calls->backward_begins(losses);                                \
    real_##name()(losses, gradients, retain_graph, create_graph, inputs);                                         \
    if (const AttachCalls* calls = attach_calls()) calls->backward_has_ended();                                   \
  }
TW_INTERPOSE_BACKWARD(backward, "_ZN5torch8autograd8backwardERKSt6vectorIN2at6TensorESaIS3_EES7_N3c108optionalIbEEbS7_")
TW_INTERPOSE_BACKWARD(backward_2, "_ZN5torch8autograd8backwardERKSt6vectorIN2at6TensorESaIS3_EES7_St8optionalIbEbS7_")

// void torch::optim::Optimizer::add_param_group(const OptimizerParamGroup&); every constructor calls it
TW_INTERPOSE(add_param_group, "_ZN5torch5optim9Optimizer15add_param_groupERKNS0_19OptimizerParamGroupE", void, void*,
             const void*)
(void* optimizer, const void* group) {
  real_add_param_group()(optimizer, group);
  if (const AttachCalls* calls = attach_calls()) calls->optimizer_seen(optimizer);
}

// void torch::optim::Optimizer::zero_grad(), until LibTorch 1.13
TW_INTERPOSE(zero_grad, "_ZN5torch5optim9Optimizer9zero_gradEv", void, void*)
(void* optimizer) {
  report_gradients_cleared(optimizer);
  real_zero_grad()(optimizer);
  report_gradients_are_cleared();
}

// void torch::optim::Optimizer::zero_grad(bool), from LibTorch 2.0 on
TW_INTERPOSE(zero_grad_2, "_ZN5torch5optim9Optimizer9zero_gradEb", void, void*, bool)
(void* optimizer, bool set_to_none) {
  report_gradients_cleared(optimizer);
  real_zero_grad_2()(optimizer, set_to_none);
  report_gradients_are_cleared();
}

// at::Tensor torch::optim::<Optimizer>::step(std::function<at::Tensor()>)
#define TW_INTERPOSE_STEP(name, mangled)                                                                  \
  TW_INTERPOSE(step_of_##name, mangled, ReturnedInMemory, void*, void*)(void* optimizer, void* closure) { \
    const ReportedStep reported(optimizer, closure);                                                      \
    return real_step_of_##name()(optimizer, closure);                                                     \
  }
TW_INTERPOSE_STEP(sgd, "_ZN5torch5optim3SGD4stepESt8functionIFN2at6TensorEvEE")
TW_INTERPOSE_STEP(adam, "_ZN5torch5optim4Adam4stepESt8functionIFN2at6TensorEvEE")
TW_INTERPOSE_STEP(adamw, "_ZN5torch5optim5AdamW4stepESt8functionIFN2at6TensorEvEE")
TW_INTERPOSE_STEP(lbfgs, "_ZN5torch5optim5LBFGS4stepESt8functionIFN2at6TensorEvEE")
TW_INTERPOSE_STEP(adagrad, "_ZN5torch5optim7Adagrad4stepESt8functionIFN2at6TensorEvEE")
TW_INTERPOSE_STEP(rmsprop, "_ZN5torch5optim7RMSprop4stepESt8functionIFN2at6TensorEvEE")

}  // namespace trainwarden::preload
