// Files as bytes.
#include "weights/file_bytes.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bert {
namespace {

std::runtime_error system_failure(const std::filesystem::path& file, const char* what) {
  return std::runtime_error(file.string() + ": " + what + ": " + std::strerror(errno));
}

struct Descriptor {
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  int number;
};

// A name is safe on disk once its folder is.
void synchronise_folder(const std::filesystem::path& folder) {
  const Descriptor opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (opened.number < 0 || ::fsync(opened.number) != 0) throw system_failure(folder, "cannot synchronise this folder");
}

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& file) {
  const Descriptor opened{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  if (opened.number < 0) throw system_failure(file, "cannot open this file");
  struct stat status {};
  if (::fstat(opened.number, &status) != 0) throw system_failure(file, "cannot ask for this file's size");
  if (!S_ISREG(status.st_mode)) throw std::runtime_error(file.string() + ": expected a file, found something else");
  size_bytes_ = static_cast<std::size_t>(status.st_size);
  if (size_bytes_ == 0) return;
  void* mapped = ::mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE, opened.number, 0);
  if (mapped == MAP_FAILED) throw system_failure(file, "cannot map this file into memory");
  data_ = static_cast<std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_bytes_);
}

std::string read_text(const std::filesystem::path& file, std::size_t max_bytes) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw system_failure(file, "cannot open this file");
  std::string text;
  char part[4096];
  while (in.read(part, sizeof part) || in.gcount() > 0) {
    text.append(part, static_cast<std::size_t>(in.gcount()));
    if (text.size() > max_bytes) {
      throw std::runtime_error(file.string() + ": expected at most " + std::to_string(max_bytes) +
                               " bytes, found more. Is it another kind of file?");
    }
  }
  if (in.bad()) throw system_failure(file, "cannot read this file");
  return text;
}

AtomicFile::AtomicFile(std::filesystem::path file) : file_(std::move(file)) {
  std::string pattern = file_.string() + ".XXXXXX";
  descriptor_ = ::mkostemp(pattern.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail("cannot make a file here");
  temporary_ = pattern;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* what) const {
  throw system_failure(file_, what);
}

void AtomicFile::append(const void* bytes, std::size_t count) {
  const char* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::write(descriptor_, at, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write this file, and left what was there before");
    at += written;
    count -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::commit() {
  // As other new files: mkstemp() gives no rights to group and others.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(descriptor_, 0666 & ~mask) != 0) fail("cannot set this file's rights");
  if (::fsync(descriptor_) != 0) fail("cannot synchronise this file");
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (closed != 0) fail("cannot close this file");
  if (::rename(temporary_.c_str(), file_.c_str()) != 0) fail("cannot give this file its name");
  temporary_.clear();
  synchronise_folder(folder_of(file_));
}

}  // namespace bert
