#include "search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "branching.hpp"
#include "dual.hpp"
#include "relaxation.hpp"
#include "swap.hpp"
#include "tighten.hpp"

namespace parsifal {

namespace {

struct Node {
    std::shared_ptr<const Frame> frame;
    Fixes fix;  // on the frame's columns
    std::vector<Index> index;
    std::vector<double> v;  // sparse primal point: start for the children
    double bound;
    int depth;
    int record;
    std::vector<Candidate> candidates;  // fractional columns, for branching
    size_t bytes() const {
        return sizeof(Node) + static_cast<size_t>(fix.size()) + 16 * v.size() + 32 * candidates.size();
    }
};

using NodePtr = std::unique_ptr<Node>;

struct WorseBound {
    bool operator()(const NodePtr& a, const NodePtr& b) const { return a->bound > b->bound; }
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

class Search {
  public:
    Search(const Quadratic& root, const std::vector<Index>& twin, double objective, const SearchOptions& options)
        : root_(root), twin_(twin), options_(options), objective_(objective), start_(now()), pseudo_(root.size()) {
        last_twin_.assign(twin.size(), {});
        for (size_t j = 0; j < twin.size(); ++j)
            if (twin[j] >= 0) last_twin_[static_cast<size_t>(twin[j])].push_back(static_cast<Index>(j));
    }

    SearchResult run(const ConstFix& fix, const ConstVector& w, const ConstVector& diagonal,
                     const std::function<bool(const SearchState&)>& poll) {
        std::vector<Index> columns;
        for (Index j = 0; j < root_.size(); ++j)
            if (fix[j] >= 0) columns.push_back(j);
        VectorXd w_live(columns.size()), d_live(columns.size());
        Fixes fix_live(columns.size());
        for (size_t a = 0; a < columns.size(); ++a) {
            w_live[static_cast<Index>(a)] = w[columns[a]];
            d_live[static_cast<Index>(a)] = diagonal[columns[a]];
            fix_live[static_cast<Index>(a)] = fix[columns[a]];
        }
        auto frame = make_frame(root_, columns, w_live, d_live);
        frame->tightened_at = d_live.maxCoeff() > 0 ? frame->size() : 0;
        register_frame(*frame);

        std::vector<std::thread> workers;
        active_ = options_.threads;
        for (int t = 0; t < options_.threads; ++t) {
            worker_bound_.push_back(INFINITY);
            worker_open_.push_back(false);
        }
        {
            Worker first(*this, 0);
            NodePtr node = first.evaluate(frame, fix_live, frame->v0, -1, -1, 0, 0, -INFINITY);
            if (node) push(std::move(node));
        }
        for (int t = 0; t < options_.threads; ++t) workers.emplace_back([this, t] { Worker(*this, t).loop(); });
        {
            std::unique_lock lock(mutex_);
            while (!done_) {
                wake_main_.wait_for(lock, std::chrono::milliseconds(50));
                if (done_) break;
                const SearchState state = snapshot();
                lock.unlock();
                const bool stop = poll(state);
                lock.lock();
                if (stop) finish(SearchStop::interrupted);
                if (state.seconds > options_.time_limit) finish(SearchStop::time_limit);
            }
        }
        for (auto& worker : workers) worker.join();
        SearchResult result;
        result.stop = stop_;
        result.objective = objective_;
        result.lower_bound = snapshot().lower_bound;
        result.support = support_;
        result.improved = improved_;
        result.nodes = nodes_;
        result.solves = solves_;
        result.frames = frames_;
        result.depth = depth_;
        result.seconds = now() - start_;
        result.certificate_complete = options_.certificate_limit > 0 && !records_dropped_;
        if (result.certificate_complete) {
            result.records = std::move(records_);
            result.frame_records = std::move(frame_records_);
        }
        return result;
    }

  private:
    // Everything below is shared; the mutex guards it except the atomics.
    const Quadratic& root_;
    const std::vector<Index>& twin_;
    std::vector<std::vector<Index>> last_twin_;
    const SearchOptions& options_;
    std::mutex mutex_;
    std::condition_variable wake_workers_, wake_main_;
    std::vector<NodePtr> heap_;
    double heap_bytes_ = 0;
    bool depth_first_ = false;
    int active_ = 0;
    bool done_ = false;
    std::atomic<bool> halt_{false};
    SearchStop stop_ = SearchStop::optimal;
    std::atomic<double> objective_;
    bool improved_ = false;
    std::vector<Index> support_;
    double start_, nodes_ = 0, solves_ = 0, frames_ = 0, depth_ = 0, pruned_bound_ = INFINITY;
    std::vector<double> worker_bound_;
    std::vector<bool> worker_open_;
    PseudoCosts pseudo_;
    std::vector<Record> records_;
    std::vector<FrameRecord> frame_records_;
    double record_bytes_ = 0;
    bool records_dropped_ = false;

