#include "cli/conversion/conversion.h"

#include <memory>
#include <stdexcept>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/setup.h"
#include "files/reading.h"
#include "files/writing.h"
#include "model/heads.h"
#include "weights/exporting.h"
#include "weights/gluon_params.h"
#include "weights/loading.h"
#include "weights/tensorflow_checkpoint.h"

namespace bert {
namespace {

namespace fs = std::filesystem;
namespace nn = torch::nn;

constexpr std::size_t kMaxVocabularyFileBytes = 256u << 20;

std::vector<fs::path> with_ending(const fs::path& folder, const char* ending) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ending) files.push_back(entry.path());
  }
  return files;
}

// The one file that holds the weights, or lists them.
fs::path find_weights(const fs::path& from) {
  if (fs::is_directory(from)) {
    std::vector<fs::path> files = with_ending(from, ".index");
    for (const fs::path& file : with_ending(from, ".params")) files.push_back(file);
    if (files.size() == 1) return files.front();
    throw std::invalid_argument(from.string() + ": expected one file NAME.index or NAME.params in it, found " +
                                std::to_string(files.size()) + "; name the file");
  }
  fs::path index = from;
  index += ".index";  // TensorFlow calls a checkpoint by what its files have in common
  if (!fs::exists(from) && fs::exists(index)) return index;
  if (fs::exists(from) && (from.extension() == ".index" || from.extension() == ".params")) return from;
  throw std::invalid_argument(from.string() +
                              ": expected NAME.index of a TensorFlow checkpoint, or NAME.params of GluonNLP");
}

fs::path find_beside(const fs::path& weights, const fs::path& given, std::initializer_list<const char*> names,
                     const char* what, const char* option) {
  if (!given.empty()) return given;
  std::string looked_for;
  for (const char* name : names) {
    if (fs::exists(weights.parent_path() / name)) return weights.parent_path() / name;
    looked_for += (looked_for.empty() ? "" : ", ") + std::string(name);
  }
  throw std::runtime_error(weights.string() + ": expected " + what + " beside it (" + looked_for + "), found none; " +
                           option + " names another place");
}

fs::path find_vocabulary(const fs::path& weights, const fs::path& given) {
  const fs::path folder = weights.has_parent_path() ? weights.parent_path() : fs::path(".");
  const std::vector<fs::path> lists = with_ending(folder, ".vocab");
  if (given.empty() && lists.size() == 1) return lists.front();
  return find_beside(weights, given, {"vocab.txt"}, "the vocabulary", "--vocab");
}

// GluonNLP's is JSON, with the pieces by number as idx_to_token (Vocab.to_json()).
std::vector<std::string> pieces_of_gluon(const fs::path& file) {
  const auto json = nlohmann::json::parse(read_text(file, kMaxVocabularyFileBytes), nullptr, false);
  const auto list = json.is_object() ? json.find("idx_to_token") : json.end();
  if (list == json.end() || !list->is_array()) {
    throw std::runtime_error(file.string() + ": expected a vocabulary of GluonNLP, JSON with idx_to_token");
  }
  std::vector<std::string> pieces;
  for (const auto& piece : *list) {
    if (!piece.is_string()) throw std::runtime_error(file.string() + ": idx_to_token: expected texts");
    pieces.push_back(piece.get<std::string>());
  }
  return pieces;
}

Vocabulary read_vocabulary(const fs::path& file) {
  if (file.extension() == ".vocab") return {pieces_of_gluon(file), file.string()};
  return Vocabulary::load(file);
}

TensorsByName read_weights(const fs::path& file) {
  const bool is_tensorflow = file.extension() == ".index";
  TensorsByName tensors = is_tensorflow ? from_tensorflow_names(read_tensorflow_checkpoint(file))
                                        : from_gluon_names(read_gluon_params(file));
  if (tensors.empty())
    throw std::runtime_error(file.string() + ": expected weights of BERT, found none by their names");
  return tensors;
}

