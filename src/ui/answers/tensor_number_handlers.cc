// Statistics and histograms of tensors.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "read/transfer/number_text.h"
#include "ui/answers/tensor_handlers.h"
#include "ui/views/tensor_histograms.h"
#include "ui/views/tensor_numbers.h"
#include "ui/views/thinned_steps.h"

namespace trainwarden::answers {
namespace {

using format::OrderedJson;
using views::ComputeBudget;
using views::TensorNumbers;

constexpr std::int64_t kLastStep = std::numeric_limits<std::int64_t>::max();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr auto kNumbers = static_cast<std::int64_t>(views::kNumberNames.size());

OrderedJson number_names() {
  auto names = OrderedJson::array();
  for (const std::string_view name : views::kNumberNames) names.push_back(name);
  return names;
}

std::vector<double> as_doubles(std::span<const std::int64_t> steps) {
  return {steps.begin(), steps.end()};
}

std::int64_t size_of(const auto& list) {
  return static_cast<std::int64_t>(list.size());
}

// What is asked of a tensor over steps.
struct OverSteps {
  std::string worker;
  std::vector<std::int64_t> steps;  // chosen
  std::size_t all = 0;              // from which
};

Result<OverSteps> choose_steps(const Request& request, TensorRequest& asked, std::int64_t fallback, std::int64_t most) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t from, request.query.integer("from", 0, kLastStep, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t to, request.query.integer("to", 0, kLastStep, kLastStep));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t wanted, request.query.integer("most", 1, most, fallback));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto mode, request.query.mode());
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto presence, views::tensor_presence(asked.use, asked.tensor));
  const auto steps = views::steps_with_numbers(*presence, from, to, mode);
  return OverSteps{request.query.text("worker"), views::thinned_steps(steps, static_cast<std::size_t>(wanted)),
                   steps.size()};
}

void note_completeness(ArraysReply& reply, std::size_t all, const views::NumbersOverSteps& over) {
  reply.note_json("steps_in_all", all);
  reply.note_json("pending", over.pending);
  reply.note_json("damaged", over.damaged);
}

Reply statistics_csv(const views::NumbersOverSteps& over, const Trial& trial, std::string_view tensor) {
  std::string text = "step,mode,mode_step,worker";
  for (const std::string_view name : views::kNumberNames) text += fmt::format(",{}", name);
  text += "\r\n";
  for (std::size_t i = 0; i < over.steps.size(); ++i) {
    const auto [mode, mode_step] = mode_of_step(trial, over.steps[i]);
    text += fmt::format("{},{},{},{}", over.steps[i], mode, mode_step, over.numbers[i]->worker);
    for (const double number : over.numbers[i]->numbers) {
      text += ',';
      transfer::append_number(text, number, transfer::kCsvNumbers);
    }
    text += "\r\n";
  }
  Reply reply;
  reply.type = "text/csv; charset=utf-8";
  reply.file_name = download_name(tensor, over.steps.empty() ? 0 : over.steps.back(), "-statistics.csv");
  reply.body = std::make_shared<const std::string>(std::move(text));
  return reply;
}

// One of the tensors that are asked for together.
struct Row {
  std::string tensor;
  std::vector<std::int64_t> steps;  // of its sparkline, rising
  std::vector<std::shared_ptr<const TensorNumbers>> numbers;
};

Result<Row> row_of(views::OpenRun::Use& use, std::string_view id, std::int64_t step, std::int64_t points) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::string tensor, use.tensor_name(id));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto presence, views::tensor_presence(use, tensor));
  const auto steps = views::steps_with_numbers(*presence, 0, step, std::nullopt);
  // thinned_steps adds the last one to those that are regular.
  auto chosen = points < 2 && !steps.empty() ? std::vector<std::int64_t>{steps.back()}
                                             : views::thinned_steps(steps, static_cast<std::size_t>(points - 1));
  const std::size_t count = chosen.size();
  return Row{std::move(tensor), std::move(chosen), std::vector<std::shared_ptr<const TensorNumbers>>(count)};
}

