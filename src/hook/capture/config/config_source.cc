#include "hook/capture/config/config_source.h"

#include <utility>

#include "hook/capture/config/hook_environment.h"
#include "hook/capture/config/hook_options_json.h"
#include "store/storage/local_storage.h"

namespace trainwarden::capture {

Result<HookOptions> ConfigSource::options_with(std::string_view new_text) const {
  HookOptions options = base;
  TRAINWARDEN_RETURN_IF_ERROR(overlay_json(new_text, file.string(), options));
  const auto recorded = [this](const char* variable) -> const char* {
    const auto found = variables.find(variable);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  TRAINWARDEN_RETURN_IF_ERROR(overlay_variables(recorded, options));
  return options;
}

Result<std::string> read_config(const std::filesystem::path& file) {
  auto text = storage::open_local_storage(file.parent_path())->read(file.filename().string());
  if (!text.ok()) return text.status().with_context("the hook's configuration");
  return text;
}

ConfigWatch::ConfigWatch(std::shared_ptr<const ConfigSource> source)
    : source_(std::move(source)), known_(source_ == nullptr ? "" : source_->text) {}

std::optional<std::string> ConfigWatch::look() {
  if (source_ == nullptr) return std::nullopt;
  auto text = read_config(source_->file);
  if (!text.ok() || *text == known_) {
    seen_.reset();
    return std::nullopt;
  }
  if (seen_ != *text) {
    seen_ = *std::move(text);
    return std::nullopt;
  }
  known_ = *std::exchange(seen_, std::nullopt);
  return known_;
}

}  // namespace trainwarden::capture