// A BERT with just the heads that there are weights of.
struct Published : nn::Module {
  Published(const ModelConfig& config, const TensorsByName& tensors) {
    const auto has = [&](const char* name) { return tensors.count(name) > 0; };
    register_module("bert", BertModel(config, has("bert.pooler.dense.weight")));
    const auto add_linear = [&](nn::Module& to, const char* name, std::int64_t rows) {
      to.register_module(name, nn::Linear(config.hidden_size, rows));
    };
    const bool has_words = has("cls.predictions.bias"), has_next = has("cls.seq_relationship.weight");
    if (has_words || has_next) {
      std::shared_ptr<nn::Module> cls = has_words ? WordHead(config).ptr() : std::make_shared<nn::Module>();
      register_module("cls", cls);
      if (has_next) add_linear(*cls, "seq_relationship", 2);
    }
    if (has_words) head = Head::kMaskedWords;
    if (has("classifier.weight")) add_linear(*this, "classifier", config.num_labels()), head = Head::kClassification;
    if (has("qa_outputs.weight")) add_linear(*this, "qa_outputs", 2), head = Head::kSpan;
  }

  Head head = Head::kNone;
};

void name_labels(ModelConfig& config, const TensorsByName& tensors) {
  const auto classifier = tensors.find("classifier.weight");
  if (classifier == tensors.end() || classifier->second.dim() != 2) return;
  config.labels.clear();
  for (std::int64_t i = 0; i < classifier->second.size(0); ++i) config.labels.push_back("LABEL_" + std::to_string(i));
}

void check_complete(const LoadReport& report, const fs::path& file) {
  if (!report.fresh.empty()) {
    throw std::runtime_error(file.string() + ": expected the weight " + report.fresh.front() +
                             ", found none, though others of the same head are there; is the file whole?");
  }
  if (!report.unused.empty()) {
    throw std::runtime_error(file.string() + ": the weight " + report.unused.front() +
                             " has no place in the model that the configuration describes");
  }
}

void write_vocabulary(const fs::path& file, const Vocabulary& vocabulary) {
  std::string lines;
  for (std::size_t i = 0; i < vocabulary.size(); ++i) lines += vocabulary.piece(static_cast<std::int64_t>(i)) + "\n";
  write_text(file, lines);
}

// A folder beside `target` that takes its name once it is whole; without that nothing is left of it.
class PartialFolder {
 public:
  explicit PartialFolder(const fs::path& target) : target_(target), path_(target) {
    path_ += ".partial";
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~PartialFolder() {
    std::error_code ignored;  // there is nobody to tell, and the folder's name says what it is
    fs::remove_all(path_, ignored);
  }
  PartialFolder(const PartialFolder&) = delete;
  PartialFolder& operator=(const PartialFolder&) = delete;

  const fs::path& path() const { return path_; }
  void put_in_place() { put_folder_in_place(path_, target_); }

 private:
  const fs::path target_;
  fs::path path_;
};

}  // namespace

std::string convert_model(const Conversion& conversion) {
  if (fs::exists(conversion.out) && !fs::is_empty(conversion.out)) {
    throw std::invalid_argument(conversion.out.string() + ": something is there already; name another folder");
  }
  const fs::path file = find_weights(conversion.from);
  ModelConfig config = read_config_file(
      find_beside(file, conversion.config, {"bert_config.json", "config.json"}, "the model's sizes", "--config"));
  const Vocabulary vocabulary = read_vocabulary(find_vocabulary(file, conversion.vocabulary));
  check_fits(config, vocabulary, config.max_position_embeddings, file.string());
  const TensorsByName tensors = read_weights(file);
  name_labels(config, tensors);
  Published model(config, tensors);
  check_complete(load_weights(model, config, tensors, file.string()), file);

  PartialFolder partial(conversion.out);
  write_vocabulary(partial.path() / "vocab.txt", vocabulary);
  export_model(partial.path(), model, config,
               {.head = model.head, .vocabulary = partial.path() / "vocab.txt", .lower_case = conversion.lower_case});
  partial.put_in_place();
  return architecture(config.type, model.head);
}

}  // namespace bert
