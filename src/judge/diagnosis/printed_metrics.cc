#include "judge/diagnosis/printed_metrics.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "data/format/json.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

constexpr std::size_t kMaxPrintedText = std::size_t{1} << 20;
constexpr std::size_t kMaxPrintedLines = 256;
constexpr std::size_t kMaxPrintedLine = 2000;
constexpr std::size_t kMaxNameWords = 4;

constexpr std::array kOfEvaluation = {"val",  "valid",      "validation", "test",    "testing",
                                      "eval", "evaluation", "dev",        "heldout", "holdout"};
constexpr std::array kOfTraining = {"train", "training", "tr", "trn", "fit"};
constexpr std::array kLosses = {"loss", "logloss", "xent"};
constexpr std::array kAccuracies = {"acc", "accuracy", "top1", "acc1"};
constexpr std::array kScores = {"f1",    "auc",  "auroc", "ap",   "map",  "iou",       "miou", "dice",    "recall",
                                "r2",    "ndcg", "hit",   "hr",   "mrr",  "precision", "bleu", "score",   "psnr",
                                "kappa", "top5", "acc5",  "ssim", "corr", "em",        "wacc", "balanced"};
constexpr std::array kErrors = {"rmse", "mse",   "mae",  "nll", "ppl", "perplexity", "cer", "wer",
                                "err",  "error", "mape", "bpc", "eer", "brier",      "ce",  "bce"};

constexpr std::array kNoNumbers = {"nan", "inf", "infinity"};

