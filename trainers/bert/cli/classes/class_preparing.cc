// `bert prepare-classes`: texts with labels, parted for a training.
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "classes/splits.h"
#include "cli/commands.h"
#include "files/writing.h"
#include "text/tokenizer.h"

namespace bert {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct PrepareCommand {
  std::vector<fs::path> data;
  fs::path out, model;
  LabelledFields fields;
  std::vector<double> fractions = {0.9, 0.05, 0.05};
  std::string balance = "none";
  std::int64_t max_length = 64;
  std::uint64_t seed = 42;
};

using Part = std::vector<const LabelledText*>;

Balance balance_of(const std::string& name) {
  if (name == "train") return Balance::kTrain;
  return name == "all" ? Balance::kAll : Balance::kNone;
}

void write_whole(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  write_text(file, text);
}

ordered_json counts_of_classes(const Part& part, const std::vector<std::string>& names) {
  ordered_json counts = ordered_json::object();
  for (const std::string& name : names) counts[name] = 0;
  for (const LabelledText* text : part) counts[text->label] = counts[text->label].get<int>() + 1;
  return counts;
}

// So that one sees what a length costs before training with it.
std::size_t count_cut(const Part& part, const PrepareCommand& command) {
  const Tokenizer tokenizer = Tokenizer::load(command.model, {});
  std::size_t cut = 0;
  for (const LabelledText* text : part) {
    cut += tokenizer.ids(text->text).size() + 2 > static_cast<std::size_t>(command.max_length);
  }
  return cut;
}

LabelledTexts read_all(const PrepareCommand& command) {
  LabelledTexts texts;
  for (const fs::path& path : command.data) {
    LabelledTexts read = read_labelled_texts(path, command.fields);
    texts.all.insert(texts.all.end(), std::make_move_iterator(read.all.begin()),
                     std::make_move_iterator(read.all.end()));
    texts.left_out += read.left_out;
  }
  return texts;
}

int prepare_classes(const PrepareCommand& command) {
  const LabelledTexts texts = read_all(command);
  const std::vector<std::string> names = label_names(texts.all);
  const Splits splits = split_texts(texts.all, {.train = command.fractions[0],
                                                .validation = command.fractions[1],
                                                .test = command.fractions[2],
                                                .balance = balance_of(command.balance),
                                                .seed = command.seed});
  ordered_json told = {{"left_out", texts.left_out}, {"balance", command.balance}, {"seed", command.seed}};
  const std::pair<const char*, const Part*> parts[] = {
      {"train", &splits.train}, {"validation", &splits.validation}, {"test", &splits.test}};
  for (const auto& [name, part] : parts) {
    write_whole(command.out / name / "texts.jsonl", to_json_lines(*part));
    told[name] = {{"texts", part->size()}, {"of_class", counts_of_classes(*part, names)}};
    if (!command.model.empty()) told[name]["longer_than_max_length"] = count_cut(*part, command);
  }
  if (!command.model.empty()) told["max_length"] = command.max_length;
  write_whole(command.out / "prepared.json", told.dump(2) + "\n");
  std::printf("%s\n", told.dump(2).c_str());
  return 0;
}

}  // namespace

void add_prepare_classes(CLI::App& app, std::function<int()>& chosen) {
  const auto command = std::make_shared<PrepareCommand>();
  CLI::App& prepare =
      *app.add_subcommand("prepare-classes", "Parts texts with labels for training, validation and test");
  prepare.add_option("--data", command->data, "a .csv, .tsv or .jsonl file, or a folder of them; several")
      ->required()
      ->check(CLI::ExistingPath);
  prepare.add_option("--out", command->out, "gets train, validation and test, and prepared.json")->required();
  prepare.add_option("--text-column", command->fields.text, "what the files call the text")->capture_default_str();
  prepare.add_option("--label-column", command->fields.label, "and its class")->capture_default_str();
  prepare.add_option("--fractions", command->fractions, "of each class: for training, validation and test")
      ->expected(3)
      ->capture_default_str();
  prepare
      .add_option("--balance", command->balance,
                  "none; train: of what is trained on, each class as often as the rarest; all: of all parts")
      ->check(CLI::IsMember({"none", "train", "all"}))
      ->capture_default_str();
  prepare.add_option("--seed", command->seed, "of what is drawn")->capture_default_str();
  prepare.add_option("--model", command->model, "a model's folder: says how many texts are longer than --max-length")
      ->check(CLI::ExistingDirectory);
  prepare
      .add_option("--max-length,--max_seq_length", command->max_length, "pieces of a text, as a training would have it")
      ->check(CLI::Range(3, 512))
      ->capture_default_str();
  prepare.callback([command, &chosen] { chosen = [command] { return prepare_classes(*command); }; });
}

}  // namespace bert
