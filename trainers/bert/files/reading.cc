// Reading by system calls, which say what failed.
#include "files/reading.h"

#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/failure.h"

namespace bert {
namespace {

int open_to_read(const std::filesystem::path& file, Links links) {
  const int descriptor =
      ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | (links == Links::kRefuse ? O_NOFOLLOW : 0));
  if (descriptor < 0) throw system_failure(file, "cannot open this file");
  return descriptor;
}

}  // namespace

InputFile::InputFile(std::filesystem::path file, Links links)
    : file_(std::move(file)), descriptor_(open_to_read(file_, links)) {
  struct stat status {};
  const bool is_file = ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  if (!is_file) {
    ::close(descriptor_);
    fail("expected a file, found something else");
  }
  size_bytes_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() {
  ::close(descriptor_);
}

void InputFile::read(void* to, std::uint64_t count) {
  char* next = static_cast<char*>(to);
  while (count > 0) {
    const ssize_t got = ::read(descriptor_, next, count);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_failure(file_, "cannot read this file");
    if (got == 0) fail("expected " + std::to_string(count) + " more bytes, found the end of the file");
    next += got;
    count -= static_cast<std::uint64_t>(got);
  }
}

void InputFile::fail(const std::string& what) const {
  throw std::runtime_error(file_.string() + ": " + what);
}

std::string read_text(const std::filesystem::path& file, std::uint64_t max_bytes, Links links) {
  InputFile in(file, links);
  if (in.size_bytes() > max_bytes) {
    in.fail("expected at most " + std::to_string(max_bytes) + " bytes, found " + std::to_string(in.size_bytes()) +
            ". Is it another kind of file?");
  }
  std::string text(in.size_bytes(), '\0');
  in.read(text.data(), text.size());
  return text;
}

MappedFile::MappedFile(const std::filesystem::path& file) {
  const InputFile in(file);
  size_bytes_ = in.size_bytes();
  if (size_bytes_ == 0) return;
  void* mapped = ::mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE, in.descriptor(), 0);
  if (mapped == MAP_FAILED) throw system_failure(file, "cannot map this file into memory");
  data_ = static_cast<std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_bytes_);
}

}  // namespace bert
