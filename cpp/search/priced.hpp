// Nodes of a frame whose columns have no Gram matrix: each is solved on a working set, the columns near the threshold,
// and priced over all columns of the frame by beta = X'alpha, which gives the bound and the columns that are missing.
//
// Most columns are far below the threshold. A coarse look at them (read/coarse_columns.hpp) gives an upper bound on
// |beta_j|, and where that stays below the threshold it will do: such a column is not among the largest, so the dual
// value is the same.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/alarm.hpp"
#include "bound/dual.hpp"
#include "bound/held_columns.hpp"
#include "bound/relaxation.hpp"
#include "bound/swap.hpp"

namespace parsifal {

class PricedSolver {
  public:
    // `columns` are the frame's, positions among the held ones; both have to outlive this.
    PricedSolver(const HeldColumns& held, const std::vector<Index>& columns, const Alarm& alarm);

    RelaxationResult relax(const Fixes& fix, const VectorXd& start, const Aim& aim);
    const VectorXd& v() const { return v_; }
    const VectorXd& s() const { return s_; }
    const VectorXd& best_v() const { return best_.v; }
    Index fix_columns(Fixes& fix, double bound, double cutoff);

    double value_of(const std::vector<Index>& support);
    double improve(const Fixes& fix, std::vector<Index>& support, int max_moves);

    // Chooses the working set that the next relaxations start with; without it each chooses its own.
    void focus(const Fixes& fix, const VectorXd& v);
    void unfocus() { focused_ = false; }

  private:
    // A dual point over the frame's columns: beta is lengthened by its rounding errors, and where it is not known an
    // upper bound; the true |beta_j| is not below that by more than 2 error_j.
    struct Point {
        VectorXd v, alpha, beta, error;
        std::vector<char> known;
    };

    struct WorkingSet {
        std::vector<Index> columns;  // positions in the frame, ascending
        VectorXd v0, beta0;
        double ls = 0;
        std::vector<double> gram;  // kept from one set to the next: large blocks that come and go leave holes
        std::unique_ptr<Quadratic> quadratic;
        std::unique_ptr<Relaxation> relaxation;
    };

    Index size() const { return static_cast<Index>(columns_.size()); }
    std::vector<Index> held(std::span<const Index> positions) const;
    VectorXd residual(const VectorXd& v) const;
    void compute(Point& point, std::span<const Index> positions) const;
    // Some at a time where they have to be read; those that the alarm leaves no time for keep their upper bounds.
    void compute_in_time(Point& point, std::span<const Index> positions) const;
    // The point of these coefficients, with beta on the columns `first`; then on all those that can reach `least`.
    void begin(Point& point, const std::vector<Index>& first) const;
    void price(Point& point, double least);
    double threshold(const Point& point, const std::vector<Index>& positions, const Fixes& fix);
    double bound_of(const Point& point, const Fixes& fix);
    void gather(std::vector<Index> columns, const Point& around);
    std::vector<Index> missing(const Point& point, const Fixes& fix, double tau) const;
    void spread(const VectorXd& from, VectorXd& to) const;  // from the working set to the frame

    const HeldColumns& held_;
    const std::vector<Index>& columns_;
    const Terms terms_;  // on the frame's columns
    const Alarm& alarm_;
    const VectorXd norm_;
    const double y_norm_;

    WorkingSet work_;
    bool focused_ = false;
    Point point_, best_;
    VectorXd v_, s_;
    std::vector<double> scratch_;
    mutable std::vector<double> products_;
    std::vector<CoarseColumns::Look> looks_;
    std::unique_ptr<LocalSearch> local_;  // over all held columns
    double polished_ = INFINITY;          // the best value that a local search over all columns has begun with
};

}  // namespace parsifal