template <std::size_t kCount>
bool is_in(std::string_view word, const std::array<const char*, kCount>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::optional<PrintedKind> kind_of(std::string_view word) {
  if (is_in(word, kLosses)) return PrintedKind::kLoss;
  if (is_in(word, kAccuracies)) return PrintedKind::kAccuracy;
  if (is_in(word, kScores)) return PrintedKind::kScore;
  if (is_in(word, kErrors)) return PrintedKind::kError;
  return std::nullopt;
}

bool is_letter(char each) {
  return std::isalpha(static_cast<unsigned char>(each)) != 0;
}
bool is_digit(char each) {
  return std::isdigit(static_cast<unsigned char>(each)) != 0;
}

// "val_acc", "top1", "R2": letters, and digits behind them.
std::string_view word_at(std::string_view line, std::size_t at) {
  std::size_t end = at;
  while (end < line.size() && (is_letter(line[end]) || is_digit(line[end]))) ++end;
  return line.substr(at, end - at);
}

struct NumberAt {
  double value = 0;
  std::size_t size = 0;  // characters; 0: there is none
  bool is_whole = false;
};

NumberAt number_at(std::string_view line, std::size_t at) {
  const std::size_t sign = line[at] == '-' || line[at] == '+' ? 1 : 0;
  if (at + sign >= line.size() || !(is_digit(line[at + sign]) || line[at + sign] == '.')) return {};
  const std::size_t from = line[at] == '+' ? at + 1 : at;  // which from_chars does not take
  double value = 0;
  const auto read = std::from_chars(line.data() + from, line.data() + line.size(), value);
  if (read.ec != std::errc() || !std::isfinite(value)) return {};
  const auto size = static_cast<std::size_t>(read.ptr - (line.data() + at));
  return {value, size, line.substr(at, size).find_first_of(".eE") == std::string_view::npos};
}

bool names_evaluation(std::string_view line) {
  for (std::size_t at = 0; at < line.size();) {
    const std::string_view word = is_letter(line[at]) ? word_at(line, at) : line.substr(at, 1);
    if (is_in(lower_case(std::string(word)), kOfEvaluation)) return true;
    at += word.size();
  }
  return false;
}

// Goes through a line word by word and number by number.
class LineReader {
 public:
  // Where a line names its evaluation, what stands before that name is of something else.
  explicit LineReader(const PrintedLine& line)
      : line_(line.text), is_open_(line.is_after_evaluation && !names_evaluation(line.text)) {}

  std::vector<PrintedMetric> metrics() {
    for (std::size_t at = 0; at < line_.size();) {
      if (is_letter(line_[at])) {
        const std::string word = lower_case(std::string(word_at(line_, at)));
        if (kind_ && is_in(word, kNoNumbers))
          take_number({std::nan(""), word.size(), false}, ' ', false);
        else
          take_word(word);
        at += word.size();
      } else if (const NumberAt number = number_at(line_, at); number.size > 0) {
        const char before = at == 0 ? ' ' : line_[at - 1];
        at += number.size;
        take_number(number, before, at < line_.size() && line_[at] == '%');
      } else {
        ++at;
      }
    }
    return std::move(found_);
  }

 private:
  // "valloss" is "val loss".
  void take_word(const std::string& word) {
    for (const std::string_view role : {"val", "valid", "test", "eval", "train"}) {
      if (word.size() <= role.size() || word.compare(0, role.size(), role) != 0) continue;
      const std::string rest = word.substr(role.size());
      if (!kind_of(rest)) continue;
      take_one_word(std::string(role));
      return take_one_word(rest);
    }
    take_one_word(word);
  }

  void take_one_word(const std::string& word) {
    if (is_in(word, kOfEvaluation)) is_evaluation_ = true, is_training_ = false;
    if (is_in(word, kOfTraining)) is_training_ = true, is_evaluation_ = false;
    if (words_.size() == kMaxNameWords) words_.erase(words_.begin());
    words_.push_back(word);
    if (const auto kind = kind_of(word))
      kind_ = kind, name_ = fmt::format("{}", fmt::join(words_, " ")), metric_ = word;
  }

  void take_number(const NumberAt& number, char before, bool is_percentage) {
    // A whole number that does not follow a metric's name at once counts something: "recall@5 0.9", "val 3/10 acc 0.9".
    const bool follows = kind_ && !words_.empty() && kind_of(words_.back()) &&
                         std::string_view(" =:\t").find(before) != std::string_view::npos;
    if (number.is_whole && !is_percentage && !follows) return words_.clear();
    // What is no number matters where it is the loss that is trained.
    const bool matters = std::isfinite(number.value) || (is_training_ && kind_ == PrintedKind::kLoss);
    const bool is_named = kind_.has_value() && matters;
    const bool is_told = is_evaluation_ || is_training_ || (is_open_ && kind_ != PrintedKind::kLoss);
    if (is_named && is_told) {
      found_.push_back({is_evaluation_ || is_training_ ? name_ : "eval " + name_, *kind_,
                        is_percentage ? number.value / 100 : number.value, is_training_, is_evaluation_, metric_});
    }
    kind_.reset();
    words_.clear();
  }

  const std::string& line_;
  const bool is_open_;  // what is named for neither is of an evaluation
  bool is_evaluation_ = false, is_training_ = false;
  std::optional<PrintedKind> kind_;
  std::vector<std::string> words_;  // since the last number
  std::string name_, metric_;       // of the metric whose value is to come
  std::vector<PrintedMetric> found_;
};

}  // namespace

Result<std::vector<PrintedLine>> read_printed_lines(std::string_view text) {
  const auto bad_lines = [] {
    return Status(Code::kDataLoss, "the examination's printed lines are not what the format says");
  };
  if (text.size() > kMaxPrintedText) return bad_lines();
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(text, "the examination's lines"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json* entries, format::array_field(json, "lines"));
  std::vector<PrintedLine> lines;
  for (const format::Json& each : *entries) {
    if (!each.is_array() || each.size() != 3 || !each[0].is_number_integer() || !each[1].is_boolean() ||
        !each[2].is_string())
      return bad_lines();
    const std::string line = each[2].get<std::string>();
    if (lines.size() == kMaxPrintedLines) break;
    if (line.size() <= kMaxPrintedLine) lines.push_back({each[0].get<std::int64_t>(), each[1].get<bool>(), line});
  }
  return lines;
}

std::vector<PrintedMetric> metrics_in(const PrintedLine& line) {
  return LineReader(line).metrics();
}

}  // namespace trainwarden::diagnosis
