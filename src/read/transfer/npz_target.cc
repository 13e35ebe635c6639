// npz: one archive for each step of each worker, as numpy.load reads it: a ZIP file with a .npy file for each tensor,
// not compressed. The archive's comment has the step's words as JSON.
#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/json.h"
#include "data/format/name_escape.h"
#include "read/transfer/npy.h"
#include "read/transfer/step_file_target.h"
#include "read/transfer/zip_library.h"
#include "store/storage/system_error.h"

namespace trainwarden::transfer {
namespace {

namespace fs = std::filesystem;

// A ZIP file gives a name two bytes for its size.
constexpr std::size_t kMaxMemberBytes = 65'535;
constexpr std::size_t kShownBytes = 200;

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// The library takes a name with control characters for one of another encoding and refuses it.
bool can_be_member(std::string_view name) {
  return is_utf8(name) && std::none_of(name.begin(), name.end(), is_control);
}

// Escaped as everywhere (data/format/name_escape.h), and control characters in the same way.
std::string member_name(std::string_view name) {
  if (can_be_member(name)) return fmt::format("{}.npy", name);
  std::string escaped;
  for (const char c : format::escape_name(name)) {
    escaped += is_control(c) ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return escaped + ".npy";
}

// An archive that is being written. It has its name when close() has returned ok, and is not there before.
class NpzFile {
 public:
  static Result<std::unique_ptr<NpzFile>> create(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) return storage::system_error(error.value(), "create the folder", path.parent_path().string());
    TRAINWARDEN_ASSIGN_OR_RETURN(const ZipLibrary* const zip, zip_library());
    int zip_error = 0;
    zip_t* archive = zip->open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &zip_error);
    if (archive != nullptr) return std::unique_ptr<NpzFile>(new NpzFile(*zip, path, archive));
    zip_error_t described;
    zip->error_init_with_code(&described, zip_error);
    Status status(Code::kInternal,
                  fmt::format("cannot create {}: {}", printable(path.string()), zip->error_strerror(&described)));
    zip->error_fini(&described);
    return status;
  }
  ~NpzFile() {
    if (archive_ != nullptr) zip_.discard(archive_);
  }
  NpzFile(const NpzFile&) = delete;
  NpzFile& operator=(const NpzFile&) = delete;

  // `bytes` must stay until close().
  Status add(const std::string& name, std::string_view bytes, std::int64_t unix_s) {
    zip_source_t* source = zip_.source_buffer(archive_, bytes.data(), bytes.size(), 0);
    if (source == nullptr) return failure();
    const zip_int64_t index = zip_.file_add(archive_, name.c_str(), source, ZIP_FL_ENC_UTF_8 | ZIP_FL_OVERWRITE);
    if (index < 0) {
      zip_.source_free(source);
      return failure();
    }
    const auto entry = static_cast<zip_uint64_t>(index);
    zip_.set_file_compression(archive_, entry, ZIP_CM_STORE, 0);
    zip_.file_set_mtime(archive_, entry, static_cast<time_t>(unix_s), 0);
    return {};
  }

  Status close(std::string_view comment) {
    zip_.set_archive_comment(archive_, comment.data(), static_cast<zip_uint16_t>(comment.size()));
    if (zip_.close(archive_) != 0) return failure();
    archive_ = nullptr;
    return {};
  }

 private:
  NpzFile(const ZipLibrary& zip, fs::path path, zip_t* archive)
      : zip_(zip), path_(std::move(path)), archive_(archive) {}

  Status failure() const {
    zip_error_t* error = zip_.get_error(archive_);
    if (zip_.error_system_type(error) == ZIP_ET_SYS) {
      return storage::system_error(zip_.error_code_system(error), "write", path_.string());
    }
    return Status(Code::kInternal,
                  fmt::format("cannot write {}: {}", printable(path_.string()), zip_.error_strerror(error)));
  }

  const ZipLibrary& zip_;
  const fs::path path_;
  zip_t* archive_;
};

class NpzTarget final : public StepFileTarget {
 public:
  explicit NpzTarget(const TargetPlan& plan) : StepFileTarget(plan, "npz") {}

 private:
  Status write_step(const fs::path& path, const WorkerStep& step, std::span<const HeldTensor> tensors) override {
    constexpr std::int64_t kNsPerSecond = 1'000'000'000;
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto archive, NpzFile::create(path));
    std::vector<std::string> arrays;
    arrays.reserve(tensors.size());  // the archive looks at them until it is closed
    for (const HeldTensor& held : tensors) {
      note_disguise(held);
      arrays.push_back(encode_npy(held.value.view));
      const std::string name = member_name(held.name);
      if (name.size() > kMaxMemberBytes) {
        plan().notes.lost("tensors whose names are longer than an archive allows", held.name.substr(0, kShownBytes));
        continue;
      }
      TRAINWARDEN_RETURN_IF_ERROR(archive->add(name, arrays.back(), step.unix_ns / kNsPerSecond));
    }
    TRAINWARDEN_RETURN_IF_ERROR(archive->close(format::dump_json(step_words(plan().trial, step))));
    std::error_code ignored;
    ++plan().tally.files;
    plan().tally.bytes += fs::file_size(path, ignored);
    return {};
  }

  void note_disguise(const HeldTensor& held) {
    const TensorView& view = held.value.view;
    if (npy_dtype(view.dtype) != view.dtype) {
      plan().notes.changed(fmt::format("{} as float32, which holds its values", name(view.dtype)), held.name);
    }
    if (!can_be_member(held.name)) {
      plan().notes.changed("names that are not UTF-8 or have control characters, escaped", held.name);
    }
    if (view.dtype != DType::kString) return;
    const auto* texts = static_cast<const std::string_view*>(view.data);
    for (std::int64_t i = 0; i < view.element_count(); ++i) {
      if (!is_utf8(texts[i])) plan().notes.changed("bytes in texts that are not UTF-8, as U+FFFD", held.name);
      if (texts[i].ends_with('\0')) plan().notes.lost("zeroes at the end of texts", held.name);
    }
  }
};

}  // namespace

Result<std::unique_ptr<TargetWriter>> open_npz_target(const TargetPlan& plan) {
  return std::unique_ptr<TargetWriter>(std::make_unique<NpzTarget>(plan));
}

}  // namespace trainwarden::transfer