    double cutoff() const {
        const double value = objective_;
        return value - std::max(options_.rel_gap * std::abs(value), options_.abs_gap);
    }

    void finish(SearchStop stop) {  // with the mutex held
        if (done_) return;
        stop_ = stop;
        done_ = true;
        halt_ = true;
        wake_workers_.notify_all();
        wake_main_.notify_all();
    }

    SearchState snapshot() const {
        double bound = pruned_bound_;
        for (const auto& node : heap_) bound = std::min(bound, node->bound);
        for (size_t t = 0; t < worker_bound_.size(); ++t)
            if (worker_open_[t]) bound = std::min(bound, worker_bound_[t]);
        // What fixing has excluded is bounded by the cutoff only.
        return {objective_, std::min(bound, cutoff()), nodes_, static_cast<double>(heap_.size()), now() - start_};
    }

    void push(NodePtr node) {  // with the mutex held, or before the workers start
        heap_bytes_ += static_cast<double>(node->bytes());
        if (heap_bytes_ > options_.memory_limit) depth_first_ = true;
        if (heap_bytes_ < 0.5 * options_.memory_limit && depth_first_) {
            depth_first_ = false;
            std::make_heap(heap_.begin(), heap_.end(), WorseBound{});
        }
        heap_.push_back(std::move(node));
        if (!depth_first_) std::push_heap(heap_.begin(), heap_.end(), WorseBound{});
    }

    NodePtr pop() {  // with the mutex held
        if (!depth_first_) std::pop_heap(heap_.begin(), heap_.end(), WorseBound{});
        NodePtr node = std::move(heap_.back());
        heap_.pop_back();
        heap_bytes_ -= static_cast<double>(node->bytes());
        return node;
    }

    void offer(double value, const std::vector<Index>& support) {
        std::lock_guard lock(mutex_);
        if (value < objective_ - 1e-12 * std::abs(objective_.load())) {
            objective_ = value;
            support_ = support;
            improved_ = true;
        }
    }

    void register_frame(Frame& frame) {
        std::lock_guard lock(mutex_);
        frame.id = static_cast<int>(frames_++);
        if (options_.certificate_limit <= 0 || records_dropped_) return;
        record_bytes_ += 16.0 * static_cast<double>(frame.size());
        frame_records_.push_back({frame.columns, frame.diagonal});
    }

    int record(Record entry) {
        std::lock_guard lock(mutex_);
        if (options_.certificate_limit <= 0 || records_dropped_) return -1;
        record_bytes_ +=
            64 + 16.0 * static_cast<double>(entry.w.size()) + 8.0 * static_cast<double>(entry.fixed.size());
        if (record_bytes_ > options_.certificate_limit) {
            records_dropped_ = true;
            records_.clear();
            records_.shrink_to_fit();
            frame_records_.clear();
            return -1;
        }
        records_.push_back(std::move(entry));
        return static_cast<int>(records_.size()) - 1;
    }

    struct Worker {
        Search& s;
        int id;
        std::shared_ptr<const Frame> frame;
        std::unique_ptr<Quadratic> quadratic;
        std::unique_ptr<Relaxation> relaxation;
        std::unique_ptr<LocalSearch> heuristic;
        std::vector<double> scratch;
        double solves = 0;
        int rounds = 0;

        Worker(Search& search, int worker) : s(search), id(worker) {}

        void enter(const std::shared_ptr<const Frame>& f) {
            if (frame == f) return;
            heuristic.reset();
            relaxation.reset();
            frame = f;
            quadratic = std::make_unique<Quadratic>(f->problem(s.root_.gamma, s.root_.lambda, s.root_.k));
            relaxation = std::make_unique<Relaxation>(*quadratic);
        }

