// Products of columns, on our own threads. A BLAS would wake its own, which go on spinning for milliseconds beside ours
// and make what comes next slower than the product was.
#pragma once

#include <vector>

#include "base/threads.hpp"
#include "bound/quadratic.hpp"

namespace parsifal {

// a'b; only one triangle is computed where a and b are the same array.
MatrixXd gram(const ConstMatrix& a, const ConstMatrix& b, const Team& team);

// The rows and columns `keep` of a square matrix.
MatrixXd submatrix(const ConstMatrix& a, const std::vector<Index>& keep, const Team& team);

}  // namespace parsifal
