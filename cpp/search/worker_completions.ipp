// Definitions of worker.hpp: going through completions.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "search/worker.hpp"

namespace parsifal {

namespace worker_detail {

// Work of going through completions, in multiplications: at a root before its relaxation, at a child on the way, of all
// children before the rest is handed back, and at a node with a relaxation, beside it.
constexpr double most_work = 4e8, child_work = 2e7, chain_work = 4e8, least_work = 3e4;
// A root that the relaxation leaves so far open (relative) is tried with so much work, and one that it says next to
// nothing about with most_work; if that closes some of its children, and all of them would take no more than this at
// that rate, the tree goes on without relaxations.
constexpr double wide_gap = 0.3, root_work = 2e7, hopeless_gap = 0.8, most_in_all = 2e11;
// Random columns have cosines of up to sqrt(2 log p / n): with this much between the columns of a set, no bound closes.
constexpr double most_crowded = 1.5;
// In a frame of so few columns, about what the relaxation has cost.
constexpr Index small_frame = 100;

inline bool crowded(Index room, Index columns, Index rank) {
    const double crowd = static_cast<double>(room - 1) * std::sqrt(2 * std::log(static_cast<double>(columns)));
    return crowd > most_crowded * std::sqrt(static_cast<double>(rank));
}

}  // namespace worker_detail

template <NodeModel Model>
int Worker<Model>::note(const Node<Frame>& node, const Decision& decision, RecordKind kind, double bound) {
    if (tree_.options().certificate_limit <= 0) return -1;
    return tree_.record({decision.parent, decision.column, decision.side, node.frame->id, bound, {}, {}, {}, kind});
}

// A node of a frame that has no relaxation: its completions are gone through when its turn comes.
template <NodeModel Model>
auto Worker<Model>::unrelaxed(const FramePtr& frame, Fixes fix, const Decision& decision, int depth, double bound)
    -> NodePtr {
    auto node = std::make_unique<Node<Frame>>();
    node->frame = frame;
    node->fix = std::move(fix);
    node->depth = depth;
    node->bound = std::max(bound, 0.0);  // no objective is below zero
    node->record = note(*node, decision, RecordKind::dual_value, node->bound);
    return node;
}

// Beside the relaxation: whether the node's completions are gone through for what the relaxation has cost.
template <NodeModel Model>
bool Worker<Model>::completes(const Node<Frame>& node, int solves) {
    const Index room = tree_.model().room(node.fix);
    if (!tree_.options().completions) return false;
    // Where products would have to be computed for it, only with a chance.
    if (!tree_.model().root().quadratic() && worker_detail::crowded(room, node.fix.size(), tree_.options().rank))
        return false;
    if (!tree_.attempts().worth(room, tree_.nodes())) return false;
    double system = 30.0 * static_cast<double>(node.frame->size());
    if (node.frame->size() <= worker_detail::small_frame) {
        const auto active = static_cast<double>((solver_->v().array() != 0).count());
        system += active * active * active;
    }
    const double work = worker_detail::least_work + solves * system;
    const double objective = tree_.objective();
    const Gap& gap = tree_.options().gap;
    const Completions::Answer answer = solver_->complete(node.fix, objective, gap, work);
    // Where a set is beyond inner products, or their rounding leaves it below the cutoff, the relaxation may still
    // bound it.
    const bool closed =
        answer.closed && answer.resolved && answer.bound >= gap.cutoff(std::min(objective, answer.value));
    tree_.attempts().learn(room, closed);
    if (!answer.support.empty()) offer(node.fix, answer.support);
    if (!closed) return false;
    note(node, again(node), RecordKind::exhausted, answer.bound);
    tree_.prune(answer.bound);
    return true;
}

// Whether the root is closed by its completions alone, which few columns are long before a relaxation is set up.
template <NodeModel Model>
bool Worker<Model>::completes_at_once(const FramePtr& frame, const Fixes& fix) {
    enter(frame);
    if (!tree_.options().completions || !solver_->relaxes()) return false;
    const double objective = tree_.objective();
    const Gap& gap = tree_.options().gap;
    const Completions::Answer answer = solver_->complete(fix, objective, gap, worker_detail::most_work);
    if (!answer.support.empty()) offer(fix, answer.support);
    // What inner products do not tell is left to the relaxation.
    if (!answer.closed || !answer.resolved || answer.bound < gap.cutoff(std::min(objective, answer.value)))
        return false;
    Node<Frame> node;
    node.frame = frame;
    note(node, {}, RecordKind::exhausted, answer.bound);
    tree_.prune(answer.bound);
    return true;
}

// Whether the root is closed by its completions, or, if the relaxation says little, made a node that has none.
template <NodeModel Model>
bool Worker<Model>::completes_root(Node<Frame>& node) {
    const double objective = tree_.objective();
    const Index room = tree_.model().room(node.fix);
    if (!tree_.options().completions || node.candidates.empty() || room >= CorrelationTable::most_room) return false;
    const double open = objective - node.bound, size = std::abs(objective);
    if (!(open > worker_detail::wide_gap * size)) return false;
    if (worker_detail::crowded(room, node.fix.size(), tree_.options().rank)) return false;
    const double most = open > worker_detail::hopeless_gap * size ? worker_detail::most_work : worker_detail::root_work;
    Completions::Answer answer = solver_->complete(node.fix, objective, tree_.options().gap, most);
    if (!answer.support.empty()) offer(node.fix, answer.support);
    if (!answer.resolved) return false;
    if (answer.closed) {
        note(node, again(node), RecordKind::exhausted, answer.bound);
        tree_.prune(answer.bound);
        return true;
    }
    const auto all = static_cast<double>(answer.branch.size()), done = static_cast<double>(answer.done);
    if (done > 0 && answer.work * all / done < worker_detail::most_in_all) {
        tree_.prune(answer.closed_bound);
        node.candidates.clear();
        node.branch = std::move(answer.branch);
        node.done = answer.done;
    }
    return false;
}

// Without a ridge: the position of a column that stands between a node and a relaxation, since it depends on others;
// Model::none if a frame of the node's own would have one, Model::too_many if there is none to be had.
template <NodeModel Model>
Index Worker<Model>::in_the_way(const Node<Frame>& node) const {
    if (node.frame->relaxes() || node.frame->tightened) return Model::too_many;
    return tree_.model().dependent(*node.frame, node.fix);
}

// Decides on the column that is in the way, or, where there is none, gives the node a frame of its own.
template <NodeModel Model>
auto Worker<Model>::towards_relaxation(NodePtr node, Index position) -> std::vector<NodePtr> {
    std::vector<NodePtr> children;
    if (position == Model::none) {
        node = reframe(std::move(node));
        if (node) children.push_back(std::move(node));
        return children;
    }
    const Index column = node->frame->columns[static_cast<size_t>(position)];
    int empty = 0;
    for (const signed char side : {static_cast<signed char>(1), static_cast<signed char>(-1)}) {
        const Decision decision{node->record, column, side};
        Fixes fix = decide(*node, position, side);
        if (!possible(*node->frame, fix)) {
            ++empty;
        } else if (side > 0 && tree_.model().repeats(*node->frame, fix, position)) {
            note(*node, decision, RecordKind::exhausted, tree_.cutoff());
            tree_.prune(tree_.cutoff());
        } else {
            children.push_back(unrelaxed(node->frame, std::move(fix), decision, node->depth + 1, node->bound));
        }
    }
    if (empty == 2) note(*node, {node->record, column, 1}, RecordKind::dual_value, node->bound);
    return children;
}

// Goes through the completions of a node; what takes too long is handed back as nodes: one column in, those before it
// out.
template <NodeModel Model>
auto Worker<Model>::exhaust(NodePtr node) -> std::vector<NodePtr> {
    std::vector<NodePtr> open;
    if constexpr (CompletingSolver<Solver>) {
        enter(node->frame);
        const Gap& gap = tree_.options().gap;
        double closed = tree_.cutoff(), spent = 0;
        if (node->branch.empty()) {
            // Below a node that much work has not closed, a relaxation is the better hope.
            const Index next = in_the_way(*node);
            const bool approaches = next != Model::too_many;
            const double usual = tree_.options().exhaust_work;
            const double most = approaches && node->depth > 0 ? std::min(usual, worker_detail::child_work) : usual;
            Completions::Answer answer = solver_->complete(node->fix, tree_.objective(), gap, most);
            if (!answer.support.empty()) offer(node->fix, answer.support);
            // What inner products do not tell is left to the relaxation, too. Its nodes start from bounds with a
            // record.
            const bool settled = answer.closed ? answer.resolved : answer.branch.empty();
            if (approaches && !settled && !tree_.halted()) return towards_relaxation(std::move(node), next);
            node->bound = std::max(node->bound, answer.bound);
            closed = answer.closed_bound;
            tree_.prune(closed);
            if (answer.closed || (answer.branch.empty() && !tree_.halted())) {
                note(*node, again(*node), RecordKind::exhausted, closed);
                return open;
            }
            if (answer.branch.empty()) {
                // Stopped: nothing is known of it, and it stays open.
                open.push_back(std::move(node));
                return open;
            }
            node->branch = std::move(answer.branch);
            node->done = answer.done;
        }
        for (size_t at = 0; at < node->branch.size(); ++at) {
            if (tree_.halted() || spent > worker_detail::chain_work) {
                // Without the columns that are out by now, all the rest may be closed at once.
                node->branch.clear();
                node->done = 0;
                open.push_back(std::move(node));
                return open;
            }
            const Index position = node->branch[at], column = node->frame->columns[static_cast<size_t>(position)];
            const bool last = at + 1 == node->branch.size();
            if (node->fix[position] == 0) {
                Fixes fix = decide(*node, position, 1);
                const Decision in{node->record, column, 1};
                if (possible(*node->frame, fix)) {
                    double bound = closed;
                    bool shut = at < node->done;
                    if (!shut) {
                        const auto answer = solver_->complete(fix, tree_.objective(), gap, worker_detail::child_work);
                        spent += answer.work;
                        if (!answer.support.empty()) offer(fix, answer.support);
                        shut = answer.closed;
                        bound = answer.bound;
                    }
                    if (shut) {
                        note(*node, in, RecordKind::exhausted, bound);
                        tree_.prune(bound);
                    } else {
                        open.push_back(
                            unrelaxed(node->frame, std::move(fix), in, node->depth + 1, std::max(node->bound, bound)));
                    }
                }
                const int parent = node->record;
                node->fix = decide(*node, position, -1);
                // Also where side constraints leave nothing: a record says which column was decided on.
                const bool ends = !possible(*node->frame, node->fix) || last;
                node->record = note(*node, {parent, column, -1}, ends ? RecordKind::exhausted : RecordKind::dual_value,
                                    node->bound);
                if (ends) return open;
            } else if (last) {
                note(*node, again(*node), RecordKind::exhausted, closed);
            }
        }
    } else {
        // Otherwise it would be dropped, and its supports with it.
        throw std::logic_error("a node without candidates, and no way to go through its completions");
    }
    return open;
}

}  // namespace parsifal