// The newest of each tensor first; then step by step, because a step's frames are decoded once for all tensors in them.
std::size_t fill_rows(views::OpenRun::Use& use, std::vector<Row>& rows) {
  struct Cell {
    bool is_newest;
    std::int64_t step;
    std::size_t row;
    std::size_t column;
  };
  std::vector<Cell> cells;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto& steps = rows[row].steps;
    for (std::size_t i = 0; i < steps.size(); ++i) cells.push_back({i + 1 == steps.size(), steps[i], row, i});
  }
  std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
    return std::tuple(!a.is_newest, -a.step, a.row) < std::tuple(!b.is_newest, -b.step, b.row);
  });
  ComputeBudget budget;
  std::size_t pending = 0;
  for (const Cell& cell : cells) {
    const auto numbers = views::tensor_numbers(use, rows[cell.row].tensor, cell.step, "", budget);
    if (numbers.ok() && !*numbers) ++pending;
    if (numbers.ok()) rows[cell.row].numbers[cell.column] = *numbers;
  }
  return pending;
}

Result<views::Number> number_asked(const Request& request) {
  const std::string wanted = request.query.text("of", "mean");
  const auto found = std::find(views::kNumberNames.begin(), views::kNumberNames.end(), wanted);
  if (found != views::kNumberNames.end()) return static_cast<views::Number>(found - views::kNumberNames.begin());
  return Status(Code::kInvalidArgument, fmt::format("parameter \"of\": expected one of {}, found \"{}\"",
                                                    format::dump_json(number_names()), wanted));
}

Reply newest_reply(const std::vector<Row>& rows, views::Number of, std::int64_t points, std::size_t pending) {
  std::vector<double> newest;
  std::vector<double> steps;
  std::vector<double> spark_steps(rows.size() * static_cast<std::size_t>(points), kNan);
  std::vector<double> sparks = spark_steps;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const Row& asked = rows[row];
    const bool any = !asked.numbers.empty() && asked.numbers.back() != nullptr;
    steps.push_back(any ? static_cast<double>(asked.steps.back()) : kNan);
    for (std::size_t i = 0; i < views::kNumberNames.size(); ++i) {
      newest.push_back(any ? asked.numbers.back()->numbers[i] : kNan);
    }
    for (std::size_t i = 0; i < asked.steps.size(); ++i) {
      const std::size_t at = row * static_cast<std::size_t>(points) + i;
      spark_steps[at] = static_cast<double>(asked.steps[i]);
      if (asked.numbers[i]) sparks[at] = (*asked.numbers[i])[of];
    }
  }
  const std::int64_t count = size_of(rows);
  ArraysReply reply;
  reply.add("steps", {count}, steps);
  reply.add("numbers", {count, kNumbers}, newest);
  reply.add("spark_steps", {count, points}, spark_steps);
  reply.add("sparks", {count, points}, sparks);
  reply.note_json("names", number_names());
  reply.note_json("pending", pending);
  return std::move(reply).to_reply();
}

}  // namespace

Result<Reply> answer_newest_statistics(const Request& request, const Services& services) {
  constexpr std::size_t kMostTensors = 256;
  constexpr std::int64_t kMostPoints = 64;
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({"tensors", "step", "points", "of"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto ids, request.query.list("tensors", kMostTensors));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t step, request.query.integer("step", 0, kLastStep, kLastStep));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t points, request.query.integer("points", 1, kMostPoints, 1));
  TRAINWARDEN_ASSIGN_OR_RETURN(const views::Number of, number_asked(request));
  TRAINWARDEN_ASSIGN_OR_RETURN(views::OpenRun::Use use, use_run(request, services));
  std::vector<Row> rows;
  for (const std::string& id : ids) {
    TRAINWARDEN_ASSIGN_OR_RETURN(Row row, row_of(use, id, step, points));
    rows.push_back(std::move(row));
  }
  const std::size_t pending = fill_rows(use, rows);
  return newest_reply(rows, of, points, pending);
}

