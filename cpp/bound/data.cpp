#include "bound/data.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bound/correlation_table.hpp"

namespace parsifal {

namespace {

// Squares of smaller norms are no longer exact in all their digits.
constexpr double least_norm = 1e-140;

MatrixXd with_unit_columns(MatrixXd matrix) {
    for (Index a = 0; a < matrix.cols(); ++a) matrix.col(a) /= std::max(matrix.col(a).norm(), 1e-300);
    return matrix;
}

}  // namespace

bool Data::dependent(const std::vector<Index>& in, Index j) const {
    if (!at_hand()) return false;
    const double norm = columns.col(j).norm();
    if (!(norm > 0)) return true;
    if (in.empty()) return false;
    const MatrixXd others = with_unit_columns(columns(Eigen::all, in));
    const VectorXd column = columns.col(j) / norm;
    const VectorXd u = least_squares_dependent(others, column);
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
    // The ridge as rows of its own.
    const Index n = columns.rows(), rows = ridge > 0 ? n + k : n;
    MatrixXd unit = MatrixXd::Zero(rows, k);
    unit.topRows(n) = columns(Eigen::all, set);
    if (ridge > 0) unit.bottomRows(k).diagonal().setConstant(std::sqrt(ridge));
    if (!(unit.colwise().norm().minCoeff() > least_norm)) return 0;
    unit = with_unit_columns(std::move(unit));
    VectorXd target = VectorXd::Zero(rows);
    target.head(n) = y;
    const VectorXd u = least_squares(unit, target);
    const VectorXd alpha = target - unit * u;
    const double size = alpha.norm(), blur = unit_for(k) * (target.norm() + u.lpNorm<1>());
    const double eps = unit_for(rows + k), terms = static_cast<double>(k);
    MatrixXd products(k, k);
    multiply_transposed(unit, unit, products);
    const double least = least_eigenvalue(products) - 4 * terms * eps;
    if (!(least > 0) || !(size > blur)) return 0;
    const double within = (unit.transpose() * alpha).norm() + std::sqrt(terms) * (eps * size + blur);
    const double value = 0.5 * (size - blur) * (size - blur) * (1 - eps) - 0.5 * within * within / least * (1 + eps);
    return std::isfinite(value) ? std::max(0.0, value) : 0.0;
}

}  // namespace parsifal
