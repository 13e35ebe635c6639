// What libtrainwarden_torch_attach.so exports: the way in from libtrainwarden_preload.so.
#include <ATen/Version.h>
#include <pthread.h>
#include <torch/version.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "attach_calls.h"
#include "attached_training.h"
#include "trainwarden/export.h"

namespace trainwarden::torch {
namespace {

using ::torch::nn::Module;
using ::torch::optim::Optimizer;

AttachedTraining& training() {
  return AttachedTraining::instance();
}
const Optimizer& optimizer_at(const void* address) {
  return *static_cast<const Optimizer*>(address);
}
const Module& module_at(const void* address) {
  return *static_cast<const Module*>(address);
}

constexpr preload::AttachCalls kCalls = {
    .module_seen = [](const void* module) { training().module_seen(module_at(module)); },
    .training_set = [](const void* module) { training().training_set(module_at(module)); },
    .backward_begins =
        [](const void* losses) { training().backward_begins(*static_cast<const std::vector<at::Tensor>*>(losses)); },
    .backward_has_ended = [] { training().backward_has_ended(); },
    .optimizer_seen = [](void* optimizer) { training().optimizer_seen(optimizer_at(optimizer)); },
    .gradients_cleared = [](void* optimizer) { training().gradients_cleared(optimizer_at(optimizer)); },
    .gradients_are_cleared = [] { training().gradients_are_cleared(); },
    .step_begins =
        [](void* optimizer, const void* loss_closure) {
          const auto& closure = *static_cast<const std::function<at::Tensor()>*>(loss_closure);
          training().step_begins(optimizer_at(optimizer), closure != nullptr);
        },
    .step_has_ended = [](void* optimizer) { training().step_has_ended(optimizer_at(optimizer)); },
};

// "1.13": the layout of what we share with LibTorch changes with it. LibTorch says it among its build settings.
std::string version_of_program() {
  constexpr const char* kKey = "TORCH_VERSION=";
  const std::string settings = at::show_config();
  const std::size_t key = settings.find(kKey);
  if (key == std::string::npos) return "unknown";
  const std::string version = settings.substr(key + std::char_traits<char>::length(kKey), 16);
  return version.substr(0, version.find('.', version.find('.') + 1));
}

bool is_right_torch() {
  const std::string own = std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR);
  const std::string found = version_of_program();
  if (own == found) return true;
  std::fprintf(stderr,
               "trainwarden: warning: nothing is captured: the program has LibTorch %s, and Trainwarden was built "
               "against %s; build it against the program's: cmake -DTorch_DIR=...\n",
               found.c_str(), own.c_str());
  return false;
}

}  // namespace
}  // namespace trainwarden::torch

extern "C" TRAINWARDEN_API const trainwarden::preload::AttachCalls* trainwarden_attach() {
  if (!trainwarden::torch::is_right_torch()) return nullptr;
  pthread_atfork(nullptr, nullptr, [] { trainwarden::torch::AttachedTraining::instance().child_after_fork(); });
  return &trainwarden::torch::kCalls;
}
