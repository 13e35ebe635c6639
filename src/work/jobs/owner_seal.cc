#include "work/jobs/owner_seal.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "core/base/file_descriptor.h"
#include "core/base/text.h"

namespace trainwarden::jobs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKeyBytes = 32;
using Key = std::array<unsigned char, kKeyBytes>;

Status no_key(const fs::path& file, std::string_view why) {
  return Status(Code::kFailedPrecondition,
                fmt::format("the key that jobs are sealed with, {}: {}; XDG_STATE_HOME names another folder for it",
                            printable(file.string()), why));
}

// As the machine's list of users has it, for who is started without HOME, as by systemd. Empty: it has none.
fs::path listed_home() {
  std::array<char, 16384> texts{};
  passwd user{};
  passwd* found = nullptr;
  const bool known = ::getpwuid_r(::geteuid(), &user, texts.data(), texts.size(), &found) == 0 && found != nullptr;
  return known && *found->pw_dir == '/' ? fs::path(found->pw_dir) : fs::path();
}

// kNotFound when there is none.
Result<Key> read_key(const fs::path& file) {
  const FileDescriptor opened(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened.is_open() && errno == ENOENT) return Status(Code::kNotFound, "");
  if (!opened.is_open()) return no_key(file, std::strerror(errno));
  struct stat info {};
  if (::fstat(opened.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid()) {
    return no_key(file, "expected a file of this user");
  }
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return no_key(file, "expected one that others cannot read (chmod 600)");
  Key key{};
  if (::read(opened.get(), key.data(), key.size()) != static_cast<ssize_t>(key.size())) {
    return no_key(file, fmt::format("expected {} bytes", kKeyBytes));
  }
  return key;
}

// Whole or not at all, and never in place of one that somebody else has made meanwhile.
Status make_key(const fs::path& file) {
  Key key{};
  if (RAND_bytes(key.data(), static_cast<int>(key.size())) != 1) return no_key(file, "there is no randomness");
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) return no_key(file, error.message());
  const fs::path aside = fmt::format("{}.{}", file.string(), ::getpid());
  const FileDescriptor made(::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  const bool written =
      made.is_open() && ::write(made.get(), key.data(), key.size()) == static_cast<ssize_t>(key.size());
  const bool is_there = written && (::link(aside.c_str(), file.c_str()) == 0 || errno == EEXIST);
  const int problem = errno;
  ::unlink(aside.c_str());
  return is_there ? Status() : no_key(file, std::strerror(problem));
}

Result<Key> owner_key() {
  const fs::path file = owner_key_file();
  if (file.empty()) {
    return Status(Code::kFailedPrecondition,
                  "expected HOME or XDG_STATE_HOME to name a folder, for the key of jobs; this machine's list of users "
                  "names none either");
  }
  Result<Key> key = read_key(file);
  if (key.status().code() != Code::kNotFound) return key;
  TRAINWARDEN_RETURN_IF_ERROR(make_key(file));
  return read_key(file);
}

}  // namespace

fs::path owner_key_file() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return fs::path(state) / "trainwarden/key";
  const char* home = std::getenv("HOME");
  const fs::path folder = home != nullptr && *home == '/' ? fs::path(home) : listed_home();
  return folder.empty() ? folder : folder / ".local/state/trainwarden/key";
}

Result<std::string> owner_seal(std::string_view text, const fs::path& folder) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Key key, owner_key());
  std::error_code error;
  std::string sealed = fs::weakly_canonical(fs::absolute(folder), error).string();
  sealed += '\0';
  sealed += text;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (error ||
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(sealed.data()), sealed.size(), digest.data(), &size) == nullptr) {
    return Status(Code::kInternal, "the seal cannot be computed");
  }
  std::string seal;
  for (unsigned int i = 0; i < size; ++i) seal += fmt::format("{:02x}", digest[i]);
  return seal;
}

Status check_owner_seal(std::string_view text, const fs::path& folder, std::string_view seal, std::string_view what) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string expected, owner_seal(text, folder));
  const bool same = seal.size() == expected.size() && CRYPTO_memcmp(seal.data(), expected.data(), seal.size()) == 0;
  if (same) return {};
  return Status(Code::kPermissionDenied,
                fmt::format("{} was not made by this user in this folder, or was changed since, and nothing of it is "
                            "started; make it again",
                            what));
}

}  // namespace trainwarden::jobs
