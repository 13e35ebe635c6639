// What the race writes, as loads.py has made it: a load from its file, and its tensors as pieces of the pool.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "trainwarden/tensor_view.h"

namespace trainwarden::bench {

struct RaceTensor {
  std::string name;
  Shape shape;
  std::size_t offset = 0;  // in the pool, at step 0
  std::size_t bytes = 0;
};

class RaceLoad {
 public:
  // Throws when a file cannot be read, or a tensor lies outside of the pool.
  RaceLoad(const std::filesystem::path& load_file, const std::filesystem::path& pool_file);

  int steps() const { return steps_; }
  const std::vector<RaceTensor>& tensors() const { return tensors_; }
  const RaceTensor& middle() const { return tensors_[tensors_.size() / 2]; }  // that is read alone
  const std::byte* data(const RaceTensor& tensor, int step) const;
  TensorView view(const RaceTensor& tensor, int step) const;

 private:
  int steps_ = 0;
  std::size_t shift_ = 0;  // so many bytes a step
  std::vector<RaceTensor> tensors_;
  std::shared_ptr<const std::byte> pool_;  // mapped, and in memory
};

}  // namespace trainwarden::bench
