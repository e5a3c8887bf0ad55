// The fit of a few columns to the data themselves.
#pragma once

#include "bound/quadratic.hpp"

namespace parsifal {

// Coefficients that minimise 1/2 |y - columns w|^2 + |w|^2 / (2 gamma): normal equations, equilibrated, with refinement
// against residuals computed from the columns. From these columns alone, so that whoever fits them gets the same
// digits. Empty where the system is too ill-conditioned for that, or entries too small to square.
VectorXd fit_columns(const ConstMatrix& columns, const ConstVector& y, double gamma);

// 1/2 |y - columns w|^2 + |w|^2 / (2 gamma), right to all digits but the last few though y - columns w may cancel; and
// whether all squares are within what a double holds.
struct FitValue {
    double value;
    bool usual;
};
FitValue fit_value(const ConstMatrix& columns, const ConstVector& y, const ConstVector& w, double gamma);

}  // namespace parsifal
