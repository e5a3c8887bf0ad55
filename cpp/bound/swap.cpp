#include "bound/swap.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/dense.hpp"

namespace parsifal {

LocalSearch::LocalSearch(const Survivors& problem, const Alarm& alarm)
    : q_(problem), alarm_(alarm), squares_(problem.squares()), r_(problem.origin()) {
    inside_.assign(static_cast<size_t>(q_.size()), 0);
}

void LocalSearch::fit(const std::vector<Index>& support) {
    fit_plain(support);
    if (q_.rules && q_.rules->any_sign) fit_signed(support);
}

// With signs, from the fit without: Lawson and Hanson's active-set method. Columns that are held at zero have no part
// in inverse_.
void LocalSearch::fit_signed(const std::vector<Index>& support) {
    const auto k = static_cast<Index>(support.size());
    const ColumnRules& rules = *q_.rules;
    auto wrong = [&](Index a, double value) {
        const signed char own = rules.sign[static_cast<size_t>(support[static_cast<size_t>(a)])];
        return own != 0 && !(own > 0 ? value > 0 : value < 0);
    };
    bool any = false;
    for (Index a = 0; a < k; ++a) any = any || wrong(a, w_[a]);
    if (!any) return;
    const MatrixXd plain = q_.among(support);
    const VectorXd r_s = r_(support);
    std::vector<char> active(static_cast<size_t>(k), 1);
    VectorXd w = VectorXd::Zero(k), z(k);
    MatrixXd inverse(k, k);
    for (Index a = 0; a < k; ++a) active[static_cast<size_t>(a)] = !wrong(a, w_[a]);
    auto solve = [&] {
        std::vector<Index> part, place;
        for (Index a = 0; a < k; ++a)
            if (active[static_cast<size_t>(a)]) {
                part.push_back(support[static_cast<size_t>(a)]);
                place.push_back(a);
            }
        fit_plain(part);
        z.setZero();
        inverse.setZero();
        if (place.empty()) return;
        z(place) = w_;
        inverse(place, place) = inverse_;
    };
    // A start among the feasible points: drop columns until those that are left have the right signs.
    for (bool again = true; again;) {
        solve();
        again = false;
        for (Index a = 0; a < k; ++a)
            if (active[static_cast<size_t>(a)] && wrong(a, z[a])) {
                active[static_cast<size_t>(a)] = 0;
                again = true;
            }
    }
    w = z;
    for (Index step = 0; step < 3 * k + 10; ++step) {
        const VectorXd pull = r_s - plain * w - w / q_.gamma;
        Index enter = -1;
        double most = 1e-12 * r_s.cwiseAbs().maxCoeff();
        for (Index a = 0; a < k; ++a) {
            if (active[static_cast<size_t>(a)]) continue;
            const double own = rules.reach(support[static_cast<size_t>(a)], pull[a]);
            if (own > most) {
                most = own;
                enter = a;
            }
        }
        if (enter < 0) break;
        active[static_cast<size_t>(enter)] = 1;
        for (;;) {
            solve();
            double part = 1;
            for (Index a = 0; a < k; ++a)
                if (active[static_cast<size_t>(a)] && wrong(a, z[a]) && w[a] != z[a])
                    part = std::min(part, std::max(0.0, w[a] / (w[a] - z[a])));
            if (part >= 1) break;
            bool dropped = false;
            for (Index a = 0; a < k; ++a) {
                if (!active[static_cast<size_t>(a)]) continue;
                const bool stops = wrong(a, z[a]) && !(w[a] / (w[a] - z[a]) > part);
                w[a] += part * (z[a] - w[a]);
                if (stops) {
                    w[a] = 0;
                    active[static_cast<size_t>(a)] = 0;
                    dropped = true;
                }
            }
            if (!dropped) break;
        }
        for (Index a = 0; a < k; ++a) w[a] = active[static_cast<size_t>(a)] && !wrong(a, z[a]) ? z[a] : 0.0;
    }
    w_ = w;
    inverse_ = inverse;
}

// Ridge coefficients of the support, from its own small system.
void LocalSearch::fit_plain(const std::vector<Index>& support) {
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
    cholesky(system);
    inverse_ = inverse_norm.asDiagonal();
    solve_cholesky(system, inverse_);
    inverse_ = inverse_norm.asDiagonal() * inverse_;
    const VectorXd r_s = r_(support);
    w_ = inverse_ * r_s;
    // One step of refinement against the system as it is.
    if (k > 0) w_ += inverse_ * (r_s - w_ / q_.gamma - plain * w_);
}

// Without a ridge a column of which nothing is left beside the others has nothing to add but rounding.
bool LocalSearch::adds(Index j, double left) const { return std::isfinite(q_.gamma) || left > 1e-10 * squares_[j]; }

double LocalSearch::fitted_value(const std::vector<Index>& support) const {
    return q_.least_squares(support, w_) + w_.squaredNorm() / (2 * q_.gamma) + q_.price_of(support);
}

double LocalSearch::value_of(const std::vector<Index>& support) {
    if (!allowed(support)) return INFINITY;
    fit(support);
    return fitted_value(support);
}

bool LocalSearch::mend(const ConstFix& fix, const ConstVector& weight, std::vector<Index>& support) const {
    if (allowed(support)) return true;
    std::vector<Index> order;
    for (Index j = 0; j < q_.size(); ++j)
        if (fix[j] == 0 && weight[j] > 0) order.push_back(j);
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return weight[a] > weight[b]; });
    bool found = false;
    std::vector<Index> built = q_.rules->rows.build(fix, order, q_.k, found);
    if (found) support = std::move(built);
    return found;
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
        multiply(gram_s_.middleRows(row, rows), inverse_, q_columns_.middleRows(row, rows));
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
        double best = q_.rules ? 0.0 : q_.lambda;
        Index choice = -1;
        std::vector<std::int64_t> values;
        if (q_.rules) values = q_.rules->rows.values(support);
        for (Index j = 0; j < q_.size(); ++j) {
            if (inside_[static_cast<size_t>(j)] || fix[j] < 0) continue;
            const double b = q_.rules ? q_.rules->reach(j, beta_[j]) : beta_[j];
            const double gain = b * b / (2 * h_[j]) - (q_.rules ? q_.price_of(j) : 0.0);
            if (gain > best && adds(j, h_[j]) && (!q_.rules || q_.rules->rows.allow_move(values, -1, j))) {
                best = gain;
                choice = j;
            }
        }
        if (choice < 0) return;
        support.push_back(choice);
    }
}

