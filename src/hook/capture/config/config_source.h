// ConfigSource: the file that TRAINWARDEN_CONFIG named, followed while the training goes on.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "trainwarden/hook.h"
#include "trainwarden/status.h"

namespace trainwarden::capture {

struct ConfigSource {
  std::filesystem::path file;  // absolute
  std::string text;            // as it was when the hook was opened
  HookOptions base;            // what it was laid over
  // The environment's, which were laid over it. Kept, as another thread must not look at the environment.
  std::map<std::string, std::string> variables;

  // The options if the file held `new_text`.
  Result<HookOptions> options_with(std::string_view new_text) const;
};

Result<std::string> read_config(const std::filesystem::path& file);

// One thread at a time.
class ConfigWatch {
 public:
  // No source: there is nothing to follow.
  explicit ConfigWatch(std::shared_ptr<const ConfigSource> source);

  // The file's text when it is another than before, and has stayed so since the last call: an editor may be in the
  // midst of writing. A file that cannot be read is as it was.
  std::optional<std::string> look();

 private:
  std::shared_ptr<const ConfigSource> source_;
  std::string known_;
  std::optional<std::string> seen_;  // other than known_, at the last call
};

}  // namespace trainwarden::capture
