// `bert answer` and `bert score`.
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/setup.h"
#include "cli/spans/span_evaluation.h"
#include "squad/evaluation.h"
#include "weights/loading.h"

namespace bert {
namespace {

namespace fs = std::filesystem;

struct AnswerCommand {
  fs::path model, data, answers, rated;
  TrainOptions machine;  // device, precision and threads of it
  SpanOptions spans;
  bool json = false;
};

void tell(const SpanResult& result, std::size_t questions, bool json) {
  const double rate = static_cast<double>(result.windows) / result.seconds;
  if (json) {
    const nlohmann::ordered_json figures = {{"questions", questions},
                                            {"f1", result.f1},
                                            {"exact_match", result.exact_match},
                                            {"windows", result.windows},
                                            {"windows_per_second", rate}};
    std::printf("%s\n", figures.dump(2).c_str());
    return;
  }
  std::printf("f1 %.2f  exact match %.2f  (%zu questions, %ld windows, %.1f windows/s)\n", result.f1,
              result.exact_match, questions, result.windows, rate);
}

int run_answer(const AnswerCommand& command) {
  prepare(command.machine);
  const ModelConfig config = read_config(command.model);
  const Tokenizer tokenizer = Tokenizer::load(command.model, {});
  check_fits(config, tokenizer.vocabulary(), command.spans.max_length, command.model.string());
  const std::vector<Question> questions =
      draw_questions(read_questions(command.data).all, command.spans.dev_size, command.machine.seed);
  BertForSpans model(config);
  const LoadReport report = load_weights(*model, config, read_model_tensors(command.model), command.model.string());
  if (!report.fresh.empty()) {
    std::fprintf(stderr, "bert: %s has no head for answers: they will be random\n", command.model.c_str());
  }
  model->to(choose_device(command.machine.device));
  SpanEvaluation evaluation(questions, tokenizer, command.spans);
  const SpanResult result = evaluation.run(model);
  if (!command.answers.empty()) write_predictions(command.answers, result.predictions);
  if (!command.rated.empty()) write_rated_answers(command.rated, result.predictions);
  tell(result, questions.size(), command.json);
  return 0;
}

int run_score(const fs::path& data, const fs::path& answers) {
  const std::vector<Question> questions = read_questions(data).all;
  const EvaluationV1 score = evaluate_v1(questions, read_predictions(answers));
  const nlohmann::ordered_json figures = {{"exact_match", score.exact_match},
                                          {"f1", score.f1},
                                          {"questions", questions.size()},
                                          {"missing", score.missing}};
  std::printf("%s\n", figures.dump(2).c_str());
  return 0;
}

}  // namespace

void add_answer(CLI::App& app, std::function<int()>& chosen) {
  const auto command = std::make_shared<AnswerCommand>();
  CLI::App& answer = *app.add_subcommand("answer", "Answers questions with a model, and says how right it is");
  answer.add_option("--model", command->model, "folder of the model")->required()->check(CLI::ExistingDirectory);
  answer.add_option("--data", command->data, "file of questions")->required()->check(CLI::ExistingFile);
  answer.add_option("--answers", command->answers, "gets {id: answer}, as the official scripts read it");
  answer.add_option("--rated", command->rated, "gets the best answers of each question with their probabilities");
  answer.add_option("--size", command->spans.dev_size, "questions, drawn by the seed from all articles; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  answer.add_option("--seed", command->machine.seed, "of what is drawn")->capture_default_str();
  answer.add_option("--device", command->machine.device, "auto, cpu or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->capture_default_str();
  answer.add_option("--threads", command->machine.threads, "of LibTorch; 0: as it chooses")->capture_default_str();
  answer.add_flag("--json", command->json, "figures as JSON");
  add_window_options(answer, command->spans);
  answer.callback([command, &chosen] { chosen = [command] { return run_answer(*command); }; });
}

void add_score(CLI::App& app, std::function<int()>& chosen) {
  const auto files = std::make_shared<std::pair<fs::path, fs::path>>();
  CLI::App& score = *app.add_subcommand("score", "Scores answers as evaluate-v1.1.py does, as JSON");
  score.add_option("DATA", files->first, "file of questions")->required()->check(CLI::ExistingFile);
  score.add_option("ANSWERS", files->second, "{id: answer}")->required()->check(CLI::ExistingFile);
  score.callback([files, &chosen] { chosen = [files] { return run_score(files->first, files->second); }; });
}

}  // namespace bert
