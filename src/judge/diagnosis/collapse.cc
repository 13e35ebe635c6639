// Collapse: outputs, representations or a latent code that no longer tell inputs apart.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/layer_rows.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

// Does the model draw from a distribution whose spread it computes, as variational ones do?
bool samples_a_code(const Case& seen) {
  const Graph* graph = seen.graph();
  return graph != nullptr && std::any_of(graph->nodes.begin(), graph->nodes.end(),
                                         [](const GraphNode& node) { return node.operation == "Exp"; });
}

std::int64_t width_of(const Case& seen, const LayerRow& row, std::string_view which) {
  const Module* const module = seen.structure().module(row.name);
  if (module == nullptr) return -1;
  const auto found = module->settings.find(which);
  return found == module->settings.end() ? -1 : static_cast<std::int64_t>(found->second);
}

// Is it the last layer of a model, or of a part that has a name of its own?
bool ends_its_part(const Case& seen, const LayerRow& row) {
  const auto part = [](std::string_view name) { return name.substr(0, name.find('.')); };
  const auto& layers = seen.structure().layers;
  return std::none_of(layers.begin() + static_cast<std::ptrdiff_t>(row.index) + 1, layers.end(),
                      [&](const std::string& later) { return part(later) == part(row.name); });
}

// Labels of classes hold against a collapse. Those of a contrastive loss do, too.
bool has_labels(const Case& seen) {
  const auto& compared = seen.structure().compared;
  return std::any_of(compared.begin(), compared.end(), [](const Compared& each) {
    const std::string function = lower_case(each.function);
    return contains(function, "cross") || contains(function, "nll") || contains(function, "bce");
  });
}

// A loss that nothing holds against is 0 where all samples are alike, as one of positive pairs alone.
void look_for_shrunk_embeddings(const Case& seen, Findings& findings) {
  const Course& train = seen.symptoms.train;
  constexpr double kLowestSimilarity = -3;  // of two or three pairs that are added up, as a negative cosine
  const bool is_as_low_as_it_gets = train.late < 0.05 * train.first && train.late > kLowestSimilarity;
  if (std::isfinite(seen.symptoms.skill) || seen.symptoms.is_adversarial || !is_as_low_as_it_gets || has_labels(seen))
    return;
  for (const LayerRow& row : last_layers(seen)) {
    const LayerRow start = layer_at(seen, 0, row.index);
    if (width_of(seen, row, "out_features") < 2 || !ends_its_part(seen, row)) continue;
    if (!(row.cosine > 0.998) || !(start.cosine < 0.995) || !(row.spread < 0.5 * start.spread)) continue;
    findings.push_back(
        {"representation_collapse",
         0.82,
         fmt::format("{} gives nearly the same for all inputs, and the loss is as low as it gets", row.name),
         {fmt::format("the cosine between two samples is {:.4f}, it was {:.3f} at the first step", row.cosine,
                      start.cosine),
          fmt::format("the loss went from {} to {}", number(train.first), number(train.late))},
         {},
         row.step,
         {}});
    return;
  }
}

void look_for_same_outputs(const Case& seen, Findings& findings) {
  const std::size_t late = seen.snapshots().size() / 2;
  if (seen.snapshots().size() < 6) return;
  const std::vector<LayerRow> rows = late_layers(seen);
  // The last layers: what the model gives.
  for (std::size_t i = rows.size() - std::min<std::size_t>(rows.size(), 3); i < rows.size(); ++i) {
    const LayerRow& row = rows[i];
    const LayerRow start = layer_at(seen, 0, row.index);
    const bool has_direction = width_of(seen, row, "out_features") != 1;  // one number has a sign alone
    const bool same = (row.spread < 0.02 || (row.cosine > 0.998 && has_direction)) && start.spread > 0.05 &&
                      (start.cosine < 0.97 || !has_direction);
    if (!same || seen.symptoms.skill > 0.3 || seen.symptoms.is_adversarial) continue;
    findings.push_back({"representation_collapse",
                        samples_a_code(seen) || !std::isfinite(seen.symptoms.skill) ? 0.45 : 0.75,
                        fmt::format("The output of {} has become nearly the same for all inputs", row.name),
                        {fmt::format("the cosine between two samples is {:.3f}, it was {:.3f} at the first step",
                                     row.cosine, start.cosine),
                         fmt::format("samples differ by {} % of its spread, {} % at the first step",
                                     number(100 * row.spread), number(100 * start.spread))},
                        {},
                        row.step,
                        {}});
    break;
  }
  look_for_shrunk_embeddings(seen, findings);
  const double share = median_of(seen.history, "top_share", 0, late), classes = median_of(seen.history, "classes");
  const Symptoms& symptoms = seen.symptoms;
  const bool tells_apart = std::fmax(symptoms.accuracy, symptoms.eval_accuracy) > symptoms.majority + 0.1 ||
                           symptoms.eval_accuracy > symptoms.majority + 0.1;
  // The sum of several losses may fall while that of the classes goes up.
  const bool is_bad = !symptoms.learns_well || symptoms.compared_late > 1.5 * symptoms.constant;
  // One class for all gives the same share of right answers each time.
  const auto& evaluations = seen.history.evaluations;
  const bool is_evaluated =
      share > 0.99 && evaluations.size() >= 3 && evaluations.front().accuracy < symptoms.majority + 0.1 &&
      std::all_of(evaluations.begin(), evaluations.end(),
                  [&](const Evaluated& each) { return std::abs(each.accuracy - evaluations.front().accuracy) < 1e-6; });
  if (share > 0.97 && !tells_apart && symptoms.majority < 0.8 && is_bad && (classes >= 2 || symptoms.chance == 0.5)) {
    findings.push_back({"predicts_one_class",
                        is_evaluated && symptoms.learns_well ? 0.82 : 0.6,  // else it learns nothing, by whatever cause
                        fmt::format("The model gives one class for {:.0f} % of the samples", 100 * share),
                        {fmt::format("the largest class has {:.0f} % of the labels", 100 * symptoms.majority)},
                        {},
                        0,
                        {}});
  }
}

