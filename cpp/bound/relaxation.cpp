#include "bound/relaxation.hpp"

#include <algorithm>
#include <cmath>

#include "base/dense.hpp"

namespace parsifal {

namespace {

constexpr signed char kind_z = 0, kind_t = 1, kind_a = 2;  // A = fixed in, or U

// The proximal weight, relative to a column's squared norm. Heavy and slow to shrink: a tiny one is the plain
// active-set method, whose steps are cut short again and again, or cycle, when the ridge is weak (docs/decisions.md).
// Only a start that is all but solved wants a light one: the weight is this many times its relative gap.
constexpr double delta_cold = 0.2, delta_per_gap = 10, delta_warm = 1e-7, delta_min = 1e-11, delta_max = 10;
// Shrink per move of the centre, where the split has settled, and growth after short steps.
constexpr double delta_shrink = 0.6, delta_settled = 0.2, delta_grow = 10;
// The inner problem counts as solved when its residual is this small beside the move it makes.
constexpr double inexact = 0.5;
constexpr double short_step = 0.25;
// The part of the largest coefficient by which a coefficient may be on the wrong side of zero: rounding.
constexpr double wrong_side = 1e-9;

}  // namespace

Relaxation::Relaxation(const Quadratic& problem, const Alarm& alarm)
    : q_(problem), alarm_(alarm), priced_(problem.rules && !problem.rules->uniform) {
    const Index m = q_.size();
    for (VectorXd* x : {&v_, &beta_, &centre_, &delta_, &sigma_, &magnitude_, &s_, &prox_, &step_, &beta_step_,
                        &trial_v_, &trial_beta_, &best_v_, &best_beta_, &ties_})
        x->setZero(m);
    zero_.setZero(m);
    kind_.assign(static_cast<size_t>(m), kind_z);
}

double Relaxation::dual_value(const VectorXd& v, const VectorXd& beta) {
    const DualChoice choice = choose(beta, fix_, q_, scratch_);
    return q_.least_squares(v, beta) + v.dot(beta) - choice.taken;
}

double Relaxation::safe_bound(const VectorXd& v, VectorXd& beta) {
    q_.gradient(v, beta);
    const double squares = q_.least_squares(v, beta), fit = v.dot(beta), error = q_.allow_for_rounding(v, beta);
    const DualChoice choice = choose(beta, fix_, q_, scratch_);
    if (q_.rounding.norm.size() == 0) return squares + fit - choice.taken;
    const double parts = std::abs(squares) + std::abs(fit) + std::abs(choice.taken);
    return squares + fit - choice.taken - error - rounding_of_sums(beta, fix_, q_, parts);
}

// The threshold for the magnitudes of the free columns; with prices of their own its mu, and 1 / tau_j in thetas_.
double Relaxation::find_threshold(const VectorXd& sigma, double start, bool& cardinality) {
    if (priced_) {
        const PricedThreshold t = solve_priced_threshold(magnitude_, sigma, q_, room_, start, thetas_);
        cardinality = t.cardinality;
        return t.mu;
    }
    const Threshold t = solve_threshold(magnitude_, sigma, q_, room_, start);
    cardinality = t.cardinality;
    return t.theta;
}

template <bool ruled>
double Relaxation::primal_value_by() {
    double value = q_.least_squares(v_, beta_);
    for (Index j = 0; j < q_.size(); ++j) {
        magnitude_[j] = fix_[j] == 0 ? reach<ruled>(j, v_[j]) : 0.0;
        if (fix_[j] > 0) value += v_[j] * v_[j] / (2 * q_.gamma) + price<ruled>(j);
        if (fix_[j] < 0 && v_[j] != 0) value = INFINITY;
    }
    if (ruled && q_.rules->any_sign) {
        const double least = wrong_side * v_.cwiseAbs().maxCoeff();
        for (Index j = 0; j < q_.size(); ++j)
            if (std::abs(v_[j]) > least && reach<ruled>(j, v_[j]) == 0) value = INFINITY;
    }
    bool cardinality = false;
    const double theta = find_threshold(zero_, last_theta_, cardinality);
    for (Index j = 0; j < q_.size(); ++j) {
        if (fix_[j] > 0) {
            s_[j] = 1;
            continue;
        }
        s_[j] = fraction(magnitude_[j], 0, q_.gamma, theta_of<ruled>(j, theta));
        if (s_[j] > 0) value += v_[j] * v_[j] / (2 * q_.gamma * s_[j]) + price<ruled>(j) * s_[j];
        // No room for a nonzero free column: not a point of the relaxation.
        if (s_[j] == 0 && magnitude_[j] > 0) return INFINITY;
    }
    return value;
}

// The smooth concave dual of the proximal subproblem at (v, beta); leaves the prox point, s and the split behind.
template <bool ruled>
double Relaxation::smooth_dual_by(const VectorXd& v, const VectorXd& beta, double& theta) {
    const Index m = q_.size();
    prox_ = centre_ + sigma_.cwiseProduct(beta);
    for (Index j = 0; j < m; ++j) magnitude_[j] = fix_[j] == 0 ? reach<ruled>(j, prox_[j]) : 0.0;
    theta = find_threshold(sigma_, theta, cardinality_);
    double taken = 0;
    for (Index j = 0; j < m; ++j) {
        const double s = fix_[j] > 0   ? 1
                         : fix_[j] < 0 ? 0
                                       : fraction(magnitude_[j], sigma_[j], q_.gamma, theta_of<ruled>(j, theta));
        kind_[static_cast<size_t>(j)] = s <= 0 ? kind_z : s >= 1 ? kind_a : kind_t;
        // In, but held at zero by its sign: it costs its price.
        const bool held = ruled && fix_[j] > 0 && reach<ruled>(j, prox_[j]) == 0;
        if (held) {
            kind_[static_cast<size_t>(j)] = kind_z;
            taken -= price<ruled>(j);
        }
        if (s <= 0 || held) {
            prox_[j] = 0;
            ties_[j] = 0;
            continue;
        }
        const double z = prox_[j];
        ties_[j] = s < 1 ? (z > 0 ? 1.0 : -1.0) : 0.0;
        prox_[j] = z * (q_.gamma * s / (q_.gamma * s + sigma_[j]));
        taken += 0.5 * z * prox_[j] * delta_[j] - price<ruled>(j) * s;
    }
    const double squares = q_.least_squares(v, beta), fit = v.dot(beta);
    rounding_ = 1e-14 * (std::abs(squares) + std::abs(fit) + std::abs(taken));
    return squares + fit - taken;
}

// The system of the present split, (G + D) dv = beta - D v + delta centre - tau q on the active columns, in two
// right-hand sides: without tau, and its factor q.
void Relaxation::gather_system() {
    const double inverse_gamma = 1 / q_.gamma;
    const auto size = static_cast<Index>(active_.size());
    hessian_.resize(size, size);
    rhs_.resize(size, 2);
    for (Index b = 0; b < size; ++b) {
        const Index j = active_[static_cast<size_t>(b)];
        const double* column = q_.gram.col(j).data();
        for (Index a = b; a < size; ++a) hessian_(a, b) = column[active_[static_cast<size_t>(a)]];
        const double weight = delta_[j] + (kind_[static_cast<size_t>(j)] == kind_a ? inverse_gamma : 0.0);
        hessian_(b, b) += weight;
        rhs_(b, 0) = beta_[j] + beta_step_[j] - weight * v_[j] + delta_[j] * centre_[j];
        rhs_(b, 1) = ties_[j];
        if (priced_ && ties_[j] != 0) {
            // tau_j at the present mu, and how it changes with mu.
            rhs_(b, 0) -= ties_[j] / thetas_[j];
            rhs_(b, 1) = ties_[j] * thetas_[j] * inverse_gamma;
        }
    }
}

// What multiplies the second right-hand side: tau, from sum s = room or from lambda. With prices of their own the step
// of mu, from sum s = room to first order, s_j = |prox_j| / (gamma tau_j) at the present one.
double Relaxation::level_step(double full) {
    const auto size = static_cast<Index>(active_.size());
    if (!cardinality_) return priced_ ? 0.0 : 1 / theta_;
    double pull = 0, give = priced_ ? 0.0 : q_.gamma * (static_cast<double>(room_) - full);
    for (Index b = 0; b < size; ++b) {
        const Index j = active_[static_cast<size_t>(b)];
        if (priced_) {
            if (ties_[j] == 0) continue;
            const double theta = thetas_[j];
            pull += ties_[j] * theta * (v_[j] + rhs_(b, 0) - prox_[j]);
            give += ties_[j] * theta * rhs_(b, 1) + std::abs(prox_[j]) * theta * theta * theta / q_.gamma;
        } else {
            pull += ties_[j] * (v_[j] + rhs_(b, 0));
            give += ties_[j] * rhs_(b, 1);
        }
    }
    if (give > 0) return pull / give;
    return priced_ ? 0.0 : 1 / theta_;
}

bool Relaxation::solve_system() {
    if (!cholesky(hessian_, alarm_)) return false;
    solve_cholesky(hessian_, rhs_);
    return true;
}

// The solution for the present split, as a step from v, with tau from sum s = room or from lambda.
bool Relaxation::newton_direction() {
    const Index m = q_.size();
    active_.clear();
    step_.setZero();
    beta_step_.setZero();
    double full = 0;
    for (Index j = 0; j < m; ++j) {
        const auto kind = kind_[static_cast<size_t>(j)];
        if (kind == kind_z) {
            if (v_[j] != 0) {
                step_[j] = -v_[j];
                beta_step_.noalias() += v_[j] * q_.gram.col(j);
            }
            continue;
        }
        active_.push_back(j);
        if (kind == kind_a && fix_[j] == 0) full += 1;
    }
    const auto size = static_cast<Index>(active_.size());
    if (size == 0) return true;
    gather_system();
    if (!solve_system()) return false;
    const double tau = level_step(full);
    for (Index b = 0; b < size; ++b) {
        const Index j = active_[static_cast<size_t>(b)];
        const double step = rhs_(b, 0) - (ties_[j] != 0 || rhs_(b, 1) != 0 ? tau * rhs_(b, 1) : 0.0);
        step_[j] = step;
        if (step != 0) beta_step_.noalias() -= step * q_.gram.col(j);
    }
    return step_.allFinite();
}

// The best dual point so far, or a better one between it and the present iterate. Newton's iterates are primal in
// nature: their own dual values are poor long before the end, while a part of the way towards them is often enough to
// prune.
void Relaxation::raise_bound(double cutoff) {
    if (result_.bound == -INFINITY) {
        result_.bound = dual_value(v_, beta_);
        best_v_ = v_;
        best_beta_ = beta_;
        return;
    }
    step_ = v_ - best_v_;
    beta_step_ = beta_ - best_beta_;
    const Along along = best_along(q_, fix_, best_v_, best_beta_, step_, beta_step_, cutoff, pairs_);
    if (!(along.value > result_.bound)) return;
    result_.bound = along.value;
    best_v_ += along.t * step_;
    best_beta_ += along.t * beta_step_;
}

void Relaxation::set_weight(double weight) {
    weight_ = std::clamp(weight, delta_min, delta_max);
    delta_ = weight_ * (q_.gram.diagonal().array() + 1 / q_.gamma);
    sigma_ = delta_.cwiseInverse();
    centre_ = v_;
    previous_kind_.clear();
}

bool Relaxation::smoothen() {
    if (weight_ >= delta_max) return false;
    set_weight(weight_ * delta_grow);
    accepted_ = 0;
    return true;
}

double Relaxation::weighted_distance(const VectorXd& a, const VectorXd& b) const {
    return std::sqrt((a - b).cwiseAbs2().dot(delta_));
}

void Relaxation::begin(const ConstFix& fix, const ConstVector& start, const VectorXd* anchor) {
    result_ = {};
    fix_ = fix;
    room_ = std::max<Index>(q_.room(fix_), 0);
    // A column that has just been fixed out keeps its coefficient for now: any v is a dual point, and so the bound
    // starts where the parent's ended. The first step takes it out.
    if (anchor) {
        best_v_ = *anchor;
        q_.gradient(best_v_, best_beta_);
        result_.bound = dual_value(best_v_, best_beta_);
    }
    v_ = start;
    q_.gradient(v_, beta_);
    theta_ = last_theta_;
    accepted_ = 0;
    short_steps_ = 0;
    const double primal = primal_value(), gap = primal - dual_value(v_, beta_);
    set_weight(std::isfinite(primal) ? std::clamp(delta_per_gap * gap / std::abs(primal), delta_warm, delta_cold)
                                     : delta_cold);
}

// Bound and value of the present iterate, and whether they suffice.
bool Relaxation::finished(const Aim& aim) {
    raise_bound(aim.cutoff);
    result_.primal = primal_value();
    result_.theta = theta_;
    if (result_.bound > aim.cutoff && safe_bound(best_v_, safe_beta_) > aim.cutoff) {
        result_.stop = Stop::cutoff;
        return true;
    }
    if (aim.reached(result_.primal, result_.bound)) {
        result_.stop = Stop::converged;
        return true;
    }
    return result_.solves >= aim.max_solves || alarm_.rings();
}

// Solved (the split survived a full step), or nearly so in the sense of an inexact proximal-point method.
bool Relaxation::subproblem_solved() const {
    if (accepted_ == 1 && kind_ == previous_kind_) return true;
    return accepted_ > 0 && weighted_distance(v_, prox_) <= inexact * weighted_distance(prox_, centre_);
}

void Relaxation::move_centre() {
    const bool settled = accepted_ == 1 && kind_ == previous_kind_ && kind_ == centre_kind_;
    trial_v_ = prox_;
    centre_kind_ = kind_;
    set_weight(weight_ * (settled ? delta_settled : delta_shrink));
    centre_ = trial_v_;
}

// The longest step along the direction that raises the smooth dual enough above `value`; 0 if there is none. Leaves the
// point in trial_v_ and trial_beta_.
double Relaxation::line_search(double value) {
    const double slope = (v_ - prox_).dot(beta_step_), blur = rounding_;
    for (double t = 1; t >= 1e-4; t *= 0.5) {
        trial_v_ = v_ + t * step_;
        trial_beta_ = beta_ + t * beta_step_;
        double trial_theta = theta_;
        const double trial = smooth_dual(trial_v_, trial_beta_, trial_theta);
        if (trial >= value + 1e-4 * t * slope - blur - rounding_) return t;
    }
    return 0;
}

// One linear system and what it leads to; false if there is nothing more to be had.
bool Relaxation::step() {
    double value = smooth_dual(v_, beta_, theta_);
    if (subproblem_solved()) {
        move_centre();
        value = smooth_dual(v_, beta_, theta_);
    }
    previous_kind_ = kind_;
    const bool found = newton_direction();
    ++result_.solves;
    if (!found) return smoothen();
    const double t = line_search(value);
    // The subproblem is too nearly nonsmooth for this step.
    if (t == 0) return smoothen();
    accepted_ = t;
    v_.swap(trial_v_);
    beta_.swap(trial_beta_);
    // Steps that stay short say the same.
    short_steps_ = t < short_step ? short_steps_ + 1 : 0;
    if (short_steps_ >= 2) {
        set_weight(weight_ * delta_grow);
        short_steps_ = 0;
    }
    return true;
}

RelaxationResult Relaxation::solve(const ConstFix& fix, const ConstVector& start, const Aim& aim,
                                   const VectorXd* anchor) {
    begin(fix, start, anchor);
    while (!finished(aim) && step()) {
    }
    // The bound that is reported belongs to a beta computed afresh, not to one that many steps have been added to.
    result_.bound = safe_bound(best_v_, best_beta_);
    if (result_.stop == Stop::cutoff && !(result_.bound > aim.cutoff)) result_.stop = Stop::stalled;
    last_theta_ = theta_;
    return result_;
}

}  // namespace parsifal
