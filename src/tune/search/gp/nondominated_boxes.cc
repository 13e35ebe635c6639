#include "tune/search/gp/nondominated_boxes.h"

#include <algorithm>
#include <limits>

namespace trainwarden::tune {
namespace {

using Eigen::Index, Eigen::VectorXd;

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// Boxes in the first `count` costs; points are those that can dominate there, all below the reference.
std::vector<CostBox> boxes_below(std::vector<VectorXd> points, const VectorXd& reference, Index count) {
  const Index last = count - 1;
  std::sort(points.begin(), points.end(), [&](const auto& one, const auto& other) { return one[last] < other[last]; });
  if (count == 1) {
    const double high = points.empty() ? reference[0] : points.front()[0];
    return {{VectorXd::Constant(1, kMinusInfinity), VectorXd::Constant(1, high)}};
  }
  std::vector<CostBox> boxes;
  for (std::size_t i = 0; i <= points.size(); ++i) {
    const double low = i == 0 ? kMinusInfinity : points[i - 1][last];
    const double high = i == points.size() ? reference[last] : points[i][last];
    if (!(low < high)) continue;
    const std::vector<VectorXd> below(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(i));
    for (CostBox& box : boxes_below(below, reference, last)) {
      box.low.conservativeResize(count);
      box.high.conservativeResize(count);
      box.low[last] = low;
      box.high[last] = high;
      boxes.push_back(std::move(box));
    }
  }
  return boxes;
}

}  // namespace

std::vector<CostBox> nondominated_boxes(const std::vector<VectorXd>& points, const VectorXd& reference) {
  std::vector<VectorXd> inside;
  for (const VectorXd& point : points) {
    if ((point.array() < reference.array()).all()) inside.push_back(point);
  }
  return boxes_below(std::move(inside), reference, reference.size());
}

}  // namespace trainwarden::tune
