// A worker that starts when it is told to, writes one step and ends. Its process id is the same as that of every other:
// as in containers, each of which has a process 1, that share a volume.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "trainwarden/hook.h"

// In place of the C library's, for all code of this program.
extern "C" pid_t getpid() noexcept {
  return 1;
}

namespace trainwarden {
namespace {

int work(const char* run_dir, int rank, int world_size) {
  HookOptions options;
  options.run_dir = run_dir;
  options.rank = rank;
  options.world_size = world_size;
  options.staging_bytes = 1 << 16;
  auto hook = Hook::open(options);
  if (!hook.ok()) {
    std::fprintf(stderr, "%s\n", hook.status().to_string().c_str());
    return 1;
  }
  (*hook)->save_scalar("rank", rank);
  (*hook)->end_step();
  const Status closed = (*hook)->close();
  if (!closed.ok()) std::fprintf(stderr, "%s\n", closed.to_string().c_str());
  return closed.ok() ? 0 : 2;
}

}  // namespace
}  // namespace trainwarden

// start_child <run folder> <rank> <world size> <descriptor that ends when all are to start>
int main(int argc, char** argv) {
  if (argc != 5) return 3;
  char ignored = 0;
  while (::read(std::atoi(argv[4]), &ignored, 1) > 0) continue;
  return trainwarden::work(argv[1], std::atoi(argv[2]), std::atoi(argv[3]));
}
