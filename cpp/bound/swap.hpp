// Primal heuristics on the reduced problem: forward greedy and local search by single additions, removals and swaps.
//
// With S the support, C = (G_SS + I/gamma)^-1, w = C r_S, Q = G_:S C and h_j = 1/gamma + G_jj - Q_j: G_Sj:
//   dropping i costs            w_i^2 / (2 C_ii)
//   adding j gains              beta_j^2 / (2 h_j)
//   swapping i for j changes    w_i^2 / (2 C_ii) - (beta_j + Q_ji w_i / C_ii)^2 / (2 (h_j + Q_ji^2 / C_ii))
// so all k m swaps are priced in O(k^2 m). With signs these are the prices without them, but for the column that
// enters, and columns that their sign holds at zero count as absent; such a move is taken only if the fit that follows
// agrees.
#pragma once

#include <vector>

#include "base/alarm.hpp"
#include "bound/survivors.hpp"

namespace parsifal {

class LocalSearch {
  public:
    // When the alarm rings, each of these ends with what it has.
    explicit LocalSearch(const Survivors& problem, const Alarm& alarm = Alarm::never());

    // Improves `support` until no single move helps (or max_moves). Columns fixed in stay, columns fixed out stay out.
    // Returns the value LS + ridge + penalty of the support it ends with; infinite where the alarm leaves no time for
    // it.
    double improve(const ConstFix& fix, std::vector<Index>& support, int max_moves);

    // The value of a support as it is (an upper bound to it where its system is singular to rounding); infinite where
    // side constraints do not allow it.
    double value_of(const std::vector<Index>& support);

    // Adds the best column again and again until the support is full or nothing helps.
    void greedy(const ConstFix& fix, std::vector<Index>& support);

    // Makes an allowed support of one that side constraints do not allow, best columns first by `weight`; false:
    // cannot.
    bool mend(const ConstFix& fix, const ConstVector& weight, std::vector<Index>& support) const;

  private:
    struct Move {
        double change;
        Index leave = -1, enter = -1;  // a place in the support, and a column
    };

    void fit(const std::vector<Index>& support);
    void fit_plain(const std::vector<Index>& support);
    void fit_signed(const std::vector<Index>& support);
    double fitted_value(const std::vector<Index>& support) const;
    template <bool ruled>
    Move best_move(const ConstFix& fix, const std::vector<Index>& support) const;
    template <bool ruled>
    double reach(Index j, double b) const {
        if constexpr (ruled)
            return q_.rules->reach(j, b);
        else
            return b;
    }
    bool allowed(const std::vector<Index>& support) const { return !q_.rules || q_.rules->rows.allow(support); }
    bool adds(Index j, double left) const;
    bool refresh(const std::vector<Index>& support);  // false: the alarm rang first

    const Survivors& q_;
    const Alarm& alarm_;
    VectorXd squares_, r_, beta_, h_, w_;
    MatrixXd gram_s_, inverse_, q_columns_;
    std::vector<signed char> inside_;
};

}  // namespace parsifal
