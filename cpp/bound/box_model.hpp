// The quadratic model of a Newton step on the weights of groups: over a box and a budget.
#pragma once

#include "bound/quadratic.hpp"

namespace parsifal {

// Minimises g'(z - x) + 1/2 (z - x)'H(z - x) over 0 <= z <= 1, sum z <= room, by an active-set method from x, which
// must be feasible. Where the model is beyond double precision it stops at the best z so far.
VectorXd minimise_model(MatrixXd H, const VectorXd& g, const VectorXd& x, double room);

}  // namespace parsifal