        // Solves one node. Returns it if it must be branched on; null if its bound passes the cutoff.
        NodePtr evaluate(const std::shared_ptr<const Frame>& f, Fixes fix, const VectorXd& start, int parent,
                         Index column, signed char side, int depth, double parent_bound) {
            enter(f);
            const double cutoff = s.cutoff();
            const double tolerance = 0.1 * (s.objective_ - cutoff);
            RelaxationResult r = relaxation->solve(fix, start, cutoff, tolerance, 0.05, 400);
            solves += r.solves;
            if (r.stop == Stop::converged && integral(fix)) {
                // Nothing to branch on: this node ends here, so its bound has to be exact.
                const VectorXd v = relaxation->v();
                r = relaxation->solve(fix, v, cutoff, tolerance, 0, 400, true);
                solves += r.solves;
            }
            // A child inherits its parent's bound: the parent's point is a dual point of the child too.
            Record entry{parent, column, side, f->id, r.bound, {}, {}, {}};
            auto node = std::make_unique<Node>();
            node->bound = std::max(r.bound, parent_bound);
            Index count = 0;
            if (r.stop != Stop::cutoff) {
                offer_rounding(fix);
                const DualChoice choice =
                    choose(relaxation->best_beta(), fix, s.root_.gamma, s.root_.lambda, s.root_.k, scratch);
                Fixes fixed = fix;
                count = fix_columns(relaxation->best_beta(), r.bound, s.cutoff(), choice, s.root_.gamma, s.root_.lambda,
                                    s.root_.k, fixed);
                if (count != 0)
                    for (Index a = 0; a < fix.size(); ++a)
                        if (fixed[a] != fix[a]) {
                            const Index j = f->columns[static_cast<size_t>(a)];
                            entry.fixed.push_back(fixed[a] > 0 ? 1 + j : -1 - j);
                        }
                if (count < 0) node->bound = std::max(node->bound, s.cutoff());
                fix = fixed;
            }
            if (s.options_.certificate_limit > 0) {
                for (Index a = 0; a < fix.size(); ++a)
                    if (relaxation->best_v()[a] != 0) {
                        entry.index.push_back(f->columns[static_cast<size_t>(a)]);
                        entry.w.push_back(relaxation->best_v()[a] * f->scale[a]);
                    }
                node->record = s.record(std::move(entry));
            } else {
                node->record = -1;
            }
            if (node->bound >= s.cutoff()) {
                std::lock_guard lock(s.mutex_);
                s.pruned_bound_ = std::min(s.pruned_bound_, node->bound);
                return nullptr;
            }
            node->frame = f;
            node->fix = fix;
            node->depth = depth;
            const VectorXd& v = relaxation->v();
            const VectorXd& fraction = relaxation->s();
            for (Index a = 0; a < v.size(); ++a) {
                if (fix[a] < 0) continue;
                if (v[a] != 0) {
                    node->index.push_back(a);
                    node->v.push_back(v[a]);
                }
                if (fix[a] == 0 && fractional(fraction[a]))
                    node->candidates.push_back({a, f->columns[static_cast<size_t>(a)], fraction[a], v[a]});
            }
            // Fixing may have decided what the relaxation had open: then solve again with what is fixed now.
            if (node->candidates.empty() && count > 0)
                return evaluate(f, std::move(fix), VectorXd(relaxation->v()), node->record, -1, 0, depth, node->bound);
            // Nothing fractional, yet not pruned (a relaxation that stalled): any free column will do.
            if (node->candidates.empty())
                for (Index a = 0; a < v.size(); ++a)
                    if (fix[a] == 0)
                        node->candidates.push_back({a, f->columns[static_cast<size_t>(a)], fraction[a], v[a]});
            if (node->candidates.empty()) {
                // Everything is decided: the ridge fit of the fixed columns, which was offered above, is the node.
                std::lock_guard lock(s.mutex_);
                s.pruned_bound_ = std::min(s.pruned_bound_, node->bound);
                return nullptr;
            }
            return node;
        }

        bool integral(const Fixes& fix) const {
            for (Index a = 0; a < fix.size(); ++a)
                if (fix[a] == 0 && fractional(relaxation->s()[a])) return false;
            return true;
        }
        static bool fractional(double fraction) { return fraction > 1e-9 && fraction < 1 - 1e-9; }

        // The relaxation rounded, and improved by swaps near the top of the tree and now and then below.
        void offer_rounding(const Fixes& fix) {
            const VectorXd& fraction = relaxation->s();
            std::vector<Index> order;
            Index forced = 0;
            for (Index a = 0; a < fix.size(); ++a) {
                if (fix[a] > 0) ++forced;
                if (fix[a] == 0 && fraction[a] > 0) order.push_back(a);
            }
            const auto room = static_cast<size_t>(std::max<Index>(0, s.root_.k - forced));
            if (order.size() > room) {
                const VectorXd& v = relaxation->v();
                std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(room), order.end(),
                                 [&](Index a, Index b) {
                                     if (fraction[a] != fraction[b]) return fraction[a] > fraction[b];
                                     const double x = std::abs(v[a]), y = std::abs(v[b]);
                                     return x != y ? x > y : a < b;
                                 });
                order.resize(room);
            }
            for (Index a = 0; a < fix.size(); ++a)
                if (fix[a] > 0) order.push_back(a);
            std::sort(order.begin(), order.end());
            if (!heuristic) heuristic = std::make_unique<LocalSearch>(*quadratic);
            const bool thorough = ++rounds % 16 == 1;
            const double value = heuristic->improve(fix, order, thorough ? 50 : 0);
            if (value < s.objective_) {
                std::vector<Index> support;
                for (const Index a : order) support.push_back(frame->columns[static_cast<size_t>(a)]);
                std::sort(support.begin(), support.end());
                s.offer(value, support);
            }
        }

