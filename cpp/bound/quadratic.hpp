// The reduced problem in the only form the search needs: inner products.
//
//   minimise over supports S, |S| <= k, and v supported on S
//       LS(v) + 1/(2 gamma) |v|^2 + lambda |S|,      LS(v) = 1/2 |y - X v|^2
//
// LS is given around a reference point v0, by its value, its negative gradient beta0 = X'(y - X v0) and the Gram
// matrix G = X'X. Working with differences from v0 (an incumbent or a relaxation's solution) keeps LS accurate
// when the fit is nearly perfect, where 1/2 y'y - ... would cancel. A tightened problem has the same form with
// another G (see bound/tighten.hpp), which is why nothing here asks for X.
#pragma once

#include <Eigen/Core>
#include <cmath>

#include "bound/rounding.hpp"

namespace parsifal {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Index = Eigen::Index;
using ConstMatrix = Eigen::Ref<const MatrixXd>;
using ConstVector = Eigen::Ref<const VectorXd>;

// What is already decided about each column: 1 in, -1 out, 0 free.
using Fixes = Eigen::Matrix<signed char, Eigen::Dynamic, 1>;
using ConstFix = Eigen::Ref<const Fixes>;

// What a support costs besides its fit.
struct Terms {
    double gamma;
    double lambda;  // 0: no penalty
    Index k;        // >= m: no cardinality constraint

    // a_j: what a column takes off the dual value once it is in.
    double gain(double beta) const { return 0.5 * gamma * beta * beta - lambda; }
    // The |beta_j| at which it takes nothing, and the inverse of that.
    double no_gain() const { return std::sqrt(2 * lambda / gamma); }
    double inverse_no_gain() const { return lambda > 0 ? std::sqrt(gamma / (2 * lambda)) : INFINITY; }

    // How many columns the fixes leave to be chosen; negative if too many are in.
    Index room(const ConstFix& fix) const {
        Index left = k;
        for (Index j = 0; j < fix.size(); ++j) left -= fix[j] > 0;
        return left;
    }
};

struct Quadratic : Terms {
    ConstMatrix gram;   // m x m, positive semidefinite
    ConstVector v0;     // reference point
    ConstVector beta0;  // -grad LS(v0)
    double ls0;         // LS(v0)
    Rounding rounding = {};

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

    // Lengthens every beta_j by what rounding can have taken from it; returns what it can have added to LS(v) + v'beta.
    // `beta` must come from `gradient`.
    double allow_for_rounding(const ConstVector& v, VectorXd& beta) const {
        if (rounding.norm.size() == 0) return 0;
        double reach = rounding.reach, size = 0;
        Index terms = 0;
        for (Index j = 0; j < beta.size(); ++j) {
            if (v[j] == 0 && v0[j] == 0) continue;
            ++terms;
            reach += std::abs(v[j] - v0[j]) * rounding.norm[j];
            size += std::abs(v[j]) * rounding.norm[j];
        }
        const double error = rounding.error + rounding.unit_for(terms) * reach;
        for (Index j = 0; j < beta.size(); ++j) beta[j] += std::copysign(error * rounding.norm[j], beta[j]);
        return rounding.base + rounding.drift * reach + 2 * error * (reach + size);
    }
};

}  // namespace parsifal
