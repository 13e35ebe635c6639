// Extractor: metrics of programs that print as their libraries do, found without a pattern.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/regex.h"

namespace trainwarden::log_metrics {

// Whose way of printing a record has.
enum class LogStyle : std::uint8_t {
  kKeras,        // "120/469 [=====>....] - ETA: 3s - loss: 0.41 - accuracy: 0.85"
  kEstimator,    // "INFO:tensorflow:loss = 5.86, step = 10 (0.5 sec)", "global_step/sec: 31.2"
  kHuggingFace,  // "{'loss': 2.31, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 0.1}"
  kTqdm,         // " 45%|####5     | 45/100 [00:03<00:04, 12.1it/s, loss=0.41]", Lightning's bars too
};
std::string_view name(LogStyle style);  // "Keras", "tf.estimator", "Hugging Face", "tqdm"

struct Extracted {
  std::string name;
  double value = 0;
};

struct Extraction {
  LogStyle style = LogStyle::kKeras;
  std::vector<Extracted> values;     // in the order of the record
  std::optional<std::int64_t> step;  // that the record names
};

// What is no number (a time, a text) is not among the values, and neither is Lightning's v_num, its run's number. For
// one thread: it remembers Keras' epoch, how far bars have come, and its working memory.
class Extractor {
 public:
  Extractor();

  // Nothing when the record has none of these styles, or no value.
  std::optional<Extraction> read(std::string_view record);

 private:
  // What `item` finds in `text`, again and again: what stands between a name and its number differs by style.
  void add_items(const Regex& item, std::string_view text, Extraction& extraction);
  std::optional<Extraction> read_keras(std::string_view record);
  std::optional<Extraction> read_estimator(std::string_view record);
  std::optional<Extraction> read_hugging_face(std::string_view record);
  std::optional<Extraction> read_tqdm(std::string_view record);

  std::int64_t step_of_bar(std::string_view title, std::int64_t count, std::optional<std::int64_t> total);

  // A bar that begins again goes on: each epoch has one.
  struct Bar {
    std::int64_t before = 0;  // in those that have ended
    std::int64_t count = 0;
    std::int64_t total = 0;
  };
  struct Patterns;
  const Patterns& patterns_;
  std::int64_t keras_epoch_ = 0;                  // 0: none named yet
  std::map<std::string, Bar, std::less<>> bars_;  // by their titles without digits
  Regex::Match match_;
};

}  // namespace trainwarden::log_metrics
