// The relaxation of a node of groups: min over s in [0, 1]^m, sum s <= room, of
//
//   c(s) + price's,    c(s) = min over v of LS(v) + sum_g |v_g|^2 / (2 gamma s_g).
//
// Newton steps on s. Given s the solution is one linear system, v_g = gamma s_g beta_g, and with it the gradient of c,
// -gamma/2 |beta_g|^2, and its Hessian, gamma^2 B'(G - G R (I + R G R)^-1 R G) B with R^2 = gamma s and B the beta_g
// side by side: all on the few columns of groups with s > 0. The quadratic model over the box and the budget is solved
// by an active set (bound/box_model.hpp). Far from the solution, where c looks like 1/s, Newton steps are too short;
// there majorise-minimise steps (s_g in proportion to |v_g|, capped at 1) go faster. Every v is a dual point; the best
// bound is kept.
#pragma once

#include <vector>

#include "base/alarm.hpp"
#include "bound/aim.hpp"
#include "bound/groups.hpp"

namespace parsifal {

// c(s) and all that comes with it.
struct GroupPoint {
    VectorXd s;
    std::vector<Index> used;    // columns of groups with s > 0
    VectorXd root;              // R on these
    std::vector<double> lower;  // memory of the factor; it only grows
    VectorXd v, beta, a;        // on all columns; a_g of every group
    double value = INFINITY;

    // L of I + R G R = L L', on and below the diagonal.
    Eigen::Map<MatrixXd> factor() { return {lower.data(), root.size(), root.size()}; }
    Eigen::Map<const MatrixXd> factor() const { return {lower.data(), root.size(), root.size()}; }
};

class GroupRelaxation {
  public:
    explicit GroupRelaxation(const GroupedQuadratic& problem, const Alarm& alarm = Alarm::never());

    // Starts from the weights `start`, made feasible first. When the alarm rings it stops where it is.
    RelaxationResult solve(const ConstFix& fix, const ConstVector& start, const Aim& aim);

    const VectorXd& s() const { return at_.s; }                 // the last weights
    const VectorXd& best_v() const { return best_v_; }          // columns' coefficients of the best bound
    const VectorXd& best_gains() const { return best_.a; }      // its a_g, none below its exact value
    void evaluate(const VectorXd& s, GroupPoint& point) const;  // for any s in [0, 1]

  private:
    VectorXd feasible(const ConstVector& start);
    void raise_bound();
    bool finished(const Aim& aim);
    bool majorise();
    bool newton();
    bool factorise(GroupPoint& point) const;
    std::vector<Index> worth_moving() const;
    const MatrixXd& hessian(const std::vector<Index>& groups);

    const GroupedQuadratic& q_;
    const Alarm& alarm_;
    Fixes fix_;
    Index room_ = 0;
    GroupPoint at_, trial_;
    MatrixXd products_, hessian_;
    VectorXd best_v_, beta_;
    SafeDual best_;
    RelaxationResult result_;
    std::vector<double> scratch_;
};

}  // namespace parsifal