Result<Reply> answer_statistics_over_steps(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({"from", "to", "most", "mode", "worker", "format"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(TensorRequest asked, use_tensor(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const OverSteps chosen, choose_steps(request, asked, 500, 5000));
  const std::string wanted = request.query.text("format", "arrays");
  if (wanted != "arrays" && wanted != "csv") {
    return Status(Code::kInvalidArgument,
                  fmt::format("parameter \"format\": expected arrays or csv, found \"{}\"", wanted));
  }
  ComputeBudget budget;
  const auto over = views::numbers_over_steps(asked.use, asked.tensor, chosen.steps, chosen.worker, budget);
  if (wanted == "csv") return statistics_csv(over, asked.use.trial(), asked.tensor);
  std::vector<double> numbers;
  std::vector<std::uint8_t> forms;
  for (const auto& of_step : over.numbers) {
    numbers.insert(numbers.end(), of_step->numbers.begin(), of_step->numbers.end());
    forms.push_back(static_cast<std::uint8_t>(of_step->form));
  }
  const std::int64_t steps = size_of(over.steps);
  ArraysReply reply;
  reply.add("steps", {steps}, as_doubles(over.steps));
  reply.add("numbers", {steps, kNumbers}, numbers);
  reply.add("forms", {steps}, forms);
  reply.note_json("names", number_names());
  OrderedJson form_names = OrderedJson::array();
  for (int form = 0; form < format::kRecordFormCount; ++form) {
    form_names.push_back(views::name(static_cast<journal::RecordForm>(form)));
  }
  reply.note_json("form_names", form_names);
  note_completeness(reply, chosen.all, over);
  return std::move(reply).to_reply();
}

Result<Reply> answer_statistics(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({"worker"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(TensorRequest asked, use_tensor(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t step, step_in_path(request));
  ComputeBudget budget;
  TRAINWARDEN_ASSIGN_OR_RETURN(
      const auto numbers, views::tensor_numbers(asked.use, asked.tensor, step, request.query.text("worker"), budget));
  const auto [mode, mode_step] = mode_of_step(asked.use.trial(), step);
  OrderedJson json{{"step", step},
                   {"mode", mode},
                   {"mode_step", mode_step},
                   {"worker", numbers->worker},
                   {"form", views::name(numbers->form)}};
  for (std::size_t i = 0; i < views::kNumberNames.size(); ++i) {
    json[std::string(views::kNumberNames[i])] = json_number(numbers->numbers[i]);
  }
  if (numbers->hash) json["hash"] = fmt::format("{:016x}", *numbers->hash);
  Reply reply = json_reply(json);
  reply.immutable = is_complete(asked.use.trial(), step);
  return reply;
}

Result<Reply> answer_histograms(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({"from", "to", "most", "mode", "worker", "bins"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(TensorRequest asked, use_tensor(request, services));
  views::HistogramQuestion question{.worker = request.query.text("worker")};
  TRAINWARDEN_ASSIGN_OR_RETURN(question.from, request.query.integer("from", 0, kLastStep, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.to, request.query.integer("to", 0, kLastStep, kLastStep));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.mode, request.query.mode());
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t most, request.query.integer("most", 1, 512, 64));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t most_bins, request.query.integer("bins", 2, 512, 128));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto with, views::steps_with_histogram(asked.use, asked.tensor, question));
  const auto chosen = views::thinned_steps(with.steps, static_cast<std::size_t>(most));
  ComputeBudget budget;
  auto over = views::numbers_over_steps(asked.use, asked.tensor, chosen, question.worker, budget);
  over.pending += with.unread;
  const views::HistogramMatrix matrix = views::histogram_matrix(over, static_cast<int>(most_bins));
  const std::int64_t steps = size_of(matrix.steps);
  const std::int64_t bins = size_of(matrix.lower);
  ArraysReply reply;
  reply.add("steps", {steps}, as_doubles(matrix.steps));
  reply.add("lower", {bins}, matrix.lower);
  reply.add("upper", {bins}, matrix.upper);
  reply.add("counts", {steps, bins}, matrix.counts);
  reply.add("zeros", {steps}, matrix.zeros);
  reply.add("tiny", {steps}, matrix.tiny);
  reply.add("nan", {steps}, matrix.nans);
  reply.add("positive_inf", {steps}, matrix.positive_infs);
  reply.add("negative_inf", {steps}, matrix.negative_infs);
  reply.note_json("without_histogram", with.without);
  note_completeness(reply, with.steps.size(), over);
  return std::move(reply).to_reply();
}

}  // namespace trainwarden::answers
