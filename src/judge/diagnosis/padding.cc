// Padding: sequences end with what fills them up to the length of the batch. Is that left out of the loss?
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"

namespace trainwarden::diagnosis {

// Told by the loss itself, which is that with it or that without. Where the first of several losses compares no
// sequences, it is the second one that is looked at.
void look_at_padding(const Case& seen, Findings& findings) {
  for (const std::string number_of_loss : {"", "1"}) {
    const std::string padding = "padding" + number_of_loss;
    Values with, without;
    for (const Snapshot& snapshot : seen.snapshots()) {
      const double loss = snapshot.at("compared_loss" + number_of_loss);
      with.push_back(std::abs(snapshot.at("plain_loss" + number_of_loss) / loss - 1));
      without.push_back(std::abs(snapshot.at(padding, 2) / loss - 1));
    }
    const double share = median_of(seen.history, padding, 0), varies = median_of(seen.history, padding, 1);
    if (!(share > 0.08) || !(varies > 0.03) || !(median(with) < 0.01) || median(without) < 0.01) continue;
    findings.push_back({"padding_in_loss",
                        share > 0.2 ? 0.8 : 0.6,
                        fmt::format("{:.0f} % of the targets are padding, and count in the loss", 100 * share),
                        {"rows end with the same value, for longer or shorter",
                         "the loss is the mean over all targets, not over those before the padding"},
                        {},
                        0,
                        seen.place("loss" + number_of_loss)});
    return;
  }
}

}  // namespace trainwarden::diagnosis
