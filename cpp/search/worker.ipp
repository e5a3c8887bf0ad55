// Definitions of worker.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "search/worker.hpp"

namespace parsifal {

namespace worker_detail {

constexpr int most_solves = 400;
// How near to convergence a node that will be branched on is brought, relative to what the cutoff leaves.
constexpr double branch_slack = 0.1;

inline bool fractional(double s) { return s > 1e-9 && s < 1 - 1e-9; }

}  // namespace worker_detail

template <NodeModel Model>
void Worker<Model>::loop() {
    std::vector<NodePtr> children;
    for (;;) {
        NodePtr node = tree_.next(id_, std::move(children), solves_);
        solves_ = 0;
        children.clear();
        if (!node) return;
        if (node->candidates.empty()) {
            children = exhaust(std::move(node));
            continue;
        }
        node = reframe(std::move(node));
        if (node) children = node->candidates.empty() ? exhaust(std::move(node)) : expand(std::move(node));
    }
}

template <NodeModel Model>
void Worker<Model>::enter(const std::shared_ptr<const Frame>& frame) {
    if (frame_ == frame) return;
    solver_.reset();
    frame_ = frame;
    solver_ = std::make_unique<Solver>(tree_.model(), *frame_, tree_.alarm());
}

// Safe fixing by the last relaxation; `entry` gets what is new.
template <NodeModel Model>
Index Worker<Model>::fix_more(Fixes& fix, Record& entry) {
    const Fixes before = fix;
    const Index count = solver_->fix_columns(fix, entry.bound, tree_.cutoff());
    if (count != 0)
        for (Index a = 0; a < fix.size(); ++a)
            if (fix[a] != before[a]) {
                const Index j = frame_->columns[static_cast<size_t>(a)];
                entry.fixed.push_back(fix[a] > 0 ? 1 + j : -1 - j);
            }
    return count;
}

template <NodeModel Model>
auto Worker<Model>::evaluate(const FramePtr& frame, Fixes fix, const VectorXd& start, const Decision& decision,
                             int depth, double parent_bound) -> NodePtr {
    enter(frame);
    if constexpr (CompletingSolver<Solver>)
        if (!solver_->relaxes()) return unrelaxed(frame, std::move(fix), decision, depth, parent_bound);
    const double objective = tree_.objective(), cutoff = tree_.options().gap.cutoff(objective);
    Aim aim{.cutoff = cutoff,
            .tolerance = 0.1 * (objective - cutoff),
            .slack = worker_detail::branch_slack,
            .max_solves = worker_detail::most_solves};
    RelaxationResult r = solver_->relax(fix, start, aim);
    solves_ += r.solves;
    if (r.stop == Stop::converged && integral(fix)) {
        // Nothing to branch on: this node ends here, so its bound has to be exact.
        aim.slack = 0;
        r = solver_->relax_on(fix, aim);
        solves_ += r.solves;
    }
    auto node = std::make_unique<Node<Frame>>();
    node->frame = frame;
    node->depth = depth;
    // A child inherits its parent's bound: the parent's point is a dual point of the child too. In this order a bound
    // that is no number leaves the parent's.
    node->bound = std::max(parent_bound, r.bound);
    Record entry{decision.parent, decision.column, decision.side, frame->id, r.bound, {}, {}, {}};
    Index count = 0;
    if (r.stop != Stop::cutoff) {
        offer_rounding(fix);
        wander(r.bound, r.solves);
        count = fix_more(fix, entry);
        if (count > 0 && !possible(*frame, fix)) count = -1;
        if (count < 0) node->bound = std::max(node->bound, tree_.cutoff());
    }
    node->fix = fix;
    write_record(*node, std::move(entry));
    if (tree_.prunes(node->bound)) {
        tree_.prune(node->bound);
        return nullptr;
    }
    if constexpr (CompletingSolver<Solver>)
        if (completes(*node, r.solves)) return nullptr;
    collect_candidates(*node);
    // Fixing may have decided what the relaxation had open: then solve again with what is fixed now.
    if (node->candidates.empty() && count > 0)
        return evaluate(frame, std::move(fix), VectorXd(solver_->v()), again(*node), depth, node->bound);
    // Nothing fractional, yet not pruned (a relaxation that stalled): any free column will do.
    if (node->candidates.empty()) any_candidate(*node);
    if (node->candidates.empty()) {
        // Everything is decided: the fit of the fixed columns, which was offered above, is the node.
        tree_.prune(node->bound);
        return nullptr;
    }
    return node;
}

// Whether the fixes, and what side constraints imply by them, leave a support.
template <NodeModel Model>
bool Worker<Model>::possible(const Frame& frame, Fixes& fix) const {
    if constexpr (requires { tree_.model().propagate(frame, fix); })
        if (!tree_.model().propagate(frame, fix)) return false;
    return tree_.model().room(fix) >= 0;
}

// Free columns to branch on where the relaxation has decided all of them: those of the side constraints that it breaks.
template <NodeModel Model>
void Worker<Model>::any_candidate(Node<Frame>& node) const {
    const VectorXd &v = solver_->v(), &s = solver_->s();
    auto add = [&](Index a) {
        node.candidates.push_back({a, node.frame->columns[static_cast<size_t>(a)], s[a], v[a]});
    };
    if constexpr (requires { solver_->broken(node.fix, std::vector<Index>()); }) {
        std::vector<Index> chosen;
        for (Index a = 0; a < node.fix.size(); ++a)
            if (node.fix[a] > 0 || (node.fix[a] == 0 && s[a] > 0.5)) chosen.push_back(a);
        std::vector<Index> broken = solver_->broken(node.fix, chosen);
        std::stable_sort(broken.begin(), broken.end(), [&](Index a, Index b) { return s[a] > s[b]; });
        for (const Index a : broken) add(a);
        if (!node.candidates.empty()) return;
    }
    for (Index a = 0; a < node.fix.size(); ++a)
        if (node.fix[a] == 0) add(a);
}

template <NodeModel Model>
void Worker<Model>::collect_candidates(Node<Frame>& node) const {
    const VectorXd &v = solver_->v(), &s = solver_->s();
    for (Index a = 0; a < v.size(); ++a) {
        if (node.fix[a] < 0) continue;
        if (v[a] != 0) {
            node.index.push_back(a);
            node.v.push_back(v[a]);
        }
        if (node.fix[a] == 0 && worker_detail::fractional(s[a]))
            node.candidates.push_back({a, node.frame->columns[static_cast<size_t>(a)], s[a], v[a]});
    }
}

template <NodeModel Model>
void Worker<Model>::write_record(Node<Frame>& node, Record entry) {
    if (tree_.options().certificate_limit <= 0) return;
    solver_->write_point(entry.index, entry.w);
    node.record = tree_.record(std::move(entry));
}

template <NodeModel Model>
bool Worker<Model>::integral(const Fixes& fix) const {
    for (Index a = 0; a < fix.size(); ++a)
        if (fix[a] == 0 && worker_detail::fractional(solver_->s()[a])) return false;
    return true;
}

// A smaller frame once enough columns are out. May prune.
template <NodeModel Model>
auto Worker<Model>::reframe(NodePtr node) -> NodePtr {
    const Frame& old = *node->frame;
    if (!tree_.model().worth_narrowing(old, node->fix)) return node;
    const std::shared_ptr<Frame> fresh = tree_.model().narrow(old, node->fix, node->dense());
    tree_.register_frame(*fresh);
    Fixes fix(fresh->size());
    for (Index a = 0, b = 0; a < old.size(); ++a)
        if (node->fix[a] >= 0) fix[b++] = node->fix[a];
    return evaluate(fresh, fix, fresh->start(), again(*node), node->depth, node->bound);
}

// Sets a column to `side` in a copy of the node's fixes, with what its twins imply.
template <NodeModel Model>
Fixes Worker<Model>::decide(const Node<Frame>& node, Index position, signed char side) const {
    Fixes fix = node.fix;
    fix[position] = side;
    if (!tree_.has_twins()) return fix;
    const auto& columns = node.frame->columns;
    std::vector<Index> chain{columns[static_cast<size_t>(position)]};
    auto imply = [&](Index other) {
        const auto found = std::lower_bound(columns.begin(), columns.end(), other);
        if (found == columns.end() || *found != other) return;
        Fixes::Scalar& mark = fix[found - columns.begin()];
        if (mark != 0) return;
        mark = side;
        chain.push_back(other);
    };
    while (!chain.empty()) {
        const Index at = chain.back();
        chain.pop_back();
        if (side > 0) {
            if (tree_.earlier(at) >= 0) imply(tree_.earlier(at));
        } else {
            for (const Index later : tree_.later(at)) imply(later);
        }
    }
    return fix;
}

template <NodeModel Model>
auto Worker<Model>::expand(NodePtr node) -> std::vector<NodePtr> {
    std::vector<NodePtr> children;
    enter(node->frame);
    const VectorXd v = node->dense();
    const Candidate chosen = pick(*node, v);
    solver_->focus(node->fix, v);
    double bound[2] = {tree_.cutoff(), tree_.cutoff()};
    int empty = 0;
    for (const signed char side : {static_cast<signed char>(1), static_cast<signed char>(-1)}) {
        // Not between the children: a record of one without the other would be a proof with a hole.
        if (side > 0 && tree_.halted()) {
            children.clear();
            children.push_back(std::move(node));
            break;
        }
        Fixes fix = decide(*node, chosen.position, side);
        if (!possible(*node->frame, fix)) {
            ++empty;
            continue;
        }
        NodePtr child =
            evaluate(node->frame, std::move(fix), v, {node->record, chosen.column, side}, node->depth + 1, node->bound);
        if (child) {
            bound[side > 0] = child->bound;
            children.push_back(std::move(child));
        }
    }
    // Side constraints leave neither: the record that says so names the column.
    if (empty == 2) note(*node, {node->record, chosen.column, 1}, RecordKind::dual_value, node->bound);
    if (node) tree_.pseudo().learn(chosen, bound[1] - node->bound, bound[0] - node->bound);
    solver_->unfocus();
    return children;
}

template <NodeModel Model>
Candidate Worker<Model>::pick(const Node<Frame>& node, const VectorXd& v) {
    const SearchOptions& options = tree_.options();
    if constexpr (requires { tree_.model().first_branch(*node.frame, node.fix); }) {
        const Index a = tree_.model().first_branch(*node.frame, node.fix);
        if (a >= 0) return {a, node.frame->columns[static_cast<size_t>(a)], 0.5, v[a]};
    }
    if (node.candidates.size() == 1) return node.candidates[0];
    if (options.branching != Branching::strong) return tree_.pseudo().choose(node.candidates, options.branching);
    // Strong branching: a few Newton steps on both children of the most promising columns.
    const std::vector<Candidate> shortlist = tree_.pseudo().shortlist(node.candidates, 8);
    const double cutoff = tree_.cutoff(), least = 1e-9 * std::abs(node.bound);
    const Aim aim{.cutoff = cutoff, .tolerance = 0, .slack = worker_detail::branch_slack, .max_solves = 3};
    double best = -INFINITY;
    Candidate choice = shortlist[0];
    for (const Candidate& candidate : shortlist) {
        double gain[2];
        for (const signed char side : {static_cast<signed char>(1), static_cast<signed char>(-1)}) {
            const Fixes fix = decide(node, candidate.position, side);
            const RelaxationResult r = solver_->relax(fix, v, aim);
            solves_ += r.solves;
            gain[side > 0] = std::min(std::max(r.bound, node.bound), cutoff) - node.bound;
        }
        const double score = std::max(gain[0], least) * std::max(gain[1], least);
        if (score > best) {
            best = score;
            choice = candidate;
        }
    }
    return choice;
}

}  // namespace parsifal
