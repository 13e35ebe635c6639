// Collapse: outputs, representations or a latent code that no longer tell inputs apart.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/layer_rows.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

void look_for_same_outputs(const Case& seen, Findings& findings) {
  const std::size_t late = seen.snapshots().size() / 2;
  if (seen.snapshots().size() < 6) return;
  const std::vector<LayerRow> rows = last_layers(seen);
  // The last layers: what the model gives.
  if (!rows.empty()) {
    const LayerRow& last = rows.back();
    const LayerRow start = layer_at(seen, 0, last.index);
    if (last.spread < 0.02 && last.cosine > 0.995 && start.spread > 0.05) {
      findings.push_back({"representation_collapse", 0.75, fmt::format("The output of {} has become nearly the same for all inputs", last.name),
                          {fmt::format("samples differ by {} % of its spread, {} % at the first step", number(100 * last.spread), number(100 * start.spread))}, {}, last.step, {}});
    }
  }
  const double share = median_of(seen.history, "top_share", 0, late), classes = median_of(seen.history, "classes");
  const Symptoms& symptoms = seen.symptoms;
  if (share > 0.97 && symptoms.majority < 0.8 && (classes >= 2 || symptoms.chance == 0.5)) {
    findings.push_back({"predicts_one_class", 0.6, fmt::format("The model gives one class for {:.0f} % of the samples", 100 * share), {fmt::format("the largest class has {:.0f} % of the labels", 100 * symptoms.majority)}, {}, 0, {}});
  }
}

}  // namespace

void look_at_collapse(const Case& seen, Findings& findings) {
  look_for_same_outputs(seen, findings);
}

}  // namespace trainwarden::diagnosis
