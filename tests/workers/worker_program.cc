// One worker of a job: says "r" when its hook is open, then does as it is told, a letter at a time.
//
//   s  saves its rank, ends the step, flushes, and answers "s"
//   c  closes the hook, answers "c" and ends
//
// Who it is and where it writes is in the environment. It ends with code 9, and says why, when the hook cannot be
// opened.
#include <unistd.h>

#include <fmt/format.h>

#include "trainwarden/hook.h"

namespace {

using namespace trainwarden;

bool answer(char letter) {
  return ::write(STDOUT_FILENO, &letter, 1) == 1;
}

int obey(Hook& hook, int rank) {
  char letter = 'r';
  while (answer(letter) && ::read(STDIN_FILENO, &letter, 1) == 1) {
    if (letter == 'c') break;
    const auto value = static_cast<float>(rank);
    hook.save_tensor("rank", TensorView::of(&value, DType::kFloat32, {}));
    hook.end_step();
    if (!hook.flush().ok()) return 8;
  }
  if (letter != 'c') return 7;
  return hook.close().ok() && answer(letter) ? 0 : 8;
}

}  // namespace

int main() {
  HookOptions base;
  base.include = {"rank"};
  base.save = SavePolicy::every(1);
  const auto options = hook_options_from_environment(std::move(base));
  auto hook = options.ok() ? Hook::open(*options) : Result<std::unique_ptr<Hook>>(options.status());
  if (!hook.ok()) {
    fmt::print(stderr, "{}\n", hook.status().message());
    return 9;
  }
  return obey(**hook, options->rank);
}
