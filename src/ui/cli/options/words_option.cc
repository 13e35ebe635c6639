#include "ui/cli/options/words_option.h"

namespace trainwarden::cli {

CLI::Option* add_words(CLI::App& command, const std::string& name, std::vector<std::string>& words,
                       const std::string& description) {
  const auto take = [&words](const CLI::results_t& given) {
    words = given;
    return true;
  };
  // An argument takes words as long as it has fewer than it expects. The other way, allow_extra_args, splits "[a,b]".
  constexpr int kMost = CLI::detail::expected_max_vector_size;
  const int least = name.starts_with('-') ? 1 : kMost;
  return command.add_option(name, take, description)
      ->expected(least, kMost)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace trainwarden::cli
