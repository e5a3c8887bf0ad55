// The prox of the perspective penalty, coordinate by coordinate.
//
//   Omega(v) = min_s  sum v_j^2 / (2 gamma s_j) + lambda sum s_j,   0 <= s <= 1,  sum s <= room
//   prox(z)  = argmin_v  sum (v_j - z_j)^2 / (2 sigma_j) + Omega(v)
//
// has v_j = z_j gamma s_j / (gamma s_j + sigma_j) with s_j = clamp((theta |z_j| - sigma_j) / gamma, 0, 1), where
// theta = 1 / tau is the largest value with theta <= sqrt(gamma / (2 lambda)) and sum s <= room.
// sigma = 0 gives Omega itself: s_j = clamp(theta |v_j| / gamma, 0, 1).
#pragma once

#include "bound/quadratic.hpp"

namespace parsifal {

struct Threshold {
    double theta = INFINITY;   // 1 / tau; infinite: no threshold (everything nonzero has s = 1)
    bool cardinality = false;  // sum s = room holds with equality and determines theta
};

// magnitude = |z_j| of the free columns (others 0), sigma >= 0 of the same length.
Threshold solve_threshold(const ConstVector& magnitude, const ConstVector& sigma, const Terms& terms, Index room,
                          double start);

// With a price of its own for every column there is a tau of its own, tau_j = sqrt(2 (price_j + mu) / gamma), and mu >=
// 0 is the smallest value with sum s <= room. Writes 1 / tau_j.
struct PricedThreshold {
    double mu = 0;
    bool cardinality = false;  // sum s = room holds with equality and determines mu
};

PricedThreshold solve_priced_threshold(const ConstVector& magnitude, const ConstVector& sigma, const Terms& terms,
                                       Index room, double start, VectorXd& theta);

inline double fraction(double magnitude, double sigma, double gamma, double theta) {
    if (magnitude <= 0) return 0;
    if (theta == INFINITY) return 1;
    const double s = (theta * magnitude - sigma) / gamma;
    return s <= 0 ? 0 : s >= 1 ? 1 : s;
}

}  // namespace parsifal
