#include "bound/group_relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "bound/box_model.hpp"

namespace parsifal {

namespace {

constexpr int most_steps = 60, line_trials = 12;
constexpr double dropped = 1e-12;  // weights below it are none
// Groups without weight that a Newton step looks at: the best of those with so much of the threshold's gain.
constexpr double looked_at = 0.5;
constexpr size_t most_new = 12;

}  // namespace

GroupRelaxation::GroupRelaxation(const GroupedQuadratic& problem, const Alarm& alarm) : q_(problem), alarm_(alarm) {}

void GroupRelaxation::evaluate(const VectorXd& s, GroupPoint& point) const {
    const Quadratic& columns = q_.columns;
    point.s = s;
    point.used.clear();
    for (Index g = 0; g < q_.size(); ++g) {
        if (s[g] < dropped) point.s[g] = 0;
        if (point.s[g] == 0) continue;
        for (Index i = 0; i < q_.width(g); ++i) point.used.push_back(q_.first(g) + i);
    }
    const auto m = static_cast<Index>(point.used.size());
    point.root.resize(m);
    for (Index g = 0, b = 0; g < q_.size(); ++g)
        if (point.s[g] > 0)
            for (Index i = 0; i < q_.width(g); ++i) point.root[b++] = std::sqrt(columns.gamma * point.s[g]);
    point.v = VectorXd::Zero(columns.size());
    bool solved = true;
    if (m > 0) {
        VectorXd inner = point.root.cwiseProduct(VectorXd(q_.at_zero(point.used)));
        // A ridge too weak for double precision: v = 0 is a dual point too, and the value one that no step improves on.
        solved = factorise(point);
        if (solved) {
            solve_cholesky(point.factor(), inner);
            solved = inner.allFinite();
        }
        if (solved) point.v(point.used) = point.root.cwiseProduct(inner);
    }
    columns.gradient(point.v, point.beta);
    q_.gains(point.beta, point.a);
    point.value = solved ? columns.least_squares(point.v, point.beta) : INFINITY;
    for (Index g = 0; g < q_.size(); ++g)
        if (point.s[g] > 0)
            point.value += point.v.segment(q_.first(g), q_.width(g)).squaredNorm() / (2 * columns.gamma * point.s[g]) +
                           q_.price[g] * point.s[g];
}

// In place, and only what is below the diagonal: at a few hundred columns gathering the whole costs half as much again.
bool GroupRelaxation::factorise(GroupPoint& point) const {
    const Index m = point.root.size();
    if (static_cast<Index>(point.lower.size()) < m * m) point.lower.resize(static_cast<size_t>(m * m));
    Eigen::Map<MatrixXd> system = point.factor();
    for (Index b = 0; b < m; ++b) {
        const double* from = q_.columns.gram.col(point.used[static_cast<size_t>(b)]).data();
        double* to = system.col(b).data();
        for (Index a = b; a < m; ++a) to[a] = from[point.used[static_cast<size_t>(a)]] * point.root[b] * point.root[a];
        to[b] += 1;
    }
    return cholesky(system);
}

// The start within the node's box and budget; where it leaves most of the budget unused, the groups of steepest descent
// get some of it.
VectorXd GroupRelaxation::feasible(const ConstVector& start) {
    VectorXd s = VectorXd::Zero(q_.size());
    double total = 0;
    Index open = 0;
    for (Index g = 0; g < q_.size(); ++g) {
        if (fix_[g] > 0) s[g] = 1;
        if (fix_[g] != 0) continue;
        ++open;
        if (room_ > 0) total += s[g] = std::clamp(start[g], 0.0, 1.0);
    }
    const auto budget = static_cast<double>(std::min(room_, open));
    if (total > budget)
        for (Index g = 0; g < q_.size(); ++g)
            if (fix_[g] == 0) s[g] *= budget / total;
    if (room_ == 0 || total >= 0.5 * budget) return s;
    evaluate(s, trial_);
    std::vector<Index> order;
    for (Index g = 0; g < q_.size(); ++g)
        if (fix_[g] == 0 && s[g] < 0.5 && trial_.a[g] > 0) order.push_back(g);
    const size_t count = std::min(order.size(), static_cast<size_t>(2 * room_));
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [&](Index g, Index h) { return trial_.a[g] != trial_.a[h] ? trial_.a[g] > trial_.a[h] : g < h; });
    for (size_t i = 0; i < count; ++i)
        s[order[i]] = std::min(1.0, s[order[i]] + (budget - total) / static_cast<double>(count));
    return s;
}

