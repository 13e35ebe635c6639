// The program bert_model_tool: runs a model in a folder on tokens in a file, for comparisons with other programs.
#include <iostream>
#include <memory>

#include <torch/types.h>
#include <torch/utils.h>
#include <CLI/CLI.hpp>

#include "model/heads.h"
#include "weights/exporting.h"
#include "weights/loading.h"
#include "weights/names.h"

namespace {

struct Options {
  std::string folder, head = "none", input, output, export_to;
  bool skip_padding = false;
  bool plain = false;
  bool train = false;
  std::uint64_t seed = 1;
};

bert::Head head_of(const std::string& name) {
  if (name == "span") return bert::Head::kSpan;
  if (name == "classification") return bert::Head::kClassification;
  if (name == "words") return bert::Head::kMaskedWords;
  return bert::Head::kNone;
}

// A module and how to call it.
struct Model {
  std::shared_ptr<torch::nn::Module> module;
  std::function<at::Tensor(const bert::Inputs&, const bert::ForwardOptions&)> forward;
};

template <class Holder>
Model model_with(Holder holder) {
  return {holder.ptr(), [holder](const bert::Inputs& inputs, const bert::ForwardOptions& options) mutable {
            return holder->forward(inputs, options);
          }};
}

// A module whose encoder is called "bert", as in models with a head.
struct Bare : torch::nn::Module {
  explicit Bare(const bert::ModelConfig& config) : bert(register_module("bert", bert::BertModel(config, false))) {}
  bert::BertModel bert;
};

Model make_model(bert::Head head, const bert::ModelConfig& config) {
  switch (head) {
    case bert::Head::kSpan: return model_with(bert::BertForSpans(config));
    case bert::Head::kClassification: return model_with(bert::BertForClassification(config));
    case bert::Head::kMaskedWords: return model_with(bert::BertForMaskedWords(config));
    case bert::Head::kNone: break;
  }
  auto bare = std::make_shared<Bare>(config);
  return {bare, [bare](const bert::Inputs& inputs, const bert::ForwardOptions& options) {
            return bare->bert->forward(inputs, options);
          }};
}

at::Tensor named(const bert::TensorsByName& tensors, const char* name) {
  const auto found = tensors.find(name);
  return found == tensors.end() ? at::Tensor() : found->second;
}

void add_seen(const bert::Seen& seen, bert::TensorsByName& results) {
  for (std::size_t i = 0; i < seen.hidden.size(); ++i) results["hidden." + std::to_string(i)] = seen.hidden[i];
  for (std::size_t i = 0; i < seen.attention.size(); ++i) {
    results["query." + std::to_string(i)] = seen.attention[i].query;
    results["key." + std::to_string(i)] = seen.attention[i].key;
    results["probabilities." + std::to_string(i)] = seen.attention[i].probabilities;
  }
}

void run(const Options& options) {
  const bert::Head head = head_of(options.head);
  const bert::ModelConfig config = bert::read_config(options.folder);
  torch::manual_seed(options.seed);
  Model model = make_model(head, config);
  const auto report =
      bert::load_weights(*model.module, config, bert::read_model_tensors(options.folder), options.folder);
  for (const std::string& name : report.fresh) std::cout << "fresh " << name << '\n';
  for (const std::string& name : report.unused) std::cout << "unused " << name << '\n';
  if (!options.export_to.empty()) bert::export_model(options.export_to, *model.module, config, {.head = head});
  if (options.input.empty()) return;

  model.module->train(options.train);
  const bert::TensorsByName tensors = bert::read_safetensors(options.input);
  const bert::Inputs inputs{named(tensors, "ids"), named(tensors, "mask"), named(tensors, "types")};
  bert::Seen seen;
  const at::Tensor out =
      model.forward(inputs, {.skip_padding = options.skip_padding, .seen = options.plain ? &seen : nullptr});
  bert::TensorsByName results{{"out", out}};
  add_seen(seen, results);
  if (const at::Tensor gradient = named(tensors, "gradient"); gradient.defined()) {
    out.backward(gradient);
    for (const auto& parameter : model.module->named_parameters()) {
      if (parameter.value().grad().defined())
        results["grad." + bert::file_name(config.type, parameter.key())] = parameter.value().grad();
    }
  }
  bert::write_safetensors(options.output, results);
}

// Of a command line, with the program's name or without.
template <class... CommandLine>
Options parsed(CommandLine... line) {
  Options options;
  CLI::App app("Runs a BERT on tokens of a safetensors file: ids, and if there are, mask, types, gradient (of out)");
  app.footer(
      "Without arguments: each line of the input is a command line, answered by \"done\". LibTorch starts once.");
  app.add_option("folder", options.folder, "config.json and weights")->required();
  app.add_option("--head", options.head)->check(CLI::IsMember({"none", "span", "classification", "words"}));
  app.add_option("--input", options.input);
  app.add_option("--output", options.output);
  app.add_option("--export", options.export_to, "Write the model to this folder");
  app.add_flag("--skip-padding", options.skip_padding);
  app.add_flag("--plain", options.plain, "By plain operations; also writes what attention did");
  app.add_flag("--train", options.train, "With dropout");
  app.add_option("--seed", options.seed);
  try {
    app.parse(line...);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1) {
      run(parsed(argc, argv));
      return 0;
    }
    for (std::string line; std::getline(std::cin, line);) {
      run(parsed(line));
      std::cout << "done" << std::endl;
    }
  } catch (const std::exception& error) {
    std::cerr << "bert_model_tool: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
