// Least squares of few columns whose coefficients have signs, from inner products, with a lower bound.
//
// For w of any kind, with the residual y - X w, let g = X'(y - X w), of which only the part counts that a change of w
// may go along: for a coefficient that is zero and has a sign, max(0, sign g). With X'X >= lambda Id no w' of the right
// signs has a smaller 1/2 |y - X w'|^2 than 1/2 |y - X w|^2 - |g|^2 / (2 lambda) (docs/numerics.md).
#pragma once

#include <Eigen/Core>
#include <vector>

namespace parsifal {

struct SignedFit {
    double value = 0;    // 1/2 |y - X w|^2
    double charge = 0;   // the least value over all w of these signs is not below value - charge
    bool known = false;  // false: the columns are too near to each other for inner products to tell
};

// Columns of length one (or zero); entries of `gram` are off by at most eps, those of `b` by eps |y|, and so on.
SignedFit signed_fit(const Eigen::MatrixXd& gram, const Eigen::VectorXd& b, double yy,
                     const std::vector<signed char>& sign, double eps);

}  // namespace parsifal
