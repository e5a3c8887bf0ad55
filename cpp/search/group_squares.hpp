// Groups of columns, as the tree search takes them (model.hpp): the columns that it decides about are groups, and a
// node's point is the weight s of every group, from which the coefficients of the columns follow.
#pragma once

#include <memory>
#include <vector>

#include "bound/group_relaxation.hpp"
#include "bound/group_sets.hpp"
#include "search/frame.hpp"
#include "search/model.hpp"
#include "search/search.hpp"

namespace parsifal {

// The groups at the root: where their columns are in its problem, what they cost, and how many may be chosen.
struct Groups {
    std::vector<Index> start;
    VectorXd price;
    Index k;

    Index size() const { return price.size(); }
};

struct GroupFrame : FrameBase {
    std::shared_ptr<Frame> inner;  // on the groups' columns
    Groups groups;                 // those of the frame, in its columns
    VectorXd s;                    // the weights that it was gathered around
    VectorXd at_zero;              // beta of no coefficients, once for all solvers of the frame

    std::int64_t bytes() const {
        return inner->bytes() + 24 * static_cast<std::int64_t>(columns.size()) + 8 * at_zero.size();
    }
    const VectorXd& start() const { return s; }
};

class GroupSquares;

class GroupSolver {
  public:
    GroupSolver(const GroupSquares& model, const GroupFrame& frame, const Alarm& alarm);
    GroupSolver(const GroupSolver&) = delete;
    GroupSolver& operator=(const GroupSolver&) = delete;

    RelaxationResult relax(const Fixes& fix, const VectorXd& start, const Aim& aim) {
        return relaxation_.solve(fix, start, aim);
    }
    RelaxationResult relax_on(const Fixes& fix, const Aim& aim) {
        return relaxation_.solve(fix, VectorXd(relaxation_.s()), aim);
    }
    const VectorXd& v() const { return relaxation_.s(); }
    const VectorXd& s() const { return relaxation_.s(); }
    void write_point(std::vector<Index>& index, std::vector<double>& w) const;
    Index fix_columns(Fixes& fix, double bound, double cutoff);
    double value_of(const std::vector<Index>& support) { return sets_.value_of(support); }
    double improve(const Fixes& fix, std::vector<Index>& support, int max_moves) {
        return sets_.improve(fix, support, max_moves);
    }
    void focus(const Fixes&, const VectorXd&) {}
    void unfocus() {}

    // The coefficients that belong to weights, in the root's units.
    VectorXd coefficients(const VectorXd& s) const;

  private:
    const GroupFrame& frame_;
    const Quadratic quadratic_;
    const GroupedQuadratic problem_;
    GroupRelaxation relaxation_;
    GroupSets sets_;
    std::vector<double> scratch_;
};

class GroupSquares {
  public:
    using Frame = GroupFrame;
    using Solver = GroupSolver;

    // `rank` and `tighten_at_most` count columns, as in LeastSquares.
    GroupSquares(const Quadratic& root, const Groups& groups, Index rank, Index tighten_at_most)
        : root_(root), groups_(groups), rank_(rank), tighten_at_most_(tighten_at_most) {}

    const Quadratic& root() const { return root_; }
    Index size() const { return groups_.size(); }
    Index room(const Fixes& fix) const;
    std::shared_ptr<GroupFrame> gather(const FrameState& state) const;
    FrameState save(const GroupFrame& frame) const;
    FrameRecord record(const GroupFrame& frame) const { return {frame.columns, frame.inner->diagonal}; }
    bool worth_narrowing(const GroupFrame& frame, const Fixes& fix) const;
    std::shared_ptr<GroupFrame> narrow(const GroupFrame& frame, const Fixes& fix, const VectorXd& s) const;

  private:
    bool first_chance(const GroupFrame& frame, Index live) const;
    std::shared_ptr<GroupFrame> make(std::vector<Index> groups, const VectorXd& s, const VectorXd& w,
                                     const VectorXd& diagonal, bool tightened) const;

    const Quadratic& root_;
    const GramSurvivors survivors_{root_};
    const Groups& groups_;
    Index rank_, tighten_at_most_;
};

// As `search` in search.hpp. `fix` and `s`, the root's weights, have an entry a group, `diagonal` one a column.
SearchResult search_groups(const Quadratic& root, const Groups& groups, const ConstFix& fix, const ConstVector& s,
                           const ConstVector& diagonal, double objective, const SearchOptions& options,
                           const std::function<bool(const SearchState&)>& poll);

}  // namespace parsifal
