// `bert convert`.
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/conversion/conversion.h"

namespace bert {

void add_convert(CLI::App& app, std::function<int()>& chosen) {
  const auto conversion = std::make_shared<Conversion>();
  CLI::App& convert =
      *app.add_subcommand("convert", "Turns a model of Google's or GluonNLP's into a folder as Hugging Face's");
  convert
      .add_option("FROM", conversion->from,
                  "NAME.index of a TensorFlow checkpoint, GluonNLP's NAME.params, or their folder")
      ->required();
  convert.add_option("--out", conversion->out, "the new folder")->required();
  convert
      .add_option("--config", conversion->config,
                  "the model's sizes (default: bert_config.json or config.json beside it)")
      ->check(CLI::ExistingFile);
  convert
      .add_option("--vocab", conversion->vocabulary, "vocab.txt, or GluonNLP's NAME.vocab (default: the one beside it)")
      ->check(CLI::ExistingFile);
  convert.add_flag("!--cased", conversion->lower_case, "its texts keep their capitals");
  convert.callback([conversion, &chosen] {
    chosen = [conversion] {
      const std::string name = convert_model(*conversion);
      std::printf("%s has a %s\n", conversion->out.c_str(), name.c_str());
      return 0;
    };
  });
}

}  // namespace bert
