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

#include <cmath>
#include <memory>

#include "base/dense.hpp"
#include "bound/column_rules.hpp"
#include "bound/fixes.hpp"
#include "bound/rounding.hpp"

namespace parsifal {

// What a support costs besides its fit.
struct Terms {
    double gamma;
    double lambda;  // 0: no penalty
    Index k;        // >= m: no cardinality constraint
    // Where columns are not all alike: their prices count in place of lambda. Null: they are.
    std::shared_ptr<const ColumnRules> rules = nullptr;

    // a_j: what a column takes off the dual value once it is in.
    double gain(double beta) const { return 0.5 * gamma * beta * beta - lambda; }
    double gain(Index j, double beta) const {
        if (!rules) return gain(beta);
        const double reach = rules->reach(j, beta);
        return 0.5 * gamma * reach * reach - rules->price_of(j);
    }
    // |beta_j|; with rules, the size that a column without price and sign would have for the same gain.
    double magnitude(Index j, double beta) const {
        return rules ? std::sqrt(std::max(0.0, 2 * gain(j, beta) / gamma)) : std::abs(beta);
    }
    double price_of(Index j) const { return rules ? rules->price_of(j) : lambda; }
    double price_of(const std::vector<Index>& support) const {
        if (!rules) return lambda * static_cast<double>(support.size());
        double price = 0;
        for (const Index j : support) price += rules->price_of(j);
        return price;
    }
    // On these columns alone.
    Terms take(const std::vector<Index>& columns) const {
        return {gamma, lambda, k, rules ? rules->take(columns) : nullptr};
    }
    // The size at which a column takes nothing, and the inverse of that.
    double no_gain() const { return rules ? 0.0 : std::sqrt(2 * lambda / gamma); }
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
        if (rules)
            for (Index j = 0; j < beta.size(); ++j) beta[j] = rules->lengthened(j, beta[j], error * rounding.norm[j]);
        else
            for (Index j = 0; j < beta.size(); ++j) beta[j] += std::copysign(error * rounding.norm[j], beta[j]);
        return rounding.base + rounding.drift * reach + 2 * error * (reach + size);
    }
};

}  // namespace parsifal
