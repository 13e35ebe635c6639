#include "tune/search/importance/tree_variance.h"

namespace trainwarden::tune {
namespace {

struct CommonSide {
  std::size_t parameter;
  double excess;  // the q of tree_variance.h
};

// Of the parameters that both leaves have sides of.
void find_common(const ImportanceSample& sample, const TreeLeaf& one, const TreeLeaf& other,
                 std::vector<CommonSide>& common) {
  common.clear();
  auto a = one.sides.begin(), b = other.sides.begin();
  while (a != one.sides.end() && b != other.sides.end()) {
    if (a->parameter != b->parameter) {
      ++(a->parameter < b->parameter ? a : b);
      continue;
    }
    const double both = sample.parameters[a->parameter].share_of(a->cells & b->cells);
    common.push_back({a->parameter, both / (a->share * b->share) - 1});
    ++a;
    ++b;
  }
}

}  // namespace

void add_covariance(const ImportanceSample& sample, const std::vector<TreeLeaf>& one,
                    const std::vector<TreeLeaf>& other, double mean, double factor, TreeVariance& sum) {
  std::vector<CommonSide> common;
  for (const TreeLeaf& l : one) {
    for (const TreeLeaf& m : other) {
      find_common(sample, l, m, common);
      const double mass = factor * (l.value - mean) * l.volume * (m.value - mean) * m.volume;
      double product = 1;
      for (std::size_t i = 0; i < common.size(); ++i) {
        product *= 1 + common[i].excess;
        sum.single[common[i].parameter] += mass * common[i].excess;
        for (std::size_t k = i + 1; k < common.size(); ++k) {
          sum.pair(common[i].parameter, common[k].parameter) += mass * common[i].excess * common[k].excess;
        }
      }
      sum.total += mass * (product - 1);
    }
  }
}

}  // namespace trainwarden::tune
