// Tightening: a diagonal d >= 0 with G - diag(d) positive semidefinite moves from the least-squares part to the ridge
// part. On binary s nothing changes; the relaxation gets tighter. With S_j = 1/sqrt(1 + gamma d_j) the tightened
// problem is the same problem for the Gram matrix S (G - diag(d)) S in the variables v_j / S_j.
#pragma once

#include "alarm.hpp"
#include "quadratic.hpp"

namespace parsifal {

// Maximises weight'd subject to G - diag(d) positive semidefinite, d >= 0, by a barrier method. Always returns a d
// for which the smallest eigenvalue of G - diag(d) was seen to be zero or more, up to rounding; zero if there is none
// (for instance because every column is part of a linear dependency). When the alarm rings it takes no more steps.
VectorXd tightening(const ConstMatrix& gram, const ConstVector& weight, int max_newton,
                    const Alarm& alarm = Alarm::never());

}  // namespace parsifal
