// The child of the black box's crash tests: trains a loop of known numbers and dies in the middle of a step.
//
//   black_box_child RUN_DIR HOW
//
// HOW: segv, bus, fpe, ill, abort (the instruction or call itself); term, kill (sent from outside: it waits for them);
// overflow (of the stack); thread (a fault in another thread while this one trains);
// threads (faults in eight threads at the same moment); handler (a handler of its own,
// which exits with 42); closed (a fault after close()).
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "black_box_pattern.h"
#include "trainwarden/hook.h"

// Under AddressSanitizer the signals stay those of the program: it is what they do without it that is tested.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0:use_sigaltstack=0";
}

namespace trainwarden::crash {
namespace {

void save_step(Hook& hook) {
  const std::int64_t step = hook.global_step();
  const std::vector<float> values = box_values(step);
  const auto view = TensorView::of(values.data(), DType::kFloat32, Shape({static_cast<std::int64_t>(values.size())}));
  hook.save_tensor(kBoxWeight, view);
  hook.save_tensor(kBoxGradient, view);
  const std::int64_t indices[] = {step * 2, step * 2 + 1};
  hook.remember("trainwarden/batch/indices", TensorView::of(indices, DType::kInt64, Shape({2})));
  hook.remember("trainwarden/rng/torch", TensorView::of(indices, DType::kInt64, Shape({2})));
  hook.save_scalar("trainwarden/batch/epoch", 0);
  hook.save_scalar("trainwarden/batch/number", static_cast<double>(step));
}

volatile int sink = 0;

[[gnu::noinline]] int fill_the_stack(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  if (depth < 1 << 30) sink = sink + fill_the_stack(depth + 1) + frame[0];
  return sink;
}

// A store to a page that is there but beyond the end of its file.
void touch_beyond_a_file() {
  char name[] = "/tmp/black_box_child_XXXXXX";
  const int file = ::mkstemp(name);
  ::unlink(name);
  auto* page = static_cast<volatile char*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  page[0] = 1;
}

// Eight threads fault when the last of them is there.
void die_in_threads() {
  static volatile int* const nowhere = nullptr;
  std::atomic<int> missing = 8;
  std::vector<std::thread> threads;
  for (int i = missing; i > 0; --i) {
    threads.emplace_back([&missing] {
      --missing;
      while (missing > 0) std::this_thread::yield();
      *nowhere = 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// By the instruction where there is one that does it on every machine.
void die(const std::string& how) {
  static volatile int* const nowhere = nullptr;
  const std::map<std::string, std::function<void()>> ways = {
      {"segv", [] { *nowhere = 1; }},    {"bus", touch_beyond_a_file},     {"fpe", [] { ::raise(SIGFPE); }},
      {"ill", [] { __builtin_trap(); }}, {"abort", [] { std::abort(); }},  {"overflow", [] { fill_the_stack(0); }},
      {"handler", [] { *nowhere = 1; }}, {"closed", [] { *nowhere = 1; }}, {"threads", die_in_threads},
  };
  ways.at(how)();
}

void own_handler(int) {
  ::_exit(42);
}

int train(const std::string& run_dir, const std::string& how) {
  if (how == "handler") ::signal(SIGSEGV, own_handler);
  HookOptions options;
  options.run_dir = run_dir;
  options.black_box.steps = kBoxSteps;
  auto hook = Hook::open(std::move(options));
  if (!hook.ok()) {
    fmt::print(stderr, "open: {}\n", hook.status().to_string());
    return 1;
  }
  (*hook)->set_mode(Mode::kTrain);
  for (std::int64_t step = 0; step < kBoxFailingStep; ++step) {
    save_step(**hook);
    (*hook)->end_step();
  }
  if (const Status status = (*hook)->flush(); !status.ok()) return 1;
  if (how == "thread") {
    std::thread([] { die("segv"); }).detach();
    while (true) save_step(**hook), (*hook)->end_step();
  }
  save_step(**hook);
  if (how == "closed") (void)(*hook)->close();
  if (how == "term" || how == "kill") {
    fmt::print("ready\n");
    std::fflush(stdout);
    while (true) ::pause();
  }
  die(how);
  return 0;
}

}  // namespace
}  // namespace trainwarden::crash

int main(int argc, char** argv) {
  return argc == 3 ? trainwarden::crash::train(argv[1], argv[2]) : 2;
}
