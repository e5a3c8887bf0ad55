// Least squares with a ridge, as the tree search takes it (model.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "bound/completions.hpp"
#include "bound/relaxation.hpp"
#include "bound/swap.hpp"
#include "search/frame.hpp"
#include "search/model.hpp"
#include "search/priced.hpp"

namespace parsifal {

class LeastSquares;

class LeastSquaresSolver {
  public:
    LeastSquaresSolver(const LeastSquares& model, const Frame& frame, const Alarm& alarm);
    LeastSquaresSolver(const LeastSquaresSolver&) = delete;
    LeastSquaresSolver& operator=(const LeastSquaresSolver&) = delete;

    RelaxationResult relax(const Fixes& fix, const VectorXd& start, const Aim& aim);
    RelaxationResult relax_on(const Fixes& fix, const Aim& aim);
    const VectorXd& v() const { return priced_ ? priced_->v() : relaxation_.v(); }
    const VectorXd& s() const { return priced_ ? priced_->s() : relaxation_.s(); }
    void write_point(std::vector<Index>& index, std::vector<double>& w) const;
    Index fix_columns(Fixes& fix, double bound, double cutoff);

    double value_of(const std::vector<Index>& support) {
        return priced_ ? priced_->value_of(support) : heuristic().value_of(support);
    }
    double improve(const Fixes& fix, std::vector<Index>& support, int max_moves) {
        return priced_ ? priced_->improve(fix, support, max_moves) : heuristic().improve(fix, support, max_moves);
    }

    // With side constraints: an allowed support near the last relaxation in place of one that is not, and the free
    // columns of the constraints that a support breaks.
    void mend(const Fixes& fix, std::vector<Index>& support);
    std::vector<Index> broken(const Fixes& fix, const std::vector<Index>& support) const {
        return frame_.rules ? frame_.rules->rows.broken(support, fix) : std::vector<Index>();
    }

    bool relaxes() const { return std::isfinite(quadratic_.gamma); }
    Completions::Answer complete(const Fixes& fix, double objective, const Gap& gap, double work);

    // In a wide frame the children are solved on the few columns near the threshold first, and those that turn out to
    // be missing; what comes out is a start for the solve on all columns, which mostly has nothing left to do.
    void focus(const Fixes& fix, const VectorXd& v);
    void unfocus();

  private:
    struct Focus {
        std::vector<Index> columns;
        VectorXd v, beta;  // the node's point, on all columns of the frame
        double ls = 0;
        MatrixXd gram;
        VectorXd v0, beta0;
        std::unique_ptr<Quadratic> quadratic;
        std::unique_ptr<Relaxation> relaxation;
    };

    LocalSearch& heuristic();
    void gather_focus();
    VectorXd focused_start(const Fixes& fix, const VectorXd& start, Aim aim, int& solves);

    const LeastSquares& model_;
    const Frame& frame_;
    const Alarm& alarm_;
    const Quadratic quadratic_;
    const GramSurvivors survivors_{quadratic_};
    Relaxation relaxation_;
    std::unique_ptr<PricedSolver> priced_;  // does all of it for a frame without a Gram matrix
    std::unique_ptr<LocalSearch> heuristic_;
    std::unique_ptr<Completions> completions_;
    std::unique_ptr<Focus> focus_;
    std::vector<double> scratch_;
    std::vector<std::pair<double, double>> pairs_;
};

class LeastSquares {
  public:
    using Frame = parsifal::Frame;
    using Solver = LeastSquaresSolver;

    // `rank` = min(n, p) of the data: tightening can help only below it, and is tried on so many columns at most.
    // `twin` as in `search`.
    LeastSquares(const Survivors& root, Index rank, Index tighten_at_most, const std::vector<Index>& twin,
                 const Data& data)
        : root_(root),
          rank_(rank),
          tighten_at_most_(tighten_at_most),
          twin_(twin),
          data_(data),
          copies_(std::any_of(twin.begin(), twin.end(), [](Index j) { return j >= 0; })) {}

    const Survivors& root() const { return root_; }
    Index size() const { return root_.size(); }
    // All columns, where walks over them are cheap beside a node; else null.
    const Survivors* walked() const { return root_.rules || root_.size() > most_walked ? nullptr : &root_; }
    Index room(const Fixes& fix) const { return root_.room(fix); }
    // Fixes what side constraints imply; false if they allow nothing that agrees with the fixes.
    bool propagate(const Frame& frame, Fixes& fix) const { return !frame.rules || frame.rules->rows.propagate(fix); }
    std::shared_ptr<Frame> gather(const FrameState& state) const;
    FrameState save(const Frame& frame) const;
    FrameRecord record(const Frame& frame) const { return {frame.columns, frame.diagonal}; }
    // Made when it is first asked for; TimeUp if the alarm rings before.
    const CorrelationTable& correlations(const Alarm& alarm) const;
    const Data& data() const { return data_; }
    const std::vector<Index>& twin() const { return twin_; }
    bool worth_narrowing(const Frame& frame, const Fixes& fix) const;
    std::shared_ptr<Frame> narrow(const Frame& frame, const Fixes& fix, const VectorXd& v) const;

    // Of two columns that are all but equal and both not out, one that is free: as long as it is, sets with both are in
    // the way of the node's completions, which inner products hardly tell. -1: none.
    Index first_branch(const Frame& frame, const Fixes& fix) const;

    // Without a ridge there is a relaxation where no column that is not out depends on others. One that does and is
    // free, to be decided first; `none` where there is none, `too_many` where deciding them leads nowhere.
    static constexpr Index none = -1, too_many = -2;
    Index dependent(const Frame& frame, const Fixes& fix) const;
    // Whether a column is in the span of the others that are in: then no support with all of them counts.
    bool repeats(const Frame& frame, const Fixes& fix, Index position) const;

  private:
    static constexpr Index most_walked = 5000;

    // All products of columns that are held, around zero.
    struct Products {
        Products(const Terms& terms, MatrixXd all, Surroundings here);
        MatrixXd gram;
        VectorXd zero, beta;
        Quadratic quadratic;
    };

    bool can_tighten(const Frame& frame, Index live) const;
    VectorXd weights(const Frame& old, const Fixes& fix, const VectorXd& v, const VectorXd& squares) const;
    const std::vector<std::pair<Index, Index>>& near_twins() const;
    void gather_products() const;

    const Survivors& root_;
    Index rank_, tighten_at_most_;
    const std::vector<Index>& twin_;
    const Data data_;
    bool copies_;
    mutable std::once_flag sorted_, paired_;
    mutable std::vector<std::pair<Index, Index>> near_twins_;
    mutable std::unique_ptr<Products> products_;
    mutable std::unique_ptr<CorrelationTable> correlations_;
};

static_assert(NodeModel<LeastSquares> && CompletingSolver<LeastSquaresSolver>);

}  // namespace parsifal
