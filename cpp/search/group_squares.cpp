#include "search/group_squares.hpp"

#include <utility>

#include "bound/tighten.hpp"
#include "search/tree_search.hpp"

namespace parsifal {

namespace {

// A new frame is gathered once this part of the old one's columns is left.
constexpr double worth_gathering = 0.5;

Index count_live(const GroupFrame& frame, const Fixes& fix) {
    Index live = 0;
    for (Index g = 0; g < fix.size(); ++g)
        if (fix[g] >= 0)
            live += frame.groups.start[static_cast<size_t>(g) + 1] - frame.groups.start[static_cast<size_t>(g)];
    return live;
}

}  // namespace

// ---- Frames

Index GroupSquares::room(const Fixes& fix) const { return groups_.k - (fix.array() > 0).count(); }

std::shared_ptr<GroupFrame> GroupSquares::make(std::vector<Index> groups, const VectorXd& s, const VectorXd& w,
                                               const VectorXd& diagonal, bool tightened) const {
    auto frame = std::make_shared<GroupFrame>();
    std::vector<Index> columns;
    frame->groups.k = groups_.k;
    frame->groups.price = groups_.price(groups);
    frame->groups.start.push_back(0);
    for (const Index g : groups) {
        for (Index j = groups_.start[static_cast<size_t>(g)]; j < groups_.start[static_cast<size_t>(g) + 1]; ++j)
            columns.push_back(j);
        frame->groups.start.push_back(static_cast<Index>(columns.size()));
    }
    frame->inner = make_frame(survivors_, std::move(columns), w, diagonal);
    frame->inner->tightened = tightened;
    frame->at_zero = GroupedQuadratic::beta_of_zero(frame->inner->problem(root_));
    frame->columns = std::move(groups);
    frame->s = s;
    return frame;
}

// FrameState has the groups, their weights, and the diagonal on their columns; the reference point is the one that the
// weights give.
std::shared_ptr<GroupFrame> GroupSquares::gather(const FrameState& state) const {
    const VectorXd none = VectorXd::Zero(state.diagonal.size());
    const auto plain = make(state.columns, state.w, none, none, true);
    const VectorXd w = GroupSolver(*this, *plain, Alarm::never()).coefficients(state.w);
    auto frame = make(state.columns, state.w, w, state.diagonal, state.tightened);
    frame->id = state.id;
    return frame;
}

FrameState GroupSquares::save(const GroupFrame& frame) const {
    return {frame.columns, frame.inner->diagonal, frame.s, frame.inner->tightened, frame.id};
}

bool GroupSquares::first_chance(const GroupFrame& frame, Index live) const {
    return !frame.inner->tightened && live < rank_ && live <= tighten_at_most_ && live > 1;
}

bool GroupSquares::worth_narrowing(const GroupFrame& frame, const Fixes& fix) const {
    const Index live = count_live(frame, fix);
    return first_chance(frame, live) ||
           !(static_cast<double>(live) > worth_gathering * static_cast<double>(frame.inner->size()));
}

std::shared_ptr<GroupFrame> GroupSquares::narrow(const GroupFrame& old, const Fixes& fix, const VectorXd& s) const {
    const Index live = count_live(old, fix);
    const bool first = first_chance(old, live);
    const VectorXd all = GroupSolver(*this, old, Alarm::never()).coefficients(s);
    std::vector<Index> groups, kept, columns;
    VectorXd w(live), diagonal(live);
    for (Index g = 0, b = 0; g < old.size(); ++g) {
        if (fix[g] < 0) continue;
        groups.push_back(old.columns[static_cast<size_t>(g)]);
        kept.push_back(g);
        for (Index j = old.groups.start[static_cast<size_t>(g)]; j < old.groups.start[static_cast<size_t>(g) + 1];
             ++j) {
            columns.push_back(old.inner->columns[static_cast<size_t>(j)]);
            w[b] = all[j];
            diagonal[b++] = old.inner->diagonal[j];
        }
    }
    if (first) {
        const MatrixXd gram = root_.gram(columns, columns);
        const VectorXd weight = gram.diagonal().cwiseMax(1e-300).cwiseInverse();
        const VectorXd better = tightening(gram, weight, 25, root_.rounding.unit_for(live), root_.gamma);
        if (weight.dot(better) > weight.dot(diagonal)) diagonal = better;
    }
    if (!(diagonal.array() > 0).any()) diagonal.setZero();
    return make(std::move(groups), s(kept), w, diagonal, old.inner->tightened || first);
}

// ---- Nodes

GroupSolver::GroupSolver(const GroupSquares& model, const GroupFrame& frame, const Alarm& alarm)
    : frame_(frame),
      quadratic_(frame.inner->problem(model.root())),
      problem_{quadratic_, frame.groups.start, frame.groups.price, frame.groups.k, frame.at_zero},
      relaxation_(problem_, alarm),
      sets_(problem_, alarm) {}

void GroupSolver::write_point(std::vector<Index>& index, std::vector<double>& w) const {
    const VectorXd& v = relaxation_.best_v();
    for (Index j = 0; j < v.size(); ++j)
        if (v[j] != 0) {
            index.push_back(frame_.inner->columns[static_cast<size_t>(j)]);
            w.push_back(frame_.inner->coefficient(j, v[j]));
        }
}

Index GroupSolver::fix_columns(Fixes& fix, double bound, double cutoff) {
    const VectorXd& a = relaxation_.best_gains();
    const Index room = problem_.room(fix);
    return fix_groups(a, bound, cutoff, choose_groups(a, fix, room, scratch_), room, fix);
}

VectorXd GroupSolver::coefficients(const VectorXd& s) const {
    GroupPoint point;
    relaxation_.evaluate(s, point);
    return point.v.cwiseProduct(frame_.inner->scale);
}

static_assert(NodeModel<GroupSquares>);

SearchResult search_groups(const Quadratic& root, const Groups& groups, const ConstFix& fix, const ConstVector& s,
                           const ConstVector& diagonal, double objective, const SearchOptions& options,
                           const std::function<bool(const SearchState&)>& poll) {
    const GroupSquares model(root, groups, options.rank, options.tighten_at_most);
    FrameState live;
    std::vector<Index> columns;
    for (Index g = 0; g < groups.size(); ++g) {
        if (fix[g] < 0) continue;
        live.columns.push_back(g);
        for (Index j = groups.start[static_cast<size_t>(g)]; j < groups.start[static_cast<size_t>(g) + 1]; ++j)
            columns.push_back(j);
    }
    live.w = s(live.columns);
    live.diagonal = diagonal(columns);
    live.tightened = (live.diagonal.array() > 0).any();
    const std::vector<Index> twin(static_cast<size_t>(groups.size()), -1);
    return search_tree(model, live, fix(live.columns), twin, objective, options, {.poll = poll});
}

}  // namespace parsifal