        VectorXd dense(const Node& node) const {
            VectorXd v = VectorXd::Zero(node.frame->size());
            for (size_t i = 0; i < node.index.size(); ++i) v[node.index[i]] = node.v[i];
            return v;
        }

        // A smaller frame once enough columns are out; tightened anew once few enough are left. May prune.
        NodePtr reframe(NodePtr node) {
            const Frame& old = *node->frame;
            Index live = 0;
            for (Index a = 0; a < old.size(); ++a) live += node->fix[a] >= 0;
            const bool tightenable = live < s.options_.rank && live <= s.options_.tighten_at_most && live > 1;
            const bool retighten =
                tightenable &&
                (old.tightened_at == 0 || static_cast<double>(live) <= 0.6 * static_cast<double>(old.tightened_at));
            if (!retighten && static_cast<double>(live) > 0.7 * static_cast<double>(old.size())) return node;
            std::vector<Index> columns;
            Fixes fix(live);
            VectorXd w(live), diagonal(live);
            const VectorXd v = dense(*node);
            for (Index a = 0, b = 0; a < old.size(); ++a)
                if (node->fix[a] >= 0) {
                    columns.push_back(old.columns[static_cast<size_t>(a)]);
                    fix[b] = node->fix[a];
                    w[b] = v[a] * old.scale[a];
                    diagonal[b] = old.diagonal[a];
                    ++b;
                }
            Index tightened_at = old.tightened_at;
            if (retighten) {
                MatrixXd gram(live, live);
                for (Index b = 0; b < live; ++b)
                    for (Index a = 0; a < live; ++a)
                        gram(a, b) = s.root_.gram(columns[static_cast<size_t>(a)], columns[static_cast<size_t>(b)]);
                const VectorXd better = tightening(gram, VectorXd::Ones(live), 25);
                if (better.sum() > diagonal.sum()) diagonal = better;
                tightened_at = live;
            }
            auto fresh = make_frame(s.root_, std::move(columns), w, diagonal);
            fresh->tightened_at = tightened_at;
            s.register_frame(*fresh);
            return evaluate(fresh, fix, fresh->v0, node->record, -1, 0, node->depth, node->bound);
        }

        // Sets column a to `side` in a copy of the node's fixes, with what the twins imply.
        Fixes decide(const Node& node, Index a, signed char side) const {
            Fixes fix = node.fix;
            fix[a] = side;
            const Index j = node.frame->columns[static_cast<size_t>(a)];
            if (s.twin_.empty()) return fix;
            std::vector<Index> chain{j};
            while (!chain.empty()) {
                const Index at = chain.back();
                chain.pop_back();
                auto imply = [&](Index other) {
                    const auto& columns = node.frame->columns;
                    const auto found = std::lower_bound(columns.begin(), columns.end(), other);
                    if (found == columns.end() || *found != other) return;
                    const Index b = found - columns.begin();
                    if (fix[b] == 0) {
                        fix[b] = side;
                        chain.push_back(other);
                    }
                };
                if (side > 0) {
                    if (s.twin_[static_cast<size_t>(at)] >= 0) imply(s.twin_[static_cast<size_t>(at)]);
                } else {
                    for (const Index later : s.last_twin_[static_cast<size_t>(at)]) imply(later);
                }
            }
            return fix;
        }

        bool overfull(const Fixes& fix) const {
            Index in = 0;
            for (Index a = 0; a < fix.size(); ++a) in += fix[a] > 0;
            return in > s.root_.k;
        }

        std::vector<NodePtr> expand(NodePtr node) {
            std::vector<NodePtr> children;
            enter(node->frame);
            const VectorXd v = dense(*node);
            const Candidate chosen = pick(*node, v);
            double child_bound[2] = {s.cutoff(), s.cutoff()};
            for (const signed char side : {static_cast<signed char>(1), static_cast<signed char>(-1)}) {
                if (s.halt_) {
                    children.clear();
                    children.push_back(std::move(node));
                    return children;
                }
                Fixes fix = decide(*node, chosen.position, side);
                if (overfull(fix)) continue;
                NodePtr child = evaluate(node->frame, std::move(fix), v, node->record, chosen.column, side,
                                         node->depth + 1, node->bound);
                child_bound[side > 0] = child ? child->bound : s.cutoff();
                if (child) children.push_back(std::move(child));
            }
            s.pseudo_.learn(chosen, child_bound[1] - node->bound, child_bound[0] - node->bound);
            return children;
        }

