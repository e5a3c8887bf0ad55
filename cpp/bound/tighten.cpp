#include "bound/tighten.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace parsifal {

namespace {

// Beyond so many columns a diagonal is the same for all of them (of unit norm); a part of the ridge that is worth it.
constexpr Index most_in_detail = 500;
constexpr double least_share = 0.5;
constexpr int inverse_steps = 20;

// Whether the exact Gram matrix - diag(d) + 2 m unit is positive semidefinite, for columns of unit norm: the entries'
// errors make a matrix of norm m unit at most, part of which is left for those of the factorisation (Rump's test).
bool positive(const MatrixXd& gram, const VectorXd& d, double unit, const Alarm& alarm) {
    MatrixXd a = gram;
    a.diagonal() -= d;
    a.diagonal().array() += static_cast<double>(d.size()) * unit;
    return cholesky(a, alarm);
}

// What is left of G for the columns in `keep` once the others' part is taken out: G_KK - G_KB G_BB^+ G_BK.
MatrixXd schur_complement(const MatrixXd& gram, const std::vector<Index>& keep, const std::vector<Index>& other) {
    const MatrixXd block = gram(other, other), cross = gram(other, keep);
    const auto [values, vectors] = spectrum(block);
    MatrixXd projected(block.rows(), cross.cols());
    multiply_transposed(vectors, cross, projected);
    MatrixXd result = gram(keep, keep);
    for (Index e = 0; e < block.rows(); ++e)
        if (values[e] > 1e-8) result.noalias() -= projected.row(e).transpose() * projected.row(e) / values[e];
    return result;
}

// The least eigenvalue of L L', from above, by inverse iteration: near enough to begin with.
double near_least_eigenvalue(const MatrixXd& factor) {
    const Index m = factor.rows();
    VectorXd u(m), w;
    // Whatever has a part in every direction.
    for (Index j = 0; j < m; ++j) u[j] = 1 + std::fmod(0.618033988749895 * static_cast<double>(j), 1.0);
    double largest = 0;
    for (int step = 0; step < inverse_steps; ++step) {
        u /= u.norm();
        w = u;
        solve_cholesky(factor, w);
        largest = u.dot(w);
        u = w;
    }
    return largest > 0 && std::isfinite(largest) ? 1 / largest : 0;
}

// For many columns: the same d for all, which takes two factorisations.
VectorXd even_diagonal(const MatrixXd& gram, double unit, double least, const Alarm& alarm) {
    const Index m = gram.rows();
    MatrixXd factor = gram;
    // What columns that depend on each other, or nearly, have to give is not worth finding out here.
    if (!cholesky(factor, alarm)) return VectorXd::Zero(m);
    const double even = near_least_eigenvalue(factor);
    for (double t = 0.985; t > 0.5 && t * even > least; t *= 0.93) {
        if (alarm.rings()) break;
        const VectorXd d = VectorXd::Constant(m, t * even);
        if (positive(gram, d, unit, alarm)) return d;
    }
    return VectorXd::Zero(m);
}

// Maximises c'd over d >= 0, G - diag(d) >= 0 for a G of unit scale: Newton's method on the barrier
// c'd / mu + log det(G - diag(d)) + sum log d. `start` is such a d, or zero.
VectorXd barrier_method(const MatrixXd& gram, const VectorXd& c, const VectorXd& start, int max_newton,
                        const Alarm& alarm) {
    const Index m = gram.rows();
    MatrixXd factor = gram, inverse = MatrixXd::Identity(m, m), hessian;
    if (!cholesky(factor)) return VectorXd::Zero(m);
    solve_cholesky(factor, inverse);
    // G is at least e_j e_j' / (G^-1)_jj for every j, and hence at least the mean of these.
    const VectorXd single = inverse.diagonal().cwiseInverse();
    if (!(single.minCoeff() > 1e-9)) return VectorXd::Zero(m);
    VectorXd d = 0.5 / static_cast<double>(m) * single, trial(m);
    auto factorise = [&](const VectorXd& at) {
        factor = gram;
        factor.diagonal() -= at;
        return cholesky(factor);
    };
    auto barrier = [&](const VectorXd& at, double mu) {
        return c.dot(at) / mu + 2 * factor.diagonal().array().log().sum() + at.array().log().sum();
    };
    double mu = 1e-2;
    trial = 0.9 * start + 0.1 * d;
    if (c.dot(trial) > c.dot(d) && factorise(trial)) {
        d = trial;
        mu = 0.25 * c.dot(d) / static_cast<double>(m);
    } else if (!factorise(d)) {
        return VectorXd::Zero(m);
    }
    for (int newton = 0; newton < max_newton && !alarm.rings(); ++newton) {
        const double value = barrier(d, mu);
        inverse.setIdentity();
        solve_cholesky(factor, inverse);
        hessian = inverse.cwiseAbs2();
        hessian.diagonal().array() += d.array().square().inverse();
        const VectorXd gradient = c / mu - inverse.diagonal() + d.cwiseInverse();
        VectorXd step = gradient;
        cholesky(hessian);
        solve_cholesky(hessian, step);
        const double slope = gradient.dot(step);
        bool moved = false;
        if (step.allFinite())
            for (double t = 1; t > 1e-6 && !moved; t *= 0.5) {
                trial = d + t * step;
                moved = trial.minCoeff() > 0 && factorise(trial) && barrier(trial, mu) >= value + 1e-4 * t * slope;
            }
        if (moved) {
            d = trial;
        } else if (!factorise(d)) {
            break;
        }
        // The barrier costs at most 2 m mu of the optimum.
        if (!moved || slope < 1.0) {
            if (2 * mu * static_cast<double>(m) < 1e-2 * c.dot(d)) break;
            mu *= 0.1;
        }
    }
    return d;
}

}  // namespace

