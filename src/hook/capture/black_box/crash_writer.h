// CrashWriter: writes the black box when the process dies on a signal.
//
// For SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, and for SIGTERM where nobody handles it. The handler calls nothing
// but open, mkdir, write, close, rename, clock_gettime and pure code on memory that was made before, on a stack of its
// own where the thread has none. Then what was there before us has the signal again: the default, Python's
// faulthandler, the program's own handler; so core dumps and the exit status are as without us. A fault inside the
// handler ends the process as the default does. SIGKILL cannot be caught.
#pragma once

#include <filesystem>
#include <memory>

#include "hook/capture/black_box/black_box.h"
#include "hook/capture/black_box/box_files.h"
#include "trainwarden/status.h"

namespace trainwarden::capture {

class CrashWriter {
 public:
  // From now on, until it is destroyed. `run_dir` is absolute and on this machine. At most kMaxWriters at once:
  // kResourceExhausted beyond. By the thread that drives training, which gets the stack; head and box must outlive it.
  static Result<std::unique_ptr<CrashWriter>> install(const std::filesystem::path& run_dir, const BoxHead& head,
                                                      const BlackBox& box);
  ~CrashWriter();
  CrashWriter(const CrashWriter&) = delete;
  CrashWriter& operator=(const CrashWriter&) = delete;

  // As signal_ends_process() in trainwarden/hook.h.
  static bool signal_ends_process(int signal_number);

  static constexpr int kMaxWriters = 4;  // hooks of one process

  struct Prepared;  // what the handler works with

 private:
  explicit CrashWriter(std::unique_ptr<Prepared> prepared);
  std::unique_ptr<Prepared> prepared_;
};

}  // namespace trainwarden::capture