// By what the program prints: of the rare class none is ever found.
void look_for_no_positives(const Case& seen, Findings& findings) {
  constexpr std::size_t kEnough = 4;
  std::size_t evaluations = 0;
  bool has_f1 = false, has_recall = false, has_precision = false;
  for (const PrintedSeries& series : seen.history.printed) {
    if (series.is_of_training || series.kind != PrintedKind::kScore) continue;
    const Values& values = series.numbers.values;
    const bool is_zero = std::all_of(values.begin(), values.end(), [](double each) { return each == 0; });
    const bool goes_on = !values.empty() && 5 * series.numbers.steps.back() >= 4 * seen.symptoms.steps;
    if (values.size() < kEnough || !is_zero || !goes_on) continue;
    evaluations = values.size();
    has_f1 = has_f1 || series.metric == "f1";
    has_recall = has_recall || series.metric == "recall";
    has_precision = has_precision || series.metric == "precision";
  }
  if (!has_f1 && !(has_recall && has_precision)) return;
  findings.push_back(
      {"predicts_one_class",
       0.82,
       fmt::format("The model finds no positive sample: \"{}\" is 0 in all {} evaluations that it printed",
                   has_f1 ? "f1" : "recall", evaluations),
       {"a class that is rare needs a weight in the loss, or a lower threshold"},
       {},
       0,
       {}});
}

// Is what the activation gives more than the few numbers of a policy: does a convolution or a wide layer stand before
// it?
bool gives_many(const Case& seen, const LayerRow& row) {
  if (row.index == 0 || row.index > seen.structure().layers.size()) return false;
  const Module* const before = seen.structure().module(seen.structure().layers[row.index - 1]);
  if (before == nullptr) return false;
  const auto width = before->settings.find("out_features");
  return contains(before->kind, "Conv") || (width != before->settings.end() && width->second >= 16);
}

// What a generator gives has become the same whatever it is given.
void look_for_same_images(const Case& seen, Findings& findings) {
  if (!seen.symptoms.is_adversarial) return;
  for (const LayerRow& row : late_layers(seen)) {
    const LayerRow start = layer_at(seen, 0, row.index);
    const bool gives = row.kind == "Tanh" || row.kind == "Sigmoid";
    if (!gives || !gives_many(seen, row) || !ends_its_part(seen, row) || !(row.cosine > 0.95) || !(row.spread < 0.2) ||
        !(start.cosine < 0.8))
      continue;
    findings.push_back({"mode_collapse",
                        0.75,
                        fmt::format("What {} gives has become nearly the same for all noise that goes in", row.name),
                        {fmt::format("the cosine between two samples is {:.3f}, it was {:.3f} at the first step",
                                     row.cosine, start.cosine)},
                        {},
                        row.step,
                        {}});
    return;
  }
}