        Candidate pick(const Node& node, const VectorXd& v) {
            if (node.candidates.size() == 1) return node.candidates[0];
            if (s.options_.branching != Branching::strong)
                return s.pseudo_.choose(node.candidates, s.options_.branching);
            // Strong branching: a few Newton steps on both children of the most promising columns.
            std::vector<Candidate> shortlist = s.pseudo_.shortlist(node.candidates, 8);
            double best = -INFINITY;
            Candidate choice = shortlist[0];
            for (const Candidate& candidate : shortlist) {
                double gain[2];
                for (const signed char side : {static_cast<signed char>(1), static_cast<signed char>(-1)}) {
                    const Fixes fix = decide(node, candidate.position, side);
                    const RelaxationResult r = relaxation->solve(fix, v, s.cutoff(), 0, 0.05, 3);
                    solves += r.solves;
                    gain[side > 0] = std::min(std::max(r.bound, node.bound), s.cutoff()) - node.bound;
                }
                const double score =
                    std::max(gain[0], 1e-9 * std::abs(node.bound)) * std::max(gain[1], 1e-9 * std::abs(node.bound));
                if (score > best) {
                    best = score;
                    choice = candidate;
                }
            }
            return choice;
        }

        void loop() {
            std::unique_lock lock(s.mutex_);
            NodePtr dive;
            for (;;) {
                s.worker_open_[static_cast<size_t>(id)] = false;
                NodePtr node = std::move(dive);
                if (!node) {
                    --s.active_;
                    if (s.active_ == 0 && s.heap_.empty()) s.finish(SearchStop::optimal);
                    s.wake_workers_.wait(lock, [&] { return s.done_ || !s.heap_.empty(); });
                    if (s.done_) return;
                    ++s.active_;
                    node = s.pop();
                }
                if (s.done_) {
                    s.push(std::move(node));
                    return;
                }
                if (node->bound >= s.cutoff()) {
                    s.pruned_bound_ = std::min(s.pruned_bound_, node->bound);
                    continue;
                }
                s.worker_open_[static_cast<size_t>(id)] = true;
                s.worker_bound_[static_cast<size_t>(id)] = node->bound;
                ++s.nodes_;
                s.depth_ = std::max(s.depth_, static_cast<double>(node->depth));
                if (s.nodes_ >= s.options_.node_limit) s.finish(SearchStop::node_limit);
                lock.unlock();
                std::vector<NodePtr> children;
                node = reframe(std::move(node));
                if (node) children = expand(std::move(node));
                lock.lock();
                s.solves_ += solves;
                solves = 0;
                // Dive into the child with the better bound; the other waits its turn.
                std::sort(children.begin(), children.end(),
                          [](const NodePtr& a, const NodePtr& b) { return a->bound < b->bound; });
                for (size_t c = 0; c < children.size(); ++c) {
                    if (c == 0 && !s.done_ && children.size() > 0 && diving(*children[0])) {
                        dive = std::move(children[0]);
                    } else {
                        s.push(std::move(children[c]));
                        s.wake_workers_.notify_one();
                    }
                }
                s.worker_open_[static_cast<size_t>(id)] = false;
                if (dive) {
                    s.worker_open_[static_cast<size_t>(id)] = true;
                    s.worker_bound_[static_cast<size_t>(id)] = dive->bound;
                }
                if (now() - s.start_ > s.options_.time_limit) s.finish(SearchStop::time_limit);
            }
        }

        // A dive goes on while the child is no worse than the best open node by much.
        bool diving(const Node& child) const {
            if (s.depth_first_ || s.heap_.empty()) return true;
            const double best = s.heap_.front()->bound;
            return child.bound <= best + 0.1 * (s.cutoff() - best);
        }
    };
};

}  // namespace

SearchResult search(const Quadratic& root, const ConstFix& fix, const ConstVector& w, const ConstVector& diagonal,
                    const std::vector<Index>& twin, double objective, const SearchOptions& options,
                    const std::function<bool(const SearchState&)>& poll) {
    Search search(root, twin, objective, options);
    return search.run(fix, w, diagonal, poll);
}

}  // namespace parsifal
