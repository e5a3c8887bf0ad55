#include "bound/swap.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "base/cholesky.hpp"

namespace parsifal {

LocalSearch::LocalSearch(const Survivors& problem, const Alarm& alarm)
    : q_(problem), alarm_(alarm), squares_(problem.squares()), r_(problem.origin()) {
    inside_.assign(static_cast<size_t>(q_.size()), 0);
}

// Ridge coefficients of the support, from its own small system.
void LocalSearch::fit(const std::vector<Index>& support) {
    const auto k = static_cast<Index>(support.size());
    const MatrixXd plain = q_.among(support);
    MatrixXd system = plain;
    system.diagonal().array() += 1 / q_.gamma;
    // A column of zeros has no scale, and without a ridge nothing else to divide by.
    if (!std::isfinite(q_.gamma)) system.diagonal() = system.diagonal().cwiseMax(1e-300);
    // Equilibrated, so that columns of any scale count alike. A column that repeats another to the last bit can still
    // make the system lose definiteness where 1/gamma is below rounding; a nudge of that size changes no comparison.
    const VectorXd inverse_norm = system.diagonal().cwiseSqrt().cwiseInverse();
    system = inverse_norm.asDiagonal() * system * inverse_norm.asDiagonal();
    system.diagonal().array() += std::isfinite(q_.gamma) ? 1e-15 : 1e-13;
    const Eigen::LLT<MatrixXd> factor(system);
    inverse_ = factor.solve(MatrixXd(inverse_norm.asDiagonal()));
    inverse_ = inverse_norm.asDiagonal() * inverse_;
    const VectorXd r_s = r_(support);
    w_ = inverse_ * r_s;
    // One step of refinement against the system as it is.
    if (k > 0) w_ += inverse_ * (r_s - w_ / q_.gamma - plain * w_);
}

// Without a ridge a column of which nothing is left beside the others has nothing to add but rounding.
bool LocalSearch::adds(Index j, double left) const { return std::isfinite(q_.gamma) || left > 1e-10 * squares_[j]; }

double LocalSearch::value_of(const std::vector<Index>& support) {
    fit(support);
    return q_.least_squares(support, w_) + w_.squaredNorm() / (2 * q_.gamma) +
           q_.lambda * static_cast<double>(support.size());
}

// What the prices of moves need: the fit, beta, Q and h over all columns.
bool LocalSearch::refresh(const std::vector<Index>& support) {
    const auto k = static_cast<Index>(support.size());
    fit(support);
    std::fill(inside_.begin(), inside_.end(), 0);
    gram_s_.resize(q_.size(), k);
    for (Index a = 0; a < k; ++a) {
        const Index j = support[static_cast<size_t>(a)];
        inside_[static_cast<size_t>(j)] = 1;
        gram_s_.col(a) = Eigen::Map<const VectorXd>(q_.column(j).get(), q_.size());
    }
    // In blocks of rows, for with thousands of columns in the support this is seconds' work.
    q_columns_.resize(q_.size(), k);
    const Index block = std::max<Index>(64, (Index{1} << 28) / std::max<Index>(1, k * k));
    for (Index row = 0; row < q_.size(); row += block) {
        if (row > 0 && alarm_.rings()) return false;
        const Index rows = std::min(block, q_.size() - row);
        q_columns_.middleRows(row, rows).noalias() = gram_s_.middleRows(row, rows) * inverse_;
    }
    beta_ = r_;
    h_ = squares_.array() + 1 / q_.gamma;
    if (k > 0) {
        beta_.noalias() -= gram_s_ * w_;
        h_ -= q_columns_.cwiseProduct(gram_s_).rowwise().sum();
    }
    h_ = h_.cwiseMax(1 / q_.gamma);
    return true;
}

void LocalSearch::greedy(const ConstFix& fix, std::vector<Index>& support) {
    while (static_cast<Index>(support.size()) < std::min(q_.k, q_.size()) && !alarm_.rings()) {
        if (!refresh(support)) return;
        double best = q_.lambda;
        Index choice = -1;
        for (Index j = 0; j < q_.size(); ++j) {
            if (inside_[static_cast<size_t>(j)] || fix[j] < 0) continue;
            const double gain = beta_[j] * beta_[j] / (2 * h_[j]);
            if (gain > best && adds(j, h_[j])) {
                best = gain;
                choice = j;
            }
        }
        if (choice < 0) return;
        support.push_back(choice);
    }
}

double LocalSearch::restarts(const ConstFix& fix, const ConstVector& s, int count, std::vector<Index>& best) {
    std::vector<Index> forced, pool;
    for (Index j = 0; j < q_.size(); ++j) {
        if (fix[j] > 0) forced.push_back(j);
        if (fix[j] == 0 && s[j] > 0) pool.push_back(j);
    }
    size_t draw = std::min(pool.size(), static_cast<size_t>(std::max<Index>(0, q_.k)) -
                                            std::min(static_cast<size_t>(q_.k), forced.size()));
    best = forced;
    std::mt19937_64 random(20170917);
    double best_value = INFINITY, total = 0;
    int hits = 0;
    for (const Index j : pool) total += s[j];
    // As many as the relaxation takes in all: with a penalty, k says little about the size of a good support.
    draw = std::min(draw, static_cast<size_t>(std::lround(total)) + 1);
    std::vector<std::pair<double, Index>> keys(pool.size());
    for (int start = 0; start < count && !(start > 0 && alarm_.rings()); ++start) {
        // The smallest of -log(u) / weight are a sample without replacement.
        for (size_t a = 0; a < pool.size(); ++a) {
            const double u = (static_cast<double>(random() >> 11) + 0.5) * 0x1.0p-53;
            keys[a] = {-std::log(u) / (start % 2 == 0 ? s[pool[a]] : 1.0), pool[a]};
        }
        std::partial_sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(draw), keys.end());
        std::vector<Index> support = forced;
        for (size_t a = 0; a < draw; ++a) support.push_back(keys[a].second);
        std::sort(support.begin(), support.end());
        const double value = improve(fix, support, 100);
        const double same = 1e-9 * std::abs(value);
        if (value < best_value - same) {
            best_value = value;
            best = support;
            hits = 0;
        }
        // Ending in one place again and again is what the best place looks like.
        if (value <= best_value + same && ++hits >= 6) break;
    }
    return best_value;
}

