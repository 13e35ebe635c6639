#include "ui/cli/commands/help_format.h"

#include <string_view>

namespace trainwarden::cli {

std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
  constexpr std::string_view kSeveral = " ...";
  std::string text = CLI::Formatter::make_option_opts(option);
  const auto found = text.find(kSeveral);
  if (option->get_positional() || found == std::string::npos) return text;
  return text.replace(found, kSeveral.size(), " (repeatable)");
}

}  // namespace trainwarden::cli