void GroupRelaxation::raise_bound() {
    beta_ = at_.beta;
    SafeDual dual = safe_dual(q_, fix_, at_.v, beta_, scratch_);
    if (!(dual.bound > result_.bound)) return;
    result_.bound = dual.bound;
    best_ = std::move(dual);
    best_v_ = at_.v;
}

bool GroupRelaxation::finished(const Aim& aim) {
    raise_bound();
    result_.primal = at_.value;
    if (result_.bound > aim.cutoff) {
        result_.stop = Stop::cutoff;
        return true;
    }
    if (aim.reached(result_.primal, result_.bound)) {
        result_.stop = Stop::converged;
        return true;
    }
    return result_.solves >= aim.max_solves || alarm_.rings();
}

RelaxationResult GroupRelaxation::solve(const ConstFix& fix, const ConstVector& start, const Aim& aim) {
    result_ = {};
    fix_ = fix;
    room_ = std::max<Index>(q_.room(fix_), 0);
    best_v_ = VectorXd::Zero(q_.columns.size());
    best_.a = VectorXd::Constant(q_.size(), INFINITY);
    evaluate(feasible(start), at_);
    result_.solves = 1;
    const bool movable = room_ > 0 && (fix_.array() == 0).any();
    for (int step = 1; !finished(aim) && movable && step < most_steps; ++step) {
        const bool far = result_.primal - result_.bound > 0.05 * std::abs(result_.primal);
        if (far && step <= 6) majorise();
        if (!newton()) {
            raise_bound();
            result_.primal = at_.value;
            break;
        }
    }
    return result_;
}

// min over s of sum_g |v_g|^2 / (2 gamma s_g) + price_g s_g on the budget, by bisection on the budget's multiplier:
// s_g = |v_g| / sqrt(2 gamma (price_g + mu)), capped at 1.
bool GroupRelaxation::majorise() {
    VectorXd size = VectorXd::Zero(q_.size());
    double largest = 0;
    for (Index g = 0; g < q_.size(); ++g)
        if (fix_[g] == 0 && at_.s[g] > 0) {
            size[g] = at_.v.segment(q_.first(g), q_.width(g)).norm();
            largest = std::max(largest, size[g]);
        }
    if (!(largest > 0)) return false;
    const double gamma = q_.columns.gamma, budget = static_cast<double>(room_);
    VectorXd s = at_.s;
    auto fill = [&](double mu) {
        double total = 0;
        for (Index g = 0; g < q_.size(); ++g) {
            if (fix_[g] != 0) continue;
            const double least = std::sqrt(2 * gamma * (q_.price[g] + mu));
            s[g] = size[g] == 0 ? 0.0 : size[g] >= least ? 1.0 : size[g] / least;
            total += s[g];
        }
        return total;
    };
    if (fill(0) > budget) {
        double low = 0, high = largest * largest * static_cast<double>(q_.size() * q_.size()) / (2 * gamma);
        for (int i = 0; i < 60; ++i) {
            // Over many decades first.
            const double mu = low > 0 ? std::sqrt(low * high) : high * 1e-8;
            (fill(mu) > budget ? low : high) = mu;
            if (low == 0 && high < 1e-300) break;
            if (high - low < 1e-10 * high) break;
        }
        fill(high);
    }
    evaluate(s, trial_);
    ++result_.solves;
    if (!(trial_.value < at_.value)) return false;
    std::swap(at_, trial_);
    return true;
}

