// Writes checkpoints, reads them and finds the newest.
#include "training/checkpoint.h"

#include <ATen/ops/empty.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "files/reading.h"
#include "files/writing.h"
#include "training/checkpoint_manifest.h"

namespace bert {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "step-";
constexpr std::size_t kDigits = 10;

std::string folder_name(std::int64_t step) {
  std::string digits = std::to_string(step);
  if (digits.size() < kDigits) digits.insert(0, kDigits - digits.size(), '0');
  return kPrefix + digits;
}

// The step that a folder's name tells, or -1 where it is no checkpoint's.
std::int64_t step_of(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::string digits = name.rfind(kPrefix, 0) == 0 ? name.substr(std::strlen(kPrefix)) : "";
  if (digits.size() < kDigits || digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos)
    return -1;
  return std::stoll(digits);
}

std::vector<fs::path> checkpoints_newest_first(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  if (!fs::exists(folder, error)) return paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (step_of(entry.path()) >= 0) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end(), [](const fs::path& a, const fs::path& b) { return step_of(a) > step_of(b); });
  return paths;
}

uLong add_to_crc(uLong crc, const void* bytes, std::int64_t count) {
  return crc32_z(crc, static_cast<const Bytef*>(bytes), static_cast<z_size_t>(count));
}

Manifest write_tensors(const Checkpoint& checkpoint, const fs::path& path) {
  AtomicFile file(path);
  Manifest manifest;
  uLong crc = 0;
  for (const auto& [section, tensors] : checkpoint.sections) {
    for (const auto& [name, tensor] : tensors) {
      const at::Tensor values = tensor.detach().to(at::kCPU).contiguous();
      const auto bytes = static_cast<std::int64_t>(values.nbytes());
      manifest.tensors.push_back({section, name, values.scalar_type(), values.sizes().vec(), bytes});
      file.append(values.data_ptr(), static_cast<std::size_t>(bytes));
      if (bytes > 0) crc = add_to_crc(crc, values.data_ptr(), bytes);
    }
  }
  file.commit();
  manifest.tensors_crc = static_cast<std::uint32_t>(crc);
  return manifest;
}

void read_tensors(const fs::path& path, const Manifest& manifest, Checkpoint& checkpoint) {
  InputFile file(path, Links::kRefuse);
  auto left = static_cast<std::int64_t>(file.size_bytes());
  for (const StoredTensor& tensor : manifest.tensors) {
    if (tensor.bytes > left) file.fail("is shorter than its manifest says");
    left -= tensor.bytes;
  }
  if (left != 0) file.fail("is longer than its manifest says");
  uLong crc = 0;
  for (const StoredTensor& tensor : manifest.tensors) {
    const at::Tensor values = at::empty(tensor.shape, at::TensorOptions().dtype(tensor.type));
    if (tensor.bytes > 0) {
      file.read(values.data_ptr(), static_cast<std::uint64_t>(tensor.bytes));
      crc = add_to_crc(crc, values.data_ptr(), tensor.bytes);
    }
    checkpoint.sections[tensor.section].emplace_back(tensor.name, values);
  }
  if (static_cast<std::uint32_t>(crc) != manifest.tensors_crc)
    file.fail("is damaged: its checksum is not the manifest's");
}

}  // namespace

const NamedTensors& Checkpoint::section(const std::string& name) const {
  const auto found = sections.find(name);
  if (found == sections.end()) {
    throw std::runtime_error("The checkpoint of step " + std::to_string(step) + " has no section " + name +
                             "; it was written with other options.");
  }
  return found->second;
}

fs::path save_checkpoint(const Checkpoint& checkpoint, const fs::path& folder, int kept) {
  if (checkpoint.step < 0 || kept < 1) {
    throw std::runtime_error("A checkpoint needs a step that is not negative, and 1 or more are kept; found step " +
                             std::to_string(checkpoint.step) + ", kept " + std::to_string(kept) + ".");
  }
  const fs::path target = folder / folder_name(checkpoint.step);
  const fs::path partial = folder / (".partial-" + folder_name(checkpoint.step));
  fs::create_directories(folder);
  fs::remove_all(partial);  // of a process that died while it wrote
  fs::create_directory(partial);
  const Manifest manifest = write_tensors(checkpoint, partial / "tensors.bin");
  write_text(partial / "manifest.json", manifest_text(manifest, checkpoint));
  put_folder_in_place(partial, target);
  const std::vector<fs::path> paths = checkpoints_newest_first(folder);
  for (std::size_t i = static_cast<std::size_t>(kept); i < paths.size(); ++i) {
    if (paths[i] != target) fs::remove_all(paths[i]);
  }
  return target;
}

Checkpoint read_checkpoint(const fs::path& path) {
  Checkpoint checkpoint;
  Manifest manifest;
  const fs::path file = path / "manifest.json";
  const std::string text = read_text(file, kMaxManifestBytes, Links::kRefuse);
  const auto fail = [&](const std::string& what) { throw std::runtime_error(file.string() + ": " + what); };
  try {
    parse_manifest(text, manifest, checkpoint);
  } catch (const std::runtime_error& error) {
    fail(error.what());
  }
  if (checkpoint.step != step_of(path)) fail("is of another step than its folder");
  read_tensors(path / "tensors.bin", manifest, checkpoint);
  return checkpoint;
}

FoundCheckpoint find_newest_checkpoint(const fs::path& folder) {
  FoundCheckpoint found;
  for (const fs::path& path : checkpoints_newest_first(folder)) {
    try {
      found.checkpoint = read_checkpoint(path);
      found.path = path;
      return found;
    } catch (const std::exception& error) {
      found.refused.emplace_back(path, error.what());
    }
  }
  return found;
}

std::optional<fs::path> checkpoint_folder_of_job() {
  const char* folder = std::getenv("TRAINWARDEN_CHECKPOINT_DIR");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return fs::path(folder);
}

}  // namespace bert
