// Downhill walks by additions, removals and swaps, for many starts: what prices all moves is updated from move to move,
// in single precision, so that a move costs k m operations where LocalSearch takes k^2 m. Where a walk ends,
// LocalSearch has the last word.
//
// With C = (G_SS + I/gamma)^-1, w = C r_S, Q = G_:S C, beta = r - G_:S w and h_j = 1/gamma + G_jj - Q_j: G_Sj, all
// moves are priced as in swap.hpp, and
//   dropping i:  beta += Q_i w_i / C_ii,  h += Q_i^2 / C_ii,  Q_l -= Q_i C_il / C_ii
//   adding j:    z = G_:j - Q G_Sj,  beta -= z beta_j / h_j,  h -= z^2 / h_j,  Q_l -= z Q_jl / h_j,  and z / h_j
//   follows Q
// Columns in the support, or fixed out, have h = infinity: no move takes them.
#pragma once

#include <vector>

#include "base/alarm.hpp"
#include "bound/survivors.hpp"

namespace parsifal {

class Walk {
  public:
    // For problems without rules of columns.
    explicit Walk(const Survivors& problem);

    // Goes downhill from `support` until no move helps, as far as single precision tells; returns about the value of
    // the support that it ends with; infinite where the alarm leaves no time for it.
    double descend(const ConstFix& fix, std::vector<Index>& support, int max_moves, const Alarm& alarm);

    double work() const { return work_; }  // columns times places, of all moves so far

  private:
    struct Move {
        double change = 0;
        Index leave = -1, enter = -1;  // a place in the support, and a column
    };

    bool begin(const ConstFix& fix, const std::vector<Index>& support, const Alarm& alarm);  // false: it rang
    void add(Index j);
    void drop(Index place);
    double best_gain(Index place);  // of a column that enters once this one has left; leaves all gains in gain_
    Move best_move(const ConstFix& fix);
    Index strongest(double gain) const;

    const Survivors& q_;
    const double origin_value_;  // of the empty support
    const Eigen::ArrayXf squares_, r_, least_;
    Eigen::ArrayXf beta_, h_, gain_, z_;
    Eigen::ArrayXXf columns_;  // Q
    MatrixXd inverse_;         // C
    VectorXd w_;
    std::vector<Index> support_;
    double value_ = 0, work_ = 0;
};

}  // namespace parsifal
