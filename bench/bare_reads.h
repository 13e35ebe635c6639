// BareReads: the files that the sampler reads at its defaults, read at the same times, and nothing done with them: what
// the kernel takes for it, and for waking a thread, which no sampler can do without.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/base/file_descriptor.h"

namespace trainwarden::bench {

class BareReads {
 public:
  BareReads();
  // At ticks of 100 ms. Seconds of processor time that this thread took.
  double run(std::chrono::seconds time);
  std::size_t files() const { return files_.size(); }

 private:
  struct File {
    FileDescriptor descriptor;
    int every = 1;  // ticks
  };

  void add(const std::string& path, int every);
  void add_groups();

  std::vector<File> files_;
  std::string buffer_ = std::string(std::size_t{1} << 16, '\0');
};

}  // namespace trainwarden::bench
