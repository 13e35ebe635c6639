#include "race_load.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include <nlohmann/json.hpp>

namespace trainwarden::bench {
namespace {

std::shared_ptr<const std::byte> mapped(const std::filesystem::path& path, std::size_t bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::system_error(errno, std::generic_category(), path);
  void* place = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
  const int error = errno;
  ::close(file);
  if (place == MAP_FAILED) throw std::system_error(error, std::generic_category(), path);
  return {static_cast<const std::byte*>(place),
          [bytes](const std::byte* begin) { ::munmap(const_cast<std::byte*>(begin), bytes); }};
}

}  // namespace

RaceLoad::RaceLoad(const std::filesystem::path& load_file, const std::filesystem::path& pool_file) {
  std::ifstream file(load_file);
  const nlohmann::json load = nlohmann::json::parse(file);
  steps_ = load.at("steps").get<int>();
  shift_ = load.at("shift").get<std::size_t>();
  const std::size_t pool_bytes = std::filesystem::file_size(pool_file);
  for (const auto& entry : load.at("tensors")) {
    RaceTensor tensor;
    tensor.name = entry.at("name").get<std::string>();
    tensor.bytes = sizeof(float);
    std::vector<std::int64_t> sides;
    for (const auto& side : entry.at("shape")) {
      sides.push_back(side.get<std::int64_t>());
      tensor.bytes *= static_cast<std::size_t>(sides.back());
    }
    tensor.shape = *Shape::from(sides);
    tensor.offset = entry.at("offset").get<std::size_t>();
    if (tensor.offset + static_cast<std::size_t>(steps_ - 1) * shift_ + tensor.bytes > pool_bytes) {
      throw std::runtime_error("the pool has no room for " + tensor.name);
    }
    tensors_.push_back(std::move(tensor));
  }
  if (tensors_.empty()) throw std::runtime_error("no tensors in " + load_file.string());
  pool_ = mapped(pool_file, pool_bytes);
}

const std::byte* RaceLoad::data(const RaceTensor& tensor, int step) const {
  return pool_.get() + tensor.offset + static_cast<std::size_t>(step) * shift_;
}

TensorView RaceLoad::view(const RaceTensor& tensor, int step) const {
  return TensorView::of(data(tensor, step), DType::kFloat32, tensor.shape);
}

}  // namespace trainwarden::bench
