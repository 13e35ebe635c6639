#include "tune/search/gp/lower_triangle.h"

namespace trainwarden::tune {
namespace {

using Eigen::Index, Eigen::MatrixXd;

constexpr Index kSmall = 24;

void invert_small(Eigen::Ref<MatrixXd> matrix) {
  MatrixXd inverse = MatrixXd::Identity(matrix.rows(), matrix.rows());
  matrix.triangularView<Eigen::Lower>().solveInPlace(inverse);
  matrix.triangularView<Eigen::Lower>() = inverse;
}

}  // namespace

// [A 0; B C] has the inverse [A' 0; -C' B A' C'].
void invert_lower(Eigen::Ref<MatrixXd> matrix) {
  const Index count = matrix.rows(), half = count / 2, rest = count - half;
  if (count <= kSmall) return invert_small(matrix);
  invert_lower(matrix.topLeftCorner(half, half));
  invert_lower(matrix.bottomRightCorner(rest, rest));
  const MatrixXd product =
      matrix.bottomLeftCorner(rest, half) * matrix.topLeftCorner(half, half).triangularView<Eigen::Lower>();
  matrix.bottomLeftCorner(rest, half).noalias() =
      matrix.bottomRightCorner(rest, rest).triangularView<Eigen::Lower>() * -product;
}

// [A 0; B C] has the Gram matrix [A^T A + B^T B, ...; C^T B, C^T C].
void gram_of_lower(Eigen::Ref<MatrixXd> matrix) {
  const Index count = matrix.rows(), half = count / 2, rest = count - half;
  if (count <= kSmall) {
    const MatrixXd lower = matrix.triangularView<Eigen::Lower>();
    matrix.triangularView<Eigen::Lower>() = lower.transpose() * lower;
    return;
  }
  auto corner = matrix.bottomLeftCorner(rest, half);
  gram_of_lower(matrix.topLeftCorner(half, half));
  matrix.topLeftCorner(half, half).selfadjointView<Eigen::Lower>().rankUpdate(corner.transpose());
  corner = matrix.bottomRightCorner(rest, rest).transpose().triangularView<Eigen::Upper>() * MatrixXd(corner);
  gram_of_lower(matrix.bottomRightCorner(rest, rest));
}

}  // namespace trainwarden::tune
