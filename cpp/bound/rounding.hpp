// What rounding can be worth, so that a reported bound holds in exact arithmetic (docs/numerics.md has the proofs).
//
// Around a reference point v0 with residual alpha0 the products beta0 = X'alpha0 and the Gram matrix are rounded. With
// |x_j| the columns' norms, T = reach + sum |v_j - v0_j| |x_j| and V = sum |v_j| |x_j|, at any v
//
//   |beta_j - its true value| <= |x_j| (error + unit T)
//   |LS(v) + v'beta - its true value| <= base + drift T + 2 (error + unit T) (T + V),
//
// where unit = unit_for(number of nonzero steps). A bound is computed with every |beta_j| lengthened by its error, and
// the second line taken off.
#pragma once

#include <Eigen/Core>

namespace parsifal {

constexpr double unit_roundoff = 0x1p-53;

struct Rounding {
    Eigen::VectorXd norm;  // |x_j|; empty: nothing is known, and nothing allowed for
    double unit = 0;       // (n + a few) unit roundoffs: of a sum over the rows
    double error = 0;      // of beta0, relative to |x_j|
    double base = 0;       // of LS(v0)
    double drift = 0;      // |alpha0 - (y - X v0)|
    double reach = 0;      // |alpha0|, and the way from there to v0

    // Around v0 = 0: of X'y and y'y as they are, with so many rows (`WorkingSet.rounding` in Python).
    static Rounding at_response(const Eigen::VectorXd& norm, Eigen::Index rows, double y_norm) {
        const double of_rows = 1.01 * static_cast<double>(rows + 8) * unit_roundoff;
        const double of_none = 1.01 * 8 * unit_roundoff;
        return {norm, of_rows, of_rows * y_norm, of_rows * y_norm * y_norm, of_none * y_norm, y_norm};
    }

    // Of a sum over the rows and one over so many columns.
    double unit_for(Eigen::Index columns) const {
        return unit + 1.01 * static_cast<double>(columns + 8) * unit_roundoff;
    }

    // The reference point moved by `step` = sum |change of v_j| |x_j| over so many columns.
    Rounding moved(double step, Eigen::Index columns) const {
        Rounding r = *this;
        r.reach += step;
        r.error += unit_for(columns) * r.reach;
        r.base += 2 * r.error * r.reach;
        return r;
    }

    // For the problem with a diagonal d <= |x_j|^2 taken from the Gram matrix, in the variables v / scale; `size` =
    // sum |w_j| |x_j| at the reference point. There alpha has to be y - X w, so the drift is an error of everything.
    Rounding tightened(const Eigen::VectorXd& scale, double size) const {
        Rounding r = *this;
        r.norm = norm.cwiseProduct(scale);
        r.error += drift + 8 * unit_roundoff * size;
        r.base += drift * (reach + drift) + unit_for(norm.size()) * size * size;
        r.drift = 0;
        r.reach += size;
        return r;
    }
};

}  // namespace parsifal
