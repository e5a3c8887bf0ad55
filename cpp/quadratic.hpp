// The reduced problem in the only form the search needs: inner products.
//
//   minimise over supports S, |S| <= k, and v supported on S
//       LS(v) + 1/(2 gamma) |v|^2 + lambda |S|,      LS(v) = 1/2 |y - X v|^2
//
// LS is given around a reference point v0, by its value, its negative gradient beta0 = X'(y - X v0) and the Gram
// matrix G = X'X. Working with differences from v0 (an incumbent or a relaxation's solution) keeps LS accurate
// when the fit is nearly perfect, where 1/2 y'y - ... would cancel. A tightened problem has the same form with
// another G (see tighten.py), which is why nothing here asks for X.
#pragma once

#include <Eigen/Core>

namespace parsifal {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Index = Eigen::Index;
using ConstMatrix = Eigen::Ref<const MatrixXd>;
using ConstVector = Eigen::Ref<const VectorXd>;

// What is already decided about each column: 1 in, -1 out, 0 free.
using ConstFix = Eigen::Ref<const Eigen::Matrix<signed char, Eigen::Dynamic, 1>>;

struct Quadratic {
    ConstMatrix gram;   // m x m, positive semidefinite
    ConstVector v0;     // reference point
    ConstVector beta0;  // -grad LS(v0)
    double ls0;         // LS(v0)
    double gamma;
    double lambda;  // 0: no penalty
    Index k;        // >= m: no cardinality constraint

    Index size() const { return gram.rows(); }

    // LS(v) from beta(v) = beta0 - G (v - v0): the second-order terms fold into an average of two gradients.
    double least_squares(const ConstVector& v, const ConstVector& beta) const {
        return ls0 - 0.5 * (v - v0).dot(beta0 + beta);
    }

    void gradient(const ConstVector& v, VectorXd& beta) const {
        beta = beta0;
        for (Index j = 0; j < size(); ++j) {
            const double step = v[j] - v0[j];
            if (step != 0.0) beta.noalias() -= step * gram.col(j);
        }
    }
};

}  // namespace parsifal
