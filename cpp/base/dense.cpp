#include "base/dense.hpp"

#include <Eigen/Cholesky>
#include <algorithm>

namespace parsifal {

// ---- Cholesky

bool cholesky(MatrixXd& a) { return Eigen::LLT<Eigen::Ref<MatrixXd>>(a).info() == Eigen::Success; }

bool cholesky(Eigen::Map<MatrixXd> a) {
    Eigen::Ref<MatrixXd> in_place(a);
    return Eigen::LLT<Eigen::Ref<MatrixXd>>(in_place).info() == Eigen::Success;
}

bool cholesky(MatrixXd& a, const Alarm& alarm) {
    if (a.rows() <= large_system) return cholesky(a);
    constexpr Index width = 192;
    for (Index k = 0; k < a.rows(); k += width) {
        if (alarm.rings()) return false;
        const Index size = std::min(width, a.rows() - k), rest = a.rows() - k - size;
        MatrixXd corner = a.block(k, k, size, size);
        if (!cholesky(corner)) return false;
        a.block(k, k, size, size) = corner;
        if (rest == 0) break;
        auto below = a.block(k + size, k, rest, size);
        corner.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(below);
        a.bottomRightCorner(rest, rest).selfadjointView<Eigen::Lower>().rankUpdate(below, -1.0);
    }
    return true;
}

void solve_cholesky(const ConstMatrix& factor, VectorXd& b) {
    factor.triangularView<Eigen::Lower>().solveInPlace(b);
    factor.transpose().triangularView<Eigen::Upper>().solveInPlace(b);
}

void solve_cholesky(const ConstMatrix& factor, MatrixXd& b) {
    factor.triangularView<Eigen::Lower>().solveInPlace(b);
    factor.transpose().triangularView<Eigen::Upper>().solveInPlace(b);
}

void solve_lower(const ConstMatrix& factor, Eigen::Ref<MatrixXd> b) {
    factor.triangularView<Eigen::Lower>().solveInPlace(b);
}

// ---- Products

void multiply(const ConstMatrix& a, const ConstMatrix& b, Eigen::Ref<MatrixXd> c) { c.noalias() = a * b; }

void multiply_transposed(const ConstMatrix& a, const ConstMatrix& b, Eigen::Ref<MatrixXd> c) {
    c.noalias() = a.transpose() * b;
}

void subtract_square(const ConstMatrix& a, MatrixXd& c) {
    c.selfadjointView<Eigen::Lower>().rankUpdate(a.transpose(), -1.0);
}

}  // namespace parsifal
