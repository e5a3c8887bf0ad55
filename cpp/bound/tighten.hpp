// Tightening: a diagonal d with G - diag(d) positive semidefinite moves from the least-squares part to the ridge
// part. On binary s nothing changes; the relaxation gets tighter. With S_j = 1/sqrt(1 + gamma d_j) the tightened
// problem is the same problem for the Gram matrix S (G - diag(d)) S in the variables v_j / S_j.
#pragma once

#include <vector>

#include "base/alarm.hpp"
#include "bound/quadratic.hpp"

namespace parsifal {

// Maximises weight'd subject to G - diag(d) positive semidefinite, d >= 0, by a barrier method. `unit` bounds the error
// of G's entries relative to the columns' norms, and of a factorisation's (Rounding::unit_for(m)). From what the
// barrier method found, 2 m unit |x_j|^2 is taken off every entry, so that the columns' exact Gram matrix less diag(d)
// is positive semidefinite beyond rounding; hence columns that depend on each other, which have nothing to give, have a
// slightly negative d. Zero if there is nothing to gain. When the alarm rings it takes no more steps. `start` is a
// diagonal that is known already, to begin with. Without Newton steps, and of more than 500 columns, all have the same
// part of their squares, which the least eigenvalue allows: two factorisations.
VectorXd tightening(const ConstMatrix& gram, const ConstVector& weight, int max_newton, double unit, double gamma,
                    const Alarm& alarm = Alarm::never(), const VectorXd* start = nullptr);

// Which of columns with this Gram matrix (of unit norm) take part in a linear dependency, and how many there are.
struct Dependencies {
    std::vector<bool> involved;
    Index count = 0;
};
Dependencies dependencies(const MatrixXd& gram);

}  // namespace parsifal
