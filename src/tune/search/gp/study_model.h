// The acquisition of a study: what is to be gained by trying a point, given its history.
#pragma once

#include <map>

#include "tune/search/gp/acquisition.h"
#include "tune/search/history.h"
#include "tune/search/random.h"

namespace trainwarden::tune {

struct StudyModel {
  GpAcquisition acquisition;
  Eigen::VectorXd weights;        // of the kernel of the first process
  std::vector<Point> incumbents;  // the best first
};

// What was fitted last for each metric, which is used again where the observations are the same: it saves time when
// several points are asked for at once, and changes nothing.
class KernelFits {
 public:
  const KernelParameters& fit(std::size_t metric, const std::vector<KernelDimension>& dimensions,
                              const Eigen::MatrixXd& rows, const Eigen::VectorXd& targets, bool is_deterministic);

 private:
  struct Entry {
    Eigen::MatrixXd rows;
    Eigen::VectorXd targets;
    KernelParameters parameters;
  };
  std::map<std::size_t, Entry> entries_;
};

// For the trial of this number. There is at least one trial that is over, and a metric to optimise or constrain.
StudyModel model_study(const History& history, std::int64_t number, bool is_deterministic, KernelFits& fits,
                       Random& random);

}  // namespace trainwarden::tune
