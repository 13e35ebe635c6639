// IDX: two zero bytes, the element type (8: unsigned byte), the rank, the sizes as big-endian uint32, the elements.
#include "idx.h"

#include <zlib.h>

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

namespace fashion_mnist {
namespace {

class GzipFile {
 public:
  explicit GzipFile(const std::filesystem::path& path) : path_(path), file_(gzopen(path.c_str(), "rb"), &gzclose) {
    if (!file_) {
      throw std::runtime_error("no data at " + path.string() +
                               "; install dataset-fashion-mnist, or say where the files are with --data");
    }
  }

  void read(void* destination, std::size_t bytes) {
    if (gzread(file_.get(), destination, static_cast<unsigned>(bytes)) != static_cast<int>(bytes)) {
      throw std::runtime_error(path_.string() + " is damaged or shorter than its header says");
    }
  }

  std::uint32_t read_uint32() {
    std::array<std::uint8_t, 4> bytes{};
    read(bytes.data(), bytes.size());
    return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
  }

 private:
  const std::filesystem::path path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

torch::Tensor read_idx(const std::filesystem::path& path, std::uint32_t rank) {
  constexpr std::uint32_t kUnsignedByte = 0x0800;
  GzipFile file(path);
  if (const std::uint32_t magic = file.read_uint32(); magic != (kUnsignedByte | rank)) {
    throw std::runtime_error(path.string() + " is not an IDX file of " + std::to_string(rank) + " dimensions of bytes");
  }
  std::vector<std::int64_t> sizes;
  for (std::uint32_t dimension = 0; dimension < rank; ++dimension) sizes.push_back(file.read_uint32());
  torch::Tensor elements = torch::empty(sizes, torch::kUInt8);
  file.read(elements.data_ptr(), elements.nbytes());
  return elements;
}

}  // namespace

LabelledImages read_labelled_images(const std::filesystem::path& folder, const std::string& part) {
  LabelledImages set = {.images = read_idx(folder / (part + "-images-idx3-ubyte.gz"), 3).unsqueeze(1),
                        .labels = read_idx(folder / (part + "-labels-idx1-ubyte.gz"), 1).to(torch::kInt64)};
  if (set.images.size(0) != set.labels.size(0)) {
    throw std::runtime_error(folder.string() + ": " + std::to_string(set.images.size(0)) + " images of " + part +
                             ", but " + std::to_string(set.labels.size(0)) + " labels");
  }
  return set;
}

}  // namespace fashion_mnist
