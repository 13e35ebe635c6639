// Inverse and Gram matrix of a lower triangular matrix, by halves, so that the zeros above the diagonal cost nothing: a
// third of the work of solving for a whole matrix.
#pragma once

#include <Eigen/Core>

namespace trainwarden::tune {

// In place. Nothing on the diagonal is 0; what lies above it is neither read nor written.
void invert_lower(Eigen::Ref<Eigen::MatrixXd> matrix);

// The lower half of transposed(matrix) * matrix, in place; what lies above the diagonal is neither read nor written.
void gram_of_lower(Eigen::Ref<Eigen::MatrixXd> matrix);

}  // namespace trainwarden::tune