std::vector<Index> GroupRelaxation::worth_moving() const {
    std::vector<double> gains;
    std::vector<Index> groups, others;
    for (Index g = 0; g < q_.size(); ++g)
        if (fix_[g] == 0) gains.push_back(at_.a[g]);
    const size_t place = std::min(static_cast<size_t>(room_), gains.size()) - 1;
    std::nth_element(gains.begin(), gains.begin() + static_cast<std::ptrdiff_t>(place), gains.end(), std::greater<>());
    const double least = looked_at * std::max(0.0, gains[place]);
    for (Index g = 0; g < q_.size(); ++g) {
        if (fix_[g] != 0) continue;
        if (at_.s[g] > 0)
            groups.push_back(g);
        else if (at_.a[g] >= least)
            others.push_back(g);
    }
    if (others.size() > most_new) {
        std::nth_element(others.begin(), others.begin() + most_new, others.end(),
                         [&](Index g, Index h) { return at_.a[g] != at_.a[h] ? at_.a[g] > at_.a[h] : g < h; });
        others.resize(most_new);
    }
    groups.insert(groups.end(), others.begin(), others.end());
    std::sort(groups.begin(), groups.end());
    return groups;
}

const MatrixXd& GroupRelaxation::hessian(const std::vector<Index>& groups) {
    const Quadratic& columns = q_.columns;
    const auto w = static_cast<Index>(groups.size()), used = static_cast<Index>(at_.used.size());
    products_.resize(columns.size(), w);  // G B
    for (Index b = 0; b < w; ++b) {
        const Index g = groups[static_cast<size_t>(b)];
        products_.col(b).noalias() =
            columns.gram.middleCols(q_.first(g), q_.width(g)) * at_.beta.segment(q_.first(g), q_.width(g));
    }
    hessian_.resize(w, w);
    for (Index b = 0; b < w; ++b) {
        const Index g = groups[static_cast<size_t>(b)];
        hessian_.row(b).noalias() =
            at_.beta.segment(q_.first(g), q_.width(g)).transpose() * products_.middleRows(q_.first(g), q_.width(g));
    }
    if (used > 0) {
        for (Index b = 0; b < w; ++b)
            for (Index a = 0; a < used; ++a)
                // In place: row a is not after the row that it comes from.
                products_(a, b) = at_.root[a] * products_(at_.used[static_cast<size_t>(a)], b);
        auto inner = products_.topRows(used);
        solve_lower(at_.factor(), inner);
        subtract_square(inner, hessian_);
    }
    hessian_ *= columns.gamma * columns.gamma;
    hessian_.triangularView<Eigen::StrictlyUpper>() = hessian_.transpose();
    return hessian_;
}

// To the minimum of the quadratic model, or part of the way; false where that leads nowhere.
bool GroupRelaxation::newton() {
    const std::vector<Index> groups = worth_moving();
    if (groups.empty() || !std::isfinite(at_.value)) return false;
    const VectorXd x = at_.s(groups), slope = -at_.a(groups);
    const VectorXd direction = minimise_model(hessian(groups), slope, x, static_cast<double>(room_)) - x;
    const double descent = slope.dot(direction);
    if (!(descent < 0)) return false;
    double t = 1;
    for (int trial = 0; trial < line_trials; ++trial, t *= 0.5) {
        VectorXd s = at_.s;
        s(groups) = (x + t * direction).cwiseMax(0.0).cwiseMin(1.0);
        evaluate(s, trial_);
        ++result_.solves;
        if (trial_.value <= at_.value + 1e-4 * t * descent) {
            std::swap(at_, trial_);
            return true;
        }
        if (alarm_.rings()) return false;
    }
    return false;
}

}  // namespace parsifal
