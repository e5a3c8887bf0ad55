// The relaxation of a node: min over v of LS(v) + 1/(2 gamma) |v_in|^2 + lambda |in| + Omega(v_free).
//
// Its solution splits the free columns in three: U with |beta_j| > tau (s = 1), Z with |beta_j| < tau (s = 0, v = 0)
// and the ties T with |beta_j| = tau. Given the split the solution is one linear system (design: "the dual, which is
// everything"). The method is a semismooth Newton method on the proximal-point subproblem
//
//   min_v  LS(v) + Omega(v) + sum_j delta_j/2 (v_j - centre_j)^2
//
// whose dual is smooth and concave: each Newton step is exactly one active-set step with delta on the diagonal, a
// line search on the dual makes it globally convergent, and tiny delta makes it the plain active-set method where
// that one works. Every iterate gives a valid lower bound D(v); the best is kept.
//
// Columns may have a sign: then v_j stays on its side of zero, and |z_j| is what z_j reaches there
// (ColumnRules::reach). With prices of their own they have thresholds of their own, tau_j = sqrt(2 (price_j + mu) /
// gamma), and the step is one in mu in place of tau.
#pragma once

#include <vector>

#include "base/alarm.hpp"
#include "bound/aim.hpp"
#include "bound/dual.hpp"
#include "bound/quadratic.hpp"
#include "bound/threshold.hpp"

namespace parsifal {

// Keeps its workspace between calls, so that a tree search allocates nothing at a node.
class Relaxation {
  public:
    explicit Relaxation(const Quadratic& problem, const Alarm& alarm = Alarm::never());

    // Starts from `start` (zero: cold start). When the alarm rings it stops where it is: what has been found holds all
    // the same. `anchor` is another dual point, best a good one: the bound is taken from the segments between it and
    // the iterates.
    RelaxationResult solve(const ConstFix& fix, const ConstVector& start, const Aim& aim,
                           const VectorXd* anchor = nullptr);

    const VectorXd& v() const { return v_; }                  // last iterate: primal point
    const VectorXd& beta() const { return beta_; }            // its beta
    const VectorXd& best_v() const { return best_v_; }        // iterate of the best bound
    const VectorXd& best_beta() const { return best_beta_; }  // its beta, lengthened by its rounding errors
    const VectorXd& s() const { return s_; }                  // fractional indicator of the last iterate

  private:
    double primal_value() { return q_.rules ? primal_value_by<true>() : primal_value_by<false>(); }
    // The loops over all columns, for columns with rules and without: the latter pay nothing for the former.
    template <bool ruled>
    double primal_value_by();
    template <bool ruled>
    double smooth_dual_by(const VectorXd& v, const VectorXd& beta, double& theta);
    template <bool ruled>
    double reach(Index j, double z) const {
        if constexpr (ruled)
            return q_.rules->reach(j, z);
        else
            return std::abs(z);
    }
    template <bool ruled>
    double price(Index j) const {
        if constexpr (ruled)
            return q_.rules->price_of(j);
        else
            return q_.lambda;
    }
    template <bool ruled>
    double theta_of(Index j, double theta) const {
        if constexpr (ruled)
            return priced_ ? thetas_[j] : theta;
        else
            return theta;
    }
    double safe_bound(const VectorXd& v, VectorXd& beta);  // the dual value less all that rounding can be worth
    void raise_bound(double cutoff);
    double dual_value(const VectorXd& v, const VectorXd& beta);

    // The parts of `solve`: the start, whether to stop, and a step in four parts.
    void begin(const ConstFix& fix, const ConstVector& start, const VectorXd* anchor);
    bool finished(const Aim& aim);
    bool step();
    double smooth_dual(const VectorXd& v, const VectorXd& beta, double& theta) {
        return q_.rules ? smooth_dual_by<true>(v, beta, theta) : smooth_dual_by<false>(v, beta, theta);
    }
    bool subproblem_solved() const;
    void move_centre();
    bool newton_direction();
    double find_threshold(const VectorXd& sigma, double start, bool& cardinality);
    double level_step(double full);
    void gather_system();
    bool solve_system();
    double line_search(double value);

    void set_weight(double weight);  // the proximal weight; the centre moves to v
    bool smoothen();                 // a heavier weight, without moving; false where there is none
    double weighted_distance(const VectorXd& a, const VectorXd& b) const;

    const Quadratic& q_;
    const Alarm& alarm_;
    const bool priced_;  // whether columns have prices of their own
    Index room_ = 0;
    VectorXd thetas_;  // where they have: 1 / tau_j of the last threshold, with theta_ in the role of mu
    VectorXd v_, beta_, centre_, delta_, sigma_, magnitude_, s_, prox_, step_, beta_step_, trial_v_, trial_beta_;
    VectorXd best_v_, best_beta_, safe_beta_, zero_, ties_;
    Fixes fix_;
    std::vector<Index> active_;
    std::vector<signed char> kind_, previous_kind_, centre_kind_;
    MatrixXd hessian_, rhs_;
    std::vector<double> scratch_;
    std::vector<std::pair<double, double>> pairs_;
    double rounding_ = 0;  // of the last smooth_dual

    double last_theta_ = 0;  // of the solve before, where the search for a threshold starts

    // Of the present solve.
    RelaxationResult result_;
    double theta_ = 0, weight_ = 0;
    bool cardinality_ = false;  // whether sum s = room determined theta_
    double accepted_ = 0;       // length of the last step, 0 after a change of the weight
    int short_steps_ = 0;
};

}  // namespace parsifal
