// Cholesky factors of systems so large that one takes seconds: block by block, so that the alarm is heard.
#pragma once

#include <Eigen/Cholesky>

#include "base/alarm.hpp"
#include "bound/quadratic.hpp"

namespace parsifal {

// Below this a factor is there in some tens of milliseconds, and Eigen's own is used.
constexpr Index large_system = 1000;

// Replaces the lower triangle of a by its factor L. False if a is not positive definite, or the alarm rings.
inline bool factorise(MatrixXd& a, const Alarm& alarm) {
    constexpr Index width = 192;
    for (Index k = 0; k < a.rows(); k += width) {
        if (alarm.rings()) return false;
        const Index size = std::min(width, a.rows() - k), rest = a.rows() - k - size;
        auto corner = a.block(k, k, size, size);
        const Eigen::LLT<MatrixXd> factor{MatrixXd(corner)};
        if (factor.info() != Eigen::Success) return false;
        corner = factor.matrixLLT();
        if (rest == 0) break;
        auto below = a.block(k + size, k, rest, size);
        corner.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(below);
        a.bottomRightCorner(rest, rest).selfadjointView<Eigen::Lower>().rankUpdate(below, -1.0);
    }
    return true;
}

// b := (L L')^-1 b.
inline void solve_factorised(const MatrixXd& factor, MatrixXd& b) {
    factor.triangularView<Eigen::Lower>().solveInPlace(b);
    factor.transpose().triangularView<Eigen::Upper>().solveInPlace(b);
}

}  // namespace parsifal