// Mean and spread of a code come from two layers of one width, and a layer of that width takes what is drawn. Where the
// mean is near 0 for all inputs and the spread near 1, the code is the prior: it says nothing of the input.
void look_for_prior(const Case& seen, Findings& findings) {
  if (!samples_a_code(seen) || seen.snapshots().size() < 8) return;
  const std::vector<LayerRow> rows = late_layers(seen);
  for (std::size_t i = 0; i + 2 < rows.size(); ++i) {
    const std::int64_t code = width_of(seen, rows[i], "out_features");
    if (code < 1 || width_of(seen, rows[i + 1], "out_features") != code ||
        width_of(seen, rows[i + 2], "in_features") != code)
      continue;
    const double told = std::min(rows[i].deviation * rows[i].spread, rows[i + 1].deviation * rows[i + 1].spread);
    const bool is_prior = rows[i].deviation < 0.25 && rows[i + 1].deviation < 0.25 && std::abs(rows[i].mean) < 0.3 &&
                          std::abs(rows[i + 1].mean) < 0.3 && told < 0.1;
    if (!is_prior) continue;
    findings.push_back(
        {"posterior_collapse",
         0.78,
         fmt::format("The code that {} and {} give is the prior, whatever the input", rows[i].name, rows[i + 1].name),
         {fmt::format("what they give spreads by {} and {} over inputs, around {} and {}",
                      number(rows[i].deviation * rows[i].spread), number(rows[i + 1].deviation * rows[i + 1].spread),
                      number(rows[i].mean), number(rows[i + 1].mean))},
         {},
         rows[i].step,
         {}});
    return;
  }
}

// A model with a sampled code: one of its layers gives the same for all inputs, where it did not at the start.
void look_for_dead_code(const Case& seen, Findings& findings) {
  if (!samples_a_code(seen)) return;
  std::vector<LayerRow> rows = late_layers(seen);
  if (rows.size() < 4) return;
  rows.pop_back();
  for (const LayerRow& row : rows) {
    const LayerRow start = layer_at(seen, 0, row.index);
    if (row.kind != "Linear" || !(start.spread > 0.3) ||
        !(row.deviation * row.spread < 0.12 * start.deviation * start.spread))
      continue;
    findings.push_back(
        {"posterior_collapse",
         0.7,
         fmt::format("What {} gives has become the same for all inputs: the latent code carries nothing", row.name),
         {fmt::format("its spread over samples fell from {} to {}", number(start.deviation * start.spread),
                      number(row.deviation * row.spread))},
         {},
         row.step,
         {}});
    return;
  }
}

// A decoder that reconstructs no better than the mean of all inputs has nothing of the code.
void look_for_ignored_code(const Case& seen, Findings& findings) {
  const Symptoms& symptoms = seen.symptoms;
  if (!samples_a_code(seen) || !seen.reconstructs() || !symptoms.learns_nothing) return;
  // It has learned the mean, or began with it, as where the data have a mean of 0.
  const bool knows_mean =
      symptoms.train.late < 0.8 * symptoms.train.first || symptoms.compared_early < 1.2 * symptoms.constant;
  if (!knows_mean) return;
  constexpr double kFalls = 3;  // standard errors: a code is often found after the mean
  if (symptoms.train.trend > kFalls) return;
  findings.push_back({"posterior_collapse",
                      0.82,
                      "What is reconstructed is the same for all inputs: the latent code carries nothing",
                      seen.course(),
                      {},
                      0,
                      seen.place("loss")});
}

// A mean over all elements beside a divergence that is a sum over the code: the divergence outweighs it, and goes to
// zero.
void look_for_outweighed_reconstruction(const Case& seen, Findings& findings) {
  constexpr double kNothing = 0.02, kSome = 0.6;
  const Graph* const graph = seen.graph();
  const Symptoms& symptoms = seen.symptoms;
  if (graph == nullptr || !samples_a_code(seen) || !seen.reconstructs() || !(symptoms.skill < kSome)) return;
  const bool is_mean = std::any_of(graph->nodes.begin(), graph->nodes.end(), [](const GraphNode& node) {
    const auto reduction = node.settings.find("reduction");
    return reduction != node.settings.end() && reduction->second == 1;
  });
  const std::size_t count = seen.snapshots().size();
  const std::size_t late = count - std::min<std::size_t>(count, 3);
  const double rest = median_of(seen.history, "loss", 0, late) - median_of(seen.history, "compared_loss", 0, late);
  if (!is_mean || !symptoms.is_seen_late || !(std::abs(rest) < kNothing) || symptoms.has_diverged) return;
  std::vector<std::string> evidence = seen.course();
  evidence.insert(evidence.begin(), fmt::format("beside the error of the reconstruction, a mean over its elements, the "
                                                "loss has come to {}: the code says next to nothing",
                                                number(rest)));
  findings.push_back({"posterior_collapse",
                      0.8,
                      "The divergence of the code outweighs the reconstruction and has gone to zero",
                      std::move(evidence),
                      {},
                      0,
                      seen.place("loss")});
}

}  // namespace

void look_at_collapse(const Case& seen, Findings& findings) {
  if (seen.symptoms.train.not_finite > 0) return;  // of NaN everything is the same
  look_for_same_outputs(seen, findings);
  look_for_no_positives(seen, findings);
  look_for_same_images(seen, findings);
  look_for_prior(seen, findings);
  look_for_dead_code(seen, findings);
  look_for_ignored_code(seen, findings);
  look_for_outweighed_reconstruction(seen, findings);
}

}  // namespace trainwarden::diagnosis