// The move that is best by its price; neither leave nor enter: none helps.
template <bool ruled>
LocalSearch::Move LocalSearch::best_move(const ConstFix& fix, const std::vector<Index>& support) const {
    const Index m = q_.size();
    const auto k = static_cast<Index>(support.size());
    const ColumnRules* rules = q_.rules.get();
    auto price = [&](Index j) { return ruled ? rules->price_of(j) : q_.lambda; };
    const double scale = w_.squaredNorm() / q_.gamma + q_.level();
    Move best{-1e-11 * scale};
    std::vector<std::int64_t> values;
    if (ruled) values = rules->rows.values(support);
    if (k < q_.k)
        for (Index j = 0; j < m; ++j) {
            if (inside_[static_cast<size_t>(j)] || fix[j] < 0) continue;
            const double b = reach<ruled>(j, beta_[j]);
            const double change = price(j) - b * b / (2 * h_[j]);
            if (change < best.change && adds(j, h_[j]) && (!ruled || rules->rows.allow_move(values, -1, j)))
                best = {change, -1, j};
        }
    for (Index a = 0; a < k; ++a) {
        const Index i = support[static_cast<size_t>(a)];
        if (fix[i] > 0) continue;
        const double c = inverse_(a, a);
        // A column that its sign holds at zero costs nothing to drop.
        const bool absent = ruled && c == 0;
        const double cost = absent ? 0.0 : w_[a] * w_[a] / (2 * c), shift = absent ? 0.0 : w_[a] / c;
        const double saved = price(i);
        if (cost - saved < best.change && (!ruled || rules->rows.allow_move(values, i, -1)))
            best = {cost - saved, a, -1};
        for (Index j = 0; j < m; ++j) {
            if (inside_[static_cast<size_t>(j)] || fix[j] < 0) continue;
            const double q = q_columns_(j, a), b = reach<ruled>(j, beta_[j] + shift * q);
            const double left = absent ? h_[j] : h_[j] + q * q / c;
            double change = cost - b * b / (2 * left);
            if (ruled) change += price(j) - saved;
            if (change < best.change && adds(j, left) && (!ruled || rules->rows.allow_move(values, i, j)))
                best = {change, a, j};
        }
    }
    return best;
}

double LocalSearch::improve(const ConstFix& fix, std::vector<Index>& support, int max_moves) {
    const bool verify = q_.rules && q_.rules->any_sign;
    if (!allowed(support)) return INFINITY;
    std::vector<Index> before;
    double value = INFINITY;
    for (int move = 0; move < max_moves && !alarm_.rings(); ++move) {
        if (!refresh(support)) break;
        if (verify) {
            const double now = fitted_value(support);
            if (!(now < value)) {
                if (value < INFINITY) support = before;
                break;
            }
            value = now;
            before = support;
        }
        const Move best = q_.rules ? best_move<true>(fix, support) : best_move<false>(fix, support);
        if (best.leave < 0 && best.enter < 0) break;
        if (best.leave >= 0 && best.enter >= 0) {
            support[static_cast<size_t>(best.leave)] = best.enter;
        } else if (best.leave >= 0) {
            support.erase(support.begin() + best.leave);
        } else {
            support.push_back(best.enter);
        }
    }
    if (static_cast<Index>(support.size()) > large_system && alarm_.rings()) return INFINITY;
    return value_of(support);
}

}  // namespace parsifal
