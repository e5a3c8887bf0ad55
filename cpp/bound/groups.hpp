// Groups of columns, each chosen whole or not at all: what they ask of a Quadratic besides.
//
// A group takes a_g = gamma/2 |beta_g|^2 - price_g off the dual value, |beta_g|^2 summed over its columns; everything
// else is as for columns (bound/dual.hpp), with a_g in place of a_j. In a tightened problem the columns are scaled one
// by one, so nothing here knows about that either.
#pragma once

#include <utility>
#include <vector>

#include "bound/dual.hpp"
#include "bound/quadratic.hpp"

namespace parsifal {

struct GroupedQuadratic {
    const Quadratic& columns;
    std::vector<Index> start;  // the columns of group g are start[g] .. start[g + 1] - 1
    VectorXd price;            // of each group
    Index k;                   // groups that may be chosen
    VectorXd at_zero;          // beta of v = 0

    GroupedQuadratic(const Quadratic& problem, std::vector<Index> starts, VectorXd prices, Index most)
        : GroupedQuadratic(problem, std::move(starts), std::move(prices), most, beta_of_zero(problem)) {}
    // With what `beta_of_zero` gave before.
    GroupedQuadratic(const Quadratic& problem, std::vector<Index> starts, VectorXd prices, Index most, VectorXd zero)
        : columns(problem), start(std::move(starts)), price(std::move(prices)), k(most), at_zero(std::move(zero)) {}

    static VectorXd beta_of_zero(const Quadratic& problem) {
        VectorXd beta;
        problem.gradient(VectorXd::Zero(problem.size()), beta);
        return beta;
    }

    Index size() const { return price.size(); }
    Index first(Index g) const { return start[static_cast<size_t>(g)]; }
    Index width(Index g) const { return start[static_cast<size_t>(g) + 1] - first(g); }
    Index room(const ConstFix& fix) const {
        Index left = k;
        for (Index g = 0; g < fix.size(); ++g) left -= fix[g] > 0;
        return left;
    }
    // a_g of every group.
    void gains(const VectorXd& beta, VectorXd& a) const {
        a.resize(size());
        for (Index g = 0; g < size(); ++g)
            a[g] = 0.5 * columns.gamma * beta.segment(first(g), width(g)).squaredNorm() - price[g];
    }
};

// The dual value at the columns' coefficients v, less all that rounding can be worth, and a_g, none below its exact
// value. `beta` must come from `gradient`; it is lengthened by its errors.
struct SafeDual {
    double bound = -INFINITY;
    VectorXd a;
};
SafeDual safe_dual(const GroupedQuadratic& q, const ConstFix& fix, const VectorXd& v, VectorXd& beta,
                   std::vector<double>& scratch);

// `choose` and `fix_columns` of bound/dual.hpp for terms that are given.
DualChoice choose_groups(const VectorXd& a, const ConstFix& fix, Index room, std::vector<double>& scratch);
Index fix_groups(const VectorXd& a, double bound, double cutoff, const DualChoice& choice, Index room,
                 Eigen::Ref<Fixes> fix);

}  // namespace parsifal
