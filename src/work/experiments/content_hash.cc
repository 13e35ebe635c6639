#include "work/experiments/content_hash.h"

#include <openssl/evp.h>

#include <array>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "store/storage/location.h"

namespace trainwarden::experiments {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
constexpr std::size_t kDeepestFolder = 64;

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new()) {
    ok_ = context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1;
  }
  void add(ByteSpan bytes) { ok_ = ok_ && EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1; }
  Result<std::string> finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    ok_ = ok_ && EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1;
    if (!ok_) return Status(Code::kInternal, "the library for SHA-256 does not work");
    std::string text;
    for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
    return text;
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_;
  bool ok_ = false;
};

// Reads what belongs to one hash, as long as its budget lasts.
class ContentReader {
 public:
  ContentReader(const storage::Storage& storage, const HashBudget& budget) : storage_(storage), budget_(budget) {}

  bool is_over_budget() const { return bytes_ > budget_.bytes || files_ > budget_.files; }
  std::uint64_t bytes() const { return bytes_; }
  std::string note() const {
    return fmt::format("not hashed: more than {} or {} files", format_bytes(budget_.bytes), budget_.files);
  }

  Result<std::string> hash_file(const std::string& path) {
    ++files_;
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto file, storage_.open(path));
    Sha256 hash;
    std::vector<std::byte> chunk(kChunkBytes);
    for (std::uint64_t offset = 0; !is_over_budget();) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const std::size_t count, file->read_at(offset, chunk));
      if (count == 0) break;
      hash.add(ByteSpan(chunk).first(count));
      offset += count;
      bytes_ += count;
    }
    return hash.finish();
  }

  // Adds a line for each file beneath `folder`.
  Status list(const std::string& folder, std::string& manifest, std::size_t depth) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<storage::Entry> entries, storage_.entries(folder));
    for (const storage::Entry& entry : entries) {
      if (is_over_budget()) return Status();
      using Kind = storage::FileInfo::Kind;
      const std::string path = folder.empty() ? entry.name : folder + "/" + entry.name;
      if (entry.info.kind == Kind::kFolder && entry.name != ".git" && entry.name != "__pycache__") {
        if (depth == kDeepestFolder) return Status(Code::kOutOfRange, storage_.describe(path) + " lies too deep");
        TRAINWARDEN_RETURN_IF_ERROR(list(path, manifest, depth + 1));
      } else if (entry.info.kind == Kind::kFile) {
        TRAINWARDEN_ASSIGN_OR_RETURN(const std::string hash, hash_file(path));
        add_line(manifest, hash, path);
      } else if (entry.info.kind == Kind::kLink) {
        ++files_;
        add_line(manifest, "link", path);
      }
    }
    return Status();
  }

 private:
  // A name may hold anything but a zero.
  static void add_line(std::string& manifest, const std::string& hash, const std::string& path) {
    manifest += hash + ' ' + path + '\0';
  }

  const storage::Storage& storage_;
  const HashBudget& budget_;
  std::uint64_t bytes_ = 0;
  std::size_t files_ = 0;
};

Result<ContentHash> answer(const ContentReader& reader, const std::string& hash) {
  if (reader.is_over_budget()) return ContentHash{"", 0, reader.note()};
  return ContentHash{"sha256:" + hash, reader.bytes(), ""};
}

}  // namespace

Result<std::string> sha256_of(std::string_view bytes) {
  Sha256 hash;
  hash.add(as_bytes(bytes));
  return hash.finish();
}

Result<ContentHash> hash_content(const fs::path& path, const HashBudget& budget) {
  std::error_code error;
  const fs::path there = fs::canonical(path, error);  // the user's own word may be a link
  if (error) {
    const bool missing = error == std::errc::no_such_file_or_directory;
    return Status(missing ? Code::kNotFound : Code::kPermissionDenied,
                  fmt::format("cannot hash {}: {}", printable(path.string()), error.message()));
  }
  if (fs::is_directory(there, error)) {
    const storage::Location folder(there);
    ContentReader reader(folder.storage(), budget);
    std::string manifest;
    TRAINWARDEN_RETURN_IF_ERROR(reader.list("", manifest, 0));
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string hash, sha256_of(manifest));
    return answer(reader, hash);
  }
  if (!fs::is_regular_file(there, error)) {
    return Status(Code::kInvalidArgument, fmt::format("{} is neither a file nor a folder", printable(path.string())));
  }
  const storage::Location folder(there.parent_path());
  ContentReader reader(folder.storage(), budget);
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string hash, reader.hash_file(there.filename().string()));
  return answer(reader, hash);
}

}  // namespace trainwarden::experiments
