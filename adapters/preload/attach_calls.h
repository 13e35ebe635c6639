// What the preloaded library reports to the attached one: a table of plain C functions, so that the two need nothing of
// each other but this.
//
// A call never throws. `self` is alive during the call; nothing is known about it later.
#pragma once

namespace trainwarden::preload {

struct AttachCalls {
  void (*module_seen)(const void* module);      // a member function of it was called
  void (*training_set)(const void* module);     // its train() or eval() has returned
  void (*backward_begins)(const void* losses);  // a backward pass from const std::vector<at::Tensor>*
  void (*backward_has_ended)();                 // not after an exception
  void (*optimizer_seen)(void* optimizer);      // it was given parameters
  void (*gradients_cleared)(void* optimizer);   // its zero_grad() begins
  void (*gradients_are_cleared)();              // its zero_grad() has returned
  void (*step_begins)(void* optimizer,
                      const void* loss_closure);  // its step() begins; const std::function<at::Tensor()>*
  void (*step_has_ended)(void* optimizer);        // its step() has returned; not after an exception
};

// What libtrainwarden_torch_attach.so exports under the name kAttachEntry. Null when this process cannot be watched;
// standard error then says why.
using AttachEntry = const AttachCalls* (*)();
inline constexpr const char* kAttachEntry = "trainwarden_attach";

}  // namespace trainwarden::preload
