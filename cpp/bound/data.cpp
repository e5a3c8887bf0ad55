#include "bound/data.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "bound/correlation_table.hpp"

namespace parsifal {

MatrixXd Data::unit_columns(const std::vector<Index>& set) const {
    MatrixXd unit = columns(Eigen::all, set);
    for (Index a = 0; a < unit.cols(); ++a) unit.col(a) /= std::max(unit.col(a).norm(), 1e-300);
    return unit;
}

bool Data::dependent(const std::vector<Index>& in, Index j) const {
    if (!at_hand()) return false;
    const double norm = columns.col(j).norm();
    if (!(norm > 0)) return true;
    if (in.empty()) return false;
    const MatrixXd others = unit_columns(in);
    const VectorXd column = columns.col(j) / norm;
    const VectorXd u = others.colPivHouseholderQr().solve(column);
    // Any u gives an upper bound to the distance.
    const double rounding = 2 * (unit_for(columns.rows()) + unit_for(others.cols())) * (1 + u.lpNorm<1>());
    return (column - others * u).norm() + rounding < CorrelationTable::independence;
}

double Data::work(const std::vector<Index>& set) const {
    const auto n = static_cast<double>(columns.rows()), k = static_cast<double>(set.size());
    return 3 * n * k * k;
}

double Data::least_value(const std::vector<Index>& set) const {
    const auto k = static_cast<Index>(set.size());
    if (!at_hand() || k == 0) return 0;
    const MatrixXd unit = unit_columns(set);
    const VectorXd u = unit.householderQr().solve(y);
    const VectorXd alpha = y - unit * u;
    const double size = alpha.norm(), blur = unit_for(k) * (y.norm() + u.lpNorm<1>());
    const double eps = unit_for(columns.rows() + k), terms = static_cast<double>(k);
    const Eigen::SelfAdjointEigenSolver<MatrixXd> spectrum(unit.transpose() * unit, Eigen::EigenvaluesOnly);
    const double least = spectrum.eigenvalues()[0] - 4 * terms * eps;
    if (!(least > 0) || !(size > blur)) return 0;
    const double within = (unit.transpose() * alpha).norm() + std::sqrt(terms) * (eps * size + blur);
    const double value = 0.5 * (size - blur) * (size - blur) * (1 - eps) - 0.5 * within * within / least * (1 + eps);
    return std::isfinite(value) ? std::max(0.0, value) : 0.0;
}

}  // namespace parsifal
