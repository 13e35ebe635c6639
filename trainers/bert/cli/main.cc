// The program `bert`: fine-tunes BERT models with Trainwarden looking on, and evaluates them.
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "parallel/group.h"
#include "parallel/replicas.h"

namespace {

constexpr const char* kFooter =
    "A model is a folder as Hugging Face's: config.json, model.safetensors, vocab.txt.\n\n"
    "Examples:\n"
    "  bert train-spans --model minilm --train squad/train-v1.1.json --dev squad/dev-v1.1.json --out trained\n"
    "  bert train-spans --model minilm --train train.json --dev dev.json --train-size 1024 --dev-size 16 --out "
    "trained\n"
    "  bert prepare-classes --data reviews.csv --text-column Text --label-column Stars --out reviews\n"
    "  bert train-classes --model minilm --train reviews/train --validation reviews/validation --out rated\n"
    "  bert train-words --model minilm --texts texts.txt --out trained\n"
    "  bert convert uncased_L-12_H-768_A-12 --out bert-base-uncased\n"
    "  bert answer --model trained/model --data squad/dev-v1.1.json --answers answers.json\n"
    "  bert score squad/dev-v1.1.json answers.json\n"
    "  trainwarden run --rules default -- bert train-spans ...\n\n"
    "As several ranks: by torchrun, or as a job with tasks_per_node.\n\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 75 a rank is lost or differs: start all again, they go on from the "
    "last checkpoint.";

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // each line is seen at once, by a pipe too
  CLI::App app("Fine-tunes BERT models, with Trainwarden looking on, and evaluates them.", "bert");
  app.footer(kFooter);
  app.require_subcommand(1);
  std::function<int()> chosen;
  bert::add_train_spans(app, chosen);
  bert::add_prepare_classes(app, chosen);
  bert::add_train_classes(app, chosen);
  bert::add_train_words(app, chosen);
  bert::add_convert(app, chosen);
  bert::add_answer(app, chosen);
  bert::add_score(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return chosen();
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "bert: %s\n", error.what());
    return 2;
  } catch (const bert::PeerLost& error) {
    bert::leave_after(error);
  } catch (const bert::ReplicasDiffer& error) {
    std::fprintf(stderr, "bert: %s\n", error.what());
    return bert::kStartAgainExitCode;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bert: %s\n", error.what());
    return 1;
  }
}