double LocalSearch::improve(const ConstFix& fix, std::vector<Index>& support, int max_moves) {
    const Index m = q_.size();
    for (int move = 0; move < max_moves && !alarm_.rings(); ++move) {
        if (!refresh(support)) break;
        const auto k = static_cast<Index>(support.size());
        const double scale = w_.squaredNorm() / q_.gamma + q_.level();
        double best = -1e-11 * scale;
        Index leave = -1, enter = -1;
        if (k < q_.k)
            for (Index j = 0; j < m; ++j) {
                if (inside_[static_cast<size_t>(j)] || fix[j] < 0) continue;
                const double change = q_.lambda - beta_[j] * beta_[j] / (2 * h_[j]);
                if (change < best && adds(j, h_[j])) {
                    best = change;
                    enter = j;
                }
            }
        for (Index a = 0; a < k; ++a) {
            if (fix[support[static_cast<size_t>(a)]] > 0) continue;
            const double c = inverse_(a, a), cost = w_[a] * w_[a] / (2 * c), shift = w_[a] / c;
            if (cost - q_.lambda < best) {
                best = cost - q_.lambda;
                leave = a;
                enter = -1;
            }
            for (Index j = 0; j < m; ++j) {
                if (inside_[static_cast<size_t>(j)] || fix[j] < 0) continue;
                const double q = q_columns_(j, a), b = beta_[j] + shift * q;
                const double change = cost - b * b / (2 * (h_[j] + q * q / c));
                if (change < best && adds(j, h_[j] + q * q / c)) {
                    best = change;
                    leave = a;
                    enter = j;
                }
            }
        }
        if (leave < 0 && enter < 0) break;
        if (leave >= 0 && enter >= 0) {
            support[static_cast<size_t>(leave)] = enter;
        } else if (leave >= 0) {
            support.erase(support.begin() + leave);
        } else {
            support.push_back(enter);
        }
    }
    if (static_cast<Index>(support.size()) > large_system && alarm_.rings()) return INFINITY;
    return value_of(support);
}

}  // namespace parsifal
