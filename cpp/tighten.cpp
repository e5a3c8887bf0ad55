#include "tighten.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace parsifal {

namespace {

bool positive(const MatrixXd& gram, const VectorXd& d, double shift) {
    MatrixXd a = gram;
    a.diagonal() += -d + VectorXd::Constant(d.size(), shift);
    return Eigen::LLT<MatrixXd>(a).info() == Eigen::Success;
}

}  // namespace

VectorXd tightening(const ConstMatrix& original, const ConstVector& weight, int max_newton) {
    const Index m = original.rows();
    VectorXd none = VectorXd::Zero(m);
    if (m == 0) return none;
    // Columns to unit diagonal: the barrier then does not see the user's units.
    VectorXd scale(m);
    for (Index j = 0; j < m; ++j) {
        if (!(original(j, j) > 0)) return none;
        scale[j] = std::sqrt(original(j, j));
    }
    MatrixXd gram = original;
    gram.array().colwise() /= scale.array();
    gram.array().rowwise() /= scale.transpose().array();
    VectorXd c = weight.cwiseProduct(scale.cwiseAbs2());
    const double largest = c.maxCoeff();
    if (!(largest > 0)) return none;
    c /= largest;

    // G + ridge I - diag(d): the ridge makes a start inside possible for a singular G and is taken off at the end.
    const double ridge = 1e-9;
    gram.diagonal().array() += ridge;
    VectorXd d = VectorXd::Zero(m), trial(m);
    Eigen::LLT<MatrixXd> factor;
    MatrixXd a(m, m), inverse(m, m), hessian(m, m);
    auto factorise = [&](const VectorXd& at) {
        a = gram;
        a.diagonal() -= at;
        factor.compute(a);
        return factor.info() == Eigen::Success;
    };
    auto barrier = [&](const VectorXd& at, double mu) {
        return c.dot(at) / mu + 2 * factor.matrixLLT().diagonal().array().log().sum();
    };
    if (!factorise(d)) return none;
    double mu = 1.0;
    for (int newton = 0; newton < max_newton; ++newton) {
        const double value = barrier(d, mu);
        inverse = factor.solve(MatrixXd::Identity(m, m));
        hessian = inverse.cwiseAbs2();
        const VectorXd gradient = c / mu - inverse.diagonal();
        hessian.diagonal().array() += 1e-14 * hessian.diagonal().maxCoeff();
        const VectorXd step = hessian.llt().solve(gradient);
        if (!step.allFinite()) break;
        const double slope = gradient.dot(step);
        double t = 1;
        bool moved = false;
        for (; t > 1e-6; t *= 0.5) {
            trial = d + t * step;
            if (factorise(trial) && barrier(trial, mu) >= value + 1e-4 * t * slope) {
                moved = true;
                break;
            }
        }
        if (!moved) {
            factorise(d);
            if (mu < 1e-6) break;
            mu *= 0.2;
            continue;
        }
        d = trial;
        if (slope < 1.0) {
            if (mu * static_cast<double>(m) < 1e-4 * std::max(c.dot(d), 1e-12)) break;
            mu *= 0.1;
        }
    }
    gram.diagonal().array() -= ridge;
    d = (d.array() - 2 * ridge).cwiseMax(0.0);
    // Whatever the barrier gave, only a verified diagonal is used.
    const double rounding = 1e-14 * static_cast<double>(m);
    for (double t = 1; t > 0.01; t *= 0.9) {
        if (positive(gram, t * d, rounding)) return (t * d).cwiseProduct(scale.cwiseAbs2());
    }
    return none;
}

}  // namespace parsifal