// u'(G - diag(d))u >= 0 for a null vector u forces d = 0 on its support.
Dependencies dependencies(const MatrixXd& gram) {
    Dependencies found{std::vector<bool>(static_cast<size_t>(gram.rows()), false)};
    // Mostly there are none, which a factorisation says at a fraction of the price.
    MatrixXd less = gram;
    less.diagonal().array() -= 1e-8;
    if (cholesky(less)) return found;
    const auto [values, vectors] = spectrum(gram);
    for (; found.count < gram.rows() && values[found.count] < 1e-8; ++found.count)
        for (Index j = 0; j < gram.rows(); ++j)
            if (std::abs(vectors(j, found.count)) > 1e-8) found.involved[static_cast<size_t>(j)] = true;
    return found;
}

VectorXd tightening(const ConstMatrix& original, const ConstVector& weight, int max_newton, double unit, double gamma,
                    const Alarm& alarm, const VectorXd* start) {
    const Index m = original.rows();
    VectorXd d = VectorXd::Zero(m);
    // Columns to unit diagonal: nothing here should see the user's units. A zero column has nothing to give.
    std::vector<Index> nonzero;
    for (Index j = 0; j < m; ++j)
        if (original(j, j) > 0) nonzero.push_back(j);
    if (nonzero.empty()) return d;
    const VectorXd squared = original.diagonal()(nonzero);
    const VectorXd inverse_norm = squared.cwiseSqrt().cwiseInverse();
    const MatrixXd gram = inverse_norm.asDiagonal() * original(nonzero, nonzero) * inverse_norm.asDiagonal();
    const double taken = 2 * static_cast<double>(gram.rows()) * unit;
    if (max_newton == 0 || gram.rows() > most_in_detail) {
        // Beside a strong ridge it would be nothing.
        const double least = std::max(8 * taken, least_share / (gamma * squared.maxCoeff()));
        const VectorXd even = even_diagonal(gram, unit, least, alarm);
        if (even[0] > 0) d(nonzero) = (even.array() - taken) * squared.array();
        return d;
    }

    const std::vector<bool> mark = dependencies(gram).involved;
    std::vector<Index> keep, other;
    for (Index a = 0; a < gram.rows(); ++a) (mark[static_cast<size_t>(a)] ? other : keep).push_back(a);
    if (keep.empty()) return d;
    const MatrixXd rest = other.empty() ? gram : schur_complement(gram, keep, other);
    VectorXd c(keep.size()), known = VectorXd::Zero(static_cast<Index>(keep.size()));
    for (size_t a = 0; a < keep.size(); ++a) {
        const Index j = keep[a];
        c[static_cast<Index>(a)] = weight[nonzero[static_cast<size_t>(j)]] * squared[j];
        if (start) known[static_cast<Index>(a)] = std::max(0.0, (*start)[nonzero[static_cast<size_t>(j)]] / squared[j]);
    }
    if (!(c.maxCoeff() > 0)) return d;
    c /= c.maxCoeff();
    const VectorXd kept = barrier_method(rest, c, known, max_newton, alarm);

    VectorXd part = VectorXd::Zero(gram.rows());
    // A little less than the barrier found, so that the smallest eigenvalue is above zero beyond doubt (but for columns
    // that depend on each other, where it is zero).
    for (size_t a = 0; a < keep.size(); ++a)
        part[keep[a]] = std::max(0.0, (1 - 1e-6) * kept[static_cast<Index>(a)] - 1e-12);
    // Whatever came out, only a diagonal that a factorisation confirms is used.
    for (double t = 1; t > 0.1; t *= 0.8)
        if (positive(gram, t * part, unit, Alarm::never())) {
            const VectorXd found = (t * part.array() - taken) * squared.array();
            // The ridge must not lose much to the columns that have nothing to give; without one there is none to lose.
            if (gamma * -found.minCoeff() > 0.1) return d;
            d(nonzero) = found;
            return d;
        }
    return d;
}

}  // namespace parsifal
