#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>
#include <system_error>

#include "race_contender.h"

namespace trainwarden::bench {
namespace {

[[noreturn]] void fail(const std::string& path) {
  throw std::system_error(errno, std::generic_category(), path);
}

std::string plain_step_file(const std::filesystem::path& folder, int step) {
  return folder / ("step-" + std::to_string(step));
}

void write_all(int file, const std::byte* data, std::size_t bytes, const std::string& path) {
  while (bytes > 0) {
    const ssize_t written = ::write(file, data, bytes);
    if (written < 0) fail(path);
    data += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

class PlainWriter final : public RaceWriter {
 public:
  explicit PlainWriter(const std::filesystem::path& folder) : folder_(folder) {
    std::filesystem::create_directories(folder);
  }

  void write_step(const RaceLoad& load, int step) override {
    if (step == 0) write_names(load);
    const std::string path = plain_step_file(folder_, step);
    const std::string part = path + ".part";
    const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) fail(part);
    for (const RaceTensor& tensor : load.tensors()) write_all(file, load.data(tensor, step), tensor.bytes, part);
    if (::close(file) != 0 || std::rename(part.c_str(), path.c_str()) != 0) fail(part);
  }

  void close() override {}

 private:
  void write_names(const RaceLoad& load) const {
    std::ofstream file(folder_ / "names");
    std::size_t place = 0;
    for (const RaceTensor& tensor : load.tensors()) {
      file << tensor.name << ' ' << place << ' ' << tensor.bytes << '\n';
      place += tensor.bytes;
    }
    if (!file.flush()) throw std::runtime_error("cannot write the names");
  }

  std::filesystem::path folder_;
};

class PlainReader final : public RaceReader {
 public:
  explicit PlainReader(const std::filesystem::path& folder) : folder_(folder) {
    std::ifstream file(folder / "names");
    std::string name;
    Place place;
    while (file >> name >> place.offset >> place.bytes) places_.emplace(name, place);
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string stem = entry.path().filename();
      if (stem.starts_with("step-") && !stem.ends_with(".part")) steps_.push_back(std::stoll(stem.substr(5)));
    }
  }
  ~PlainReader() override {
    for (const auto& [step, file] : files_) ::close(file);
  }

  std::vector<std::string> names() override {
    std::vector<std::string> names;
    for (const auto& [name, place] : places_) names.push_back(name);
    return names;
  }
  std::vector<std::int64_t> steps() override { return steps_; }

  RaceBytes value(std::string_view tensor, int step) override {
    const Place place = places_.find(tensor)->second;
    const std::shared_ptr<void> memory(std::malloc(place.bytes), &std::free);
    auto* data = static_cast<std::byte*>(memory.get());
    for (std::size_t done = 0; done < place.bytes;) {
      const ssize_t read =
          ::pread(file_of(step), data + done, place.bytes - done, static_cast<off_t>(place.offset + done));
      if (read <= 0) fail(plain_step_file(folder_, step));
      done += static_cast<std::size_t>(read);
    }
    return {data, place.bytes, memory};
  }

  std::optional<RaceBytes> look(std::string_view tensor, int step) override {
    if (::access(plain_step_file(folder_, step).c_str(), R_OK) != 0) return std::nullopt;
    return value(tensor, step);
  }

 private:
  struct Place {
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };

  int file_of(int step) {
    const auto found = files_.find(step);
    if (found != files_.end()) return found->second;
    const std::string path = plain_step_file(folder_, step);
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) fail(path);
    files_.emplace(step, file);
    return file;
  }

  std::filesystem::path folder_;
  std::map<std::string, Place, std::less<>> places_;
  std::vector<std::int64_t> steps_;
  std::map<int, int> files_;
};

}  // namespace

std::unique_ptr<RaceWriter> open_plain_writer(const std::filesystem::path& folder) {
  return std::make_unique<PlainWriter>(folder);
}
std::unique_ptr<RaceReader> open_plain_reader(const std::filesystem::path& folder) {
  return std::make_unique<PlainReader>(folder);
}

}  // namespace trainwarden::bench
