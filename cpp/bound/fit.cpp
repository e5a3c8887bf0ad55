#include "bound/fit.hpp"

#include <cmath>

#include "base/alarm.hpp"
#include "bound/precise.hpp"
#include "read/gram.hpp"

namespace parsifal {

namespace {

// Sums of squares below this have lost digits.
constexpr double smallest_square = 1e-280;
// Pivots of the equilibrated system below it are left to a QR factorisation.
constexpr double least_pivot = 1e-5;
constexpr int refinements = 2;
// A relative error of the objective beyond which its residual needs twice the digits; `check` allows 1e-12.
constexpr double precise_to = 2.5e-13;

}  // namespace

VectorXd fit_columns(const ConstMatrix& columns, const ConstVector& y, double gamma) {
    const Index k = columns.cols();
    const MatrixXd gram = parsifal::gram(columns, columns, Team{1, Alarm::never()});
    const VectorXd squares = gram.diagonal().array() + 1 / gamma;
    // Also where one is no number.
    if (k == 0 || !(squares.array() > smallest_square).all() || !gram.allFinite()) return {};
    const VectorXd scale = squares.array().sqrt().inverse(), ridge = scale.array().square() / gamma;
    MatrixXd system = scale.asDiagonal() * gram * scale.asDiagonal();
    system.diagonal() += ridge;
    if (!cholesky(system) || !(system.diagonal().minCoeff() > least_pivot)) return {};
    VectorXd u = scale.cwiseProduct(columns.transpose() * y);
    solve_cholesky(system, u);
    VectorXd residual(y.size());
    for (int step = 0; step < refinements; ++step) {
        residual = y;
        residual.noalias() -= columns * scale.cwiseProduct(u);
        VectorXd pull = columns.transpose() * residual;
        pull = pull.cwiseProduct(scale) - ridge.cwiseProduct(u);
        solve_cholesky(system, pull);
        u += pull;
    }
    VectorXd w = u.cwiseProduct(scale);
    if (!w.allFinite()) return {};
    return w;
}

FitValue fit_value(const ConstMatrix& columns, const ConstVector& y, const ConstVector& w, double gamma) {
    VectorXd residual = y;
    residual.noalias() -= columns * w;
    const double square = w.squaredNorm(), ridge = 0.5 * square / gamma;
    double rest = residual.squaredNorm();
    // What rounding has changed in the residual, relative to the terms of y - X w, which a good fit leaves far above
    // it.
    double terms = y.norm();
    for (Index j = 0; j < w.size(); ++j) terms += std::abs(w[j]) * columns.col(j).norm();
    const double blur = 1.01 * static_cast<double>(w.size() + 8) * unit_roundoff * terms;
    if (!(blur * (std::sqrt(rest) + blur) <= precise_to * (0.5 * rest + ridge))) {
        const MatrixXd dense = columns;  // whatever lies between its columns
        precise_residual(y.data(), dense.data(), w.data(), y.size(), w.size(), residual.data());
        rest = residual.squaredNorm();
    }
    const double value = 0.5 * rest + ridge;
    const bool squared = std::isinf(gamma) || (square > smallest_square && std::isfinite(square));
    return {value, squared && std::isfinite(value)};
}

}  // namespace parsifal
