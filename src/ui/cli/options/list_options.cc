#include "ui/cli/options/list_options.h"

#include <variant>

#include "ui/cli/options/words_option.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {

void add_list_options(CLI::App& command, ListChoice& choice) {
  add_words(command, "--status", choice.statuses, "Only those that stand so: Completed,Failed")
      ->delimiter(',')
      ->type_name("STATUS");
  command.add_option("--name", choice.name, "Only those whose name has this pattern (PCRE2) in it")
      ->type_name("PATTERN");
  command.add_option("--since", choice.since, "Only those that began since then: 2h, 3d, 2026-11-20")
      ->type_name("TIME");
  add_words(command, "--filter", choice.filters, "Only those with such a value: \"lr > 0.1\"; again for more")
      ->type_name("FILTER");
  add_words(command, "--columns", choice.columns, "Hyper-parameters, labels and metrics to be shown: lr,loss,acc.max")
      ->delimiter(',')
      ->type_name("NAME");
  command.add_option("--sort", choice.sort, "By name, status, time or one of these values (default: the newest first)")
      ->type_name("KEY");
  command.add_flag("--reverse", choice.reverse, "In the opposite order");
}

std::string cell_text(const ListItem& item, const std::string& column) {
  const auto value = catalogue::value_of(item, column);
  if (!value) return "";
  if (const double* const number = std::get_if<double>(&*value)) return format_number(*number);
  return std::get<std::string>(*value);
}

OrderedJson column_json(const ListItem& item, const std::vector<std::string>& columns) {
  OrderedJson json = OrderedJson::object();
  for (const std::string& column : columns) {
    const auto value = catalogue::value_of(item, column);
    json[column] = value ? catalogue::json_of(*value) : OrderedJson(nullptr);
  }
  return json;
}

}  // namespace trainwarden::cli
