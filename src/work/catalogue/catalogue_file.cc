#include "work/catalogue/catalogue_file.h"

#include <sys/vfs.h>

#include <array>
#include <cstdint>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "work/catalogue/schema.h"

namespace trainwarden::catalogue {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "catalogue.db";
// In this order: a new database beside an old log takes no notice of it, an old one without its log would miss changes.
constexpr std::array kEndings = {"", "-journal", "-wal", "-shm"};

// As statfs(2) and the kernel's sources number them.
constexpr std::array<std::uint32_t, 12> kNetworkFileSystems = {
    0x6969,      // NFS
    0x517b,      // SMB
    0xff534d42,  // CIFS
    0xfe534d42,  // SMB 2
    0x5346414f,  // AFS
    0x73757245,  // Coda
    0x0bd00bd0,  // Lustre
    0x47504653,  // GPFS
    0x19830326,  // BeeGFS
    0x00c36400,  // Ceph
    0x65735546,  // FUSE: sshfs and others
    0x01021997,  // 9p
};

Status make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return Status();
  return Status(Code::kPermissionDenied,
                fmt::format("cannot make {}: {}", printable(folder.string()), error.message()));
}

// As it is on the disk. kAborted when it is of another version.
Result<Database> open_on_disk(const fs::path& folder, bool on_network) {
  TRAINWARDEN_RETURN_IF_ERROR(make_folder(folder));
  TRAINWARDEN_ASSIGN_OR_RETURN(Database database, Database::open(folder / kFileName, !on_network));
  TRAINWARDEN_RETURN_IF_ERROR(prepare_schema(database));
  return database;
}

bool is_worth_throwing_away(const Status& status) {
  return status.code() == Code::kDataLoss || status.code() == Code::kAborted;
}

}  // namespace

bool is_on_network(const fs::path& folder) {
  std::error_code ignored;
  fs::path there = fs::absolute(folder, ignored);
  while (!fs::exists(there, ignored) && there.has_relative_path()) there = there.parent_path();
  struct statfs about {};
  if (::statfs(there.c_str(), &about) != 0) return false;  // opening it says what is wrong
  const auto type = static_cast<std::uint32_t>(about.f_type);
  for (const std::uint32_t known : kNetworkFileSystems) {
    if (type == known) return true;
  }
  return false;
}

Result<CatalogueFile> open_catalogue_file(const fs::path& folder, bool on_network) {
  Result<Database> database = open_on_disk(folder, on_network);
  if (database.ok()) return CatalogueFile{*std::move(database), {}};
  if (is_worth_throwing_away(database.status())) {
    const std::string why = database.status().message();
    TRAINWARDEN_RETURN_IF_ERROR(remove_catalogue_file(folder));
    database = open_on_disk(folder, on_network);
    if (database.ok()) {
      return CatalogueFile{*std::move(database), {"the catalogue is made anew: " + why}};
    }
  }
  if (is_only_of_the_file(database.status())) return open_catalogue_in_memory(database.status());
  return database.status();
}

Result<CatalogueFile> open_catalogue_in_memory(const Status& why) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Database database, Database::open_in_memory());
  TRAINWARDEN_RETURN_IF_ERROR(prepare_schema(database));
  return CatalogueFile{std::move(database),
                       {fmt::format("the catalogue cannot be kept ({}), so everything is read anew; "
                                    "TRAINWARDEN_CATALOGUE=FOLDER names another place",
                                    why.message())}};
}

bool is_only_of_the_file(const Status& status) {
  const Code code = status.code();
  return code == Code::kPermissionDenied || code == Code::kInternal || code == Code::kResourceExhausted ||
         code == Code::kUnavailable;
}

Status remove_catalogue_file(const fs::path& folder) {
  for (const char* ending : kEndings) {
    const fs::path file = folder / (std::string(kFileName) + ending);
    std::error_code error;
    fs::remove(file, error);
    if (error) {
      return Status(Code::kPermissionDenied,
                    fmt::format("cannot remove {}: {}", printable(file.string()), error.message()));
    }
  }
  return Status();
}

}  // namespace trainwarden::catalogue
