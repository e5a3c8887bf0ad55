// Definitions of worker.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "search/worker.hpp"

namespace parsifal {

namespace worker_detail {

constexpr int most_solves = 400;
// How near to convergence a node that will be branched on is brought, relative to what the cutoff leaves.
constexpr double branch_slack = 0.1;

// Work of going through completions, in multiplications: at a node of its own, at a child on the way, of all children
// before the rest is handed back, and at a node with a relaxation, beside it.
constexpr double most_work = 4e8, child_work = 2e7, chain_work = 4e8, least_work = 3e4;
// A root that the relaxation leaves so far open (relative) is tried with so much work; if that closes some of its
// children, and all of them would take no more than this at that rate, the tree goes on without relaxations.
constexpr double wide_gap = 0.3, root_work = 2e7, most_in_all = 2e11;
// Random columns have cosines of up to sqrt(2 log p / n): with this much between the columns of a set, no bound closes.
constexpr double most_crowded = 1.5;

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

// The relaxation rounded, and now and then improved by swaps.
template <NodeModel Model>
void Worker<Model>::offer_rounding(const Fixes& fix) {
    const VectorXd &s = solver_->s(), &v = solver_->v();
    std::vector<Index> order;
    for (Index a = 0; a < fix.size(); ++a)
        if (fix[a] == 0 && s[a] > 0) order.push_back(a);
    double total = 0;
    for (const Index a : order) total += s[a];
    const auto room =
        static_cast<size_t>(std::clamp<Index>(tree_.model().room(fix), 0, static_cast<Index>(std::lround(total)) + 1));
    if (order.size() > room) {
        std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(room), order.end(),
                         [&](Index a, Index b) {
                             if (s[a] != s[b]) return s[a] > s[b];
                             const double x = std::abs(v[a]), y = std::abs(v[b]);
                             return x != y ? x > y : a < b;
                         });
        order.resize(room);
    }
    for (Index a = 0; a < fix.size(); ++a)
        if (fix[a] > 0) order.push_back(a);
    std::sort(order.begin(), order.end());
    if constexpr (requires { solver_->mend(fix, order); }) solver_->mend(fix, order);
    const bool thorough = ++rounds_ % 16 == 1;
    const double value = thorough ? solver_->improve(fix, order, 50) : solver_->value_of(order);
    if (value >= tree_.objective()) return;
    std::vector<Index> support;
    for (const Index a : order) support.push_back(frame_->columns[static_cast<size_t>(a)]);
    tree_.offer(value, support);
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

// ---- Completions

template <NodeModel Model>
int Worker<Model>::note(const Node<Frame>& node, const Decision& decision, RecordKind kind, double bound) {
    if (tree_.options().certificate_limit <= 0) return -1;
    return tree_.record({decision.parent, decision.column, decision.side, node.frame->id, bound, {}, {}, {}, kind});
}

// A support that was met, improved by swaps.
template <NodeModel Model>
void Worker<Model>::offer(const Fixes& fix, std::vector<Index> support) {
    const double value = solver_->improve(fix, support, 50);
    if (!(value < tree_.objective())) return;
    for (Index& a : support) a = frame_->columns[static_cast<size_t>(a)];
    std::sort(support.begin(), support.end());
    tree_.offer(value, support);
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
    if (!tree_.options().completions || !tree_.attempts().worth(room, tree_.nodes())) return false;
    const double work = worker_detail::least_work + 30.0 * solves * static_cast<double>(node.frame->size());
    const Completions::Answer answer = solver_->complete(node.fix, tree_.objective(), tree_.options().gap, work);
    // Where a set is beyond inner products, the relaxation may still bound it.
    const bool closed = answer.closed && answer.resolved;
    tree_.attempts().learn(room, closed);
    if (!answer.support.empty()) offer(node.fix, answer.support);
    if (!closed) return false;
    note(node, again(node), RecordKind::exhausted, answer.bound);
    tree_.prune(answer.bound);
    return true;
}

// Whether the root is closed by its completions, or, if the relaxation says little, made a node that has none.
template <NodeModel Model>
bool Worker<Model>::completes_root(Node<Frame>& node) {
    const double objective = tree_.objective();
    const Index room = tree_.model().room(node.fix);
    if (!(objective - node.bound > worker_detail::wide_gap * std::abs(objective))) return false;
    if (!tree_.options().completions || node.candidates.empty() || room >= CorrelationTable::most_room) return false;
    const auto columns = static_cast<double>(node.fix.size()), rank = static_cast<double>(tree_.options().rank);
    const double crowd = static_cast<double>(room - 1) * std::sqrt(2 * std::log(columns));
    if (crowd > worker_detail::most_crowded * std::sqrt(rank)) return false;
    Completions::Answer answer = solver_->complete(node.fix, objective, tree_.options().gap, worker_detail::root_work);
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
            Completions::Answer answer = solver_->complete(node->fix, tree_.objective(), gap, worker_detail::most_work);
            if (!answer.support.empty()) offer(node->fix, answer.support);
            node->bound = std::max(node->bound, answer.bound);
            closed = answer.closed_bound;
            tree_.prune(closed);
            if (answer.closed || (answer.branch.empty() && !tree_.halted())) {
                note(*node, again(*node), RecordKind::exhausted, closed);
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
