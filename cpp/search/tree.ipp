// Definitions of tree.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/memory.hpp"
#include "search/tree.hpp"

namespace parsifal {

namespace tree_detail {

constexpr double between_polls = 0.05;  // seconds

struct WorseBound {
    template <class NodePtr>
    bool operator()(const NodePtr& a, const NodePtr& b) const {
        return a->bound > b->bound;
    }
};

inline double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tree_detail

template <NodeModel Model>
Tree<Model>::Tree(const Model& model, Fixes root_fix, const std::vector<Index>& twin, double objective,
                  const SearchOptions& options)
    : model_(model),
      root_fix_(std::move(root_fix)),
      twin_(twin),
      later_(twin.size()),
      options_(options),
      pseudo_(model.size()),
      objective_(objective),
      active_(options.threads),
      working_(static_cast<size_t>(options.threads), INFINITY),
      pause_after_(options.save_every),
      start_(tree_detail::now()) {
    for (size_t j = 0; j < twin.size(); ++j)
        if (twin[j] >= 0) {
            has_twins_ = true;
            later_[static_cast<size_t>(twin[j])].push_back(static_cast<Index>(j));
        }
}

template <NodeModel Model>
void Tree<Model>::offer(double value, const std::vector<Index>& support) {
    std::lock_guard lock(mutex_);
    if (value < objective_ - 1e-12 * std::abs(objective_.load())) {
        objective_ = value;
        support_ = support;
        improved_ = true;
    }
}

template <NodeModel Model>
void Tree<Model>::prune(double bound) {
    std::lock_guard lock(mutex_);
    pruned_ = std::min(pruned_, bound);
}

// Open nodes keep their frames, which can be far larger than they are.
template <NodeModel Model>
void Tree<Model>::account(Frame& frame) {
    frame.account = &frame_bytes_;
    frame.counted = frame.bytes();
    frame_bytes_ += frame.counted;
}

template <NodeModel Model>
void Tree<Model>::register_frame(Frame& frame) {
    std::lock_guard lock(mutex_);
    account(frame);
    frame.id = static_cast<int>(frames_++);
    if (options_.certificate_limit <= 0 || records_dropped_) return;
    record_bytes_ += 16.0 * static_cast<double>(frame.size());
    frame_records_.push_back(model_.record(frame));
}

template <NodeModel Model>
int Tree<Model>::record(Record entry) {
    std::lock_guard lock(mutex_);
    if (options_.certificate_limit <= 0 || records_dropped_) return -1;
    record_bytes_ += 64 + 16.0 * static_cast<double>(entry.w.size()) + 8.0 * static_cast<double>(entry.fixed.size());
    if (record_bytes_ > options_.certificate_limit) {
        records_dropped_ = true;
        std::vector<Record>().swap(records_);
        std::vector<FrameRecord>().swap(frame_records_);
        return -1;
    }
    records_.push_back(std::move(entry));
    return static_cast<int>(records_.size()) - 1;
}

template <NodeModel Model>
void Tree<Model>::finish(SearchStop stop) {
    if (done_) return;
    stop_ = stop;
    done_ = true;
    halt_ = true;
    wake_workers_.notify_all();
    wake_main_.notify_all();
}

// Workers end their nodes and hand them back: what is in the heap afterwards is the whole search.
template <NodeModel Model>
void Tree<Model>::pause() {
    if (done_) return;
    stop_ = SearchStop::paused;
    done_ = true;
    paused_at_ = tree_detail::now();
    wake_workers_.notify_all();
}

template <NodeModel Model>
bool Tree<Model>::unpause() {
    std::lock_guard lock(mutex_);
    if (stop_ != SearchStop::paused || error_) return false;
    // However large the state is to write, most of the time goes into the search.
    const double cost = tree_detail::now() - paused_at_;
    pause_after_ = tree_detail::now() - start_ + std::max(options_.save_every, 20 * cost);
    stop_ = SearchStop::optimal;
    done_ = false;
    active_ = options_.threads;
    std::fill(working_.begin(), working_.end(), INFINITY);
    return true;
}

template <NodeModel Model>
SearchState Tree<Model>::snapshot() const {
    double bound = pruned_;
    for (const auto& node : heap_) bound = std::min(bound, node->bound);
    for (const double in_hand : working_) bound = std::min(bound, in_hand);
    // What fixing has excluded is bounded by the cutoff only.
    return {objective_, std::min(bound, cutoff()), nodes_, static_cast<double>(heap_.size()),
            tree_detail::now() - start_};
}

template <NodeModel Model>
void Tree<Model>::insert(NodePtr node) {
    node->fold();
    heap_bytes_ += static_cast<double>(node->bytes());
    const double bytes = heap_bytes_ + static_cast<double>(frame_bytes_);
    const bool full = bytes > options_.memory_limit, roomy = bytes < 0.5 * options_.memory_limit;
    // Both happen seldom, as half of the limit comes or goes in between.
    if (depth_first_ ? roomy : full) return_free_memory();
    if (full) depth_first_ = true;
    if (depth_first_ && roomy) {
        depth_first_ = false;
        std::make_heap(heap_.begin(), heap_.end(), tree_detail::WorseBound{});
    }
    heap_.push_back(std::move(node));
    if (!depth_first_) std::push_heap(heap_.begin(), heap_.end(), tree_detail::WorseBound{});
}

template <NodeModel Model>
auto Tree<Model>::pop() -> NodePtr {
    if (!depth_first_) std::pop_heap(heap_.begin(), heap_.end(), tree_detail::WorseBound{});
    NodePtr node = std::move(heap_.back());
    heap_.pop_back();
    heap_bytes_ -= static_cast<double>(node->bytes());
    node->unfold();
    return node;
}

template <NodeModel Model>
void Tree<Model>::push(NodePtr node) {
    std::lock_guard lock(mutex_);
    insert(std::move(node));
}

template <NodeModel Model>
void Tree<Model>::hold(int worker) {
    std::lock_guard lock(mutex_);
    working_[static_cast<size_t>(worker)] = -INFINITY;
}

template <NodeModel Model>
void Tree<Model>::lose_workers(int count) {
    std::lock_guard lock(mutex_);
    active_ -= count;
    if (active_ == 0 && heap_.empty()) finish(SearchStop::optimal);
}

// A dive goes on while the child is not much worse than the best open node. Where the gap will not close anyway, what
// it looks at beyond the best node does not raise the bound.
template <NodeModel Model>
bool Tree<Model>::worth_diving(const Node<Frame>& child) const {
    if (depth_first_ || heap_.empty()) return true;
    const double best = heap_.front()->bound;
    return child.bound <= best + options_.dive * (cutoff() - best);
}

template <NodeModel Model>
auto Tree<Model>::next(int worker, std::vector<NodePtr> children, double solves) -> NodePtr {
    std::unique_lock lock(mutex_);
    double& in_hand = working_[static_cast<size_t>(worker)];
    solves_ += solves;
    std::sort(children.begin(), children.end(), [](const NodePtr& a, const NodePtr& b) { return a->bound < b->bound; });
    NodePtr node;
    for (auto& child : children) {
        if (!node && !done_ && worth_diving(*child)) {
            node = std::move(child);
        } else {
            insert(std::move(child));
            wake_workers_.notify_one();
        }
    }
    in_hand = INFINITY;
    const double now = tree_detail::now();
    if (poll_ && !done_ && now - std::max(listened_, start_) > tree_detail::between_polls) listen(lock, *poll_);
    if (!done_ && now - start_ > options_.time_limit) finish(SearchStop::time_limit);
    for (;;) {
        if (!node) {
            --active_;
            if (active_ == 0 && heap_.empty()) finish(SearchStop::optimal);
            wake_workers_.wait(lock, [&] { return done_ || !heap_.empty(); });
            ++active_;
            if (done_) return nullptr;
            node = pop();
        }
        if (done_) {
            insert(std::move(node));
            return nullptr;
        }
        if (!prunes(node->bound)) break;
        pruned_ = std::min(pruned_, node->bound);
        node.reset();
    }
    in_hand = node->bound;
    nodes_ = nodes_ + 1;  // written under the lock only, read by all; libc++ has no += for it
    depth_ = std::max(depth_, static_cast<double>(node->depth));
    if (nodes_ - nodes_before_ > options_.node_limit) {
        nodes_ = nodes_ - 1;
        in_hand = INFINITY;
        insert(std::move(node));
        finish(SearchStop::node_limit);
        return nullptr;
    }
    return node;
}

template <NodeModel Model>
void Tree<Model>::supervise(const std::function<bool(const SearchState&)>& poll) {
    std::unique_lock lock(mutex_);
    while (!done_) {
        wake_main_.wait_for(lock, std::chrono::duration<double>(tree_detail::between_polls));
        if (!done_) listen(lock, poll);
    }
}

template <NodeModel Model>
void Tree<Model>::listen(std::unique_lock<std::mutex>& lock, const std::function<bool(const SearchState&)>& poll) {
    listened_ = tree_detail::now();
    const SearchState state = snapshot();
    lock.unlock();
    const bool stop = poll(state);
    lock.lock();
    if (stop) finish(SearchStop::interrupted);
    if (state.seconds > options_.time_limit) finish(SearchStop::time_limit);
    if (state.seconds > pause_after_) pause();
}

template <NodeModel Model>
void Tree<Model>::fail(std::exception_ptr error) {
    std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    finish(SearchStop::interrupted);
}

template <NodeModel Model>
SearchResult Tree<Model>::result() {
    if (error_) std::rethrow_exception(error_);
    SearchResult r;
    r.stop = stop_;
    r.objective = objective_;
    r.lower_bound = snapshot().lower_bound;
    r.support = support_;
    r.improved = improved_;
    r.nodes = nodes_;
    r.solves = solves_;
    r.frames = frames_;
    r.depth = depth_;
    r.seconds = tree_detail::now() - start_;
    r.certificate_complete = options_.certificate_limit > 0 && !records_dropped_;
    // An open node without a relaxation is one whose completions would have to be gone through.
    for (const NodePtr& node : heap_)
        if (node->candidates.empty() && node->record >= 0 && !records_dropped_)
            records_[static_cast<size_t>(node->record)].kind = RecordKind::exhausted;
    r.records = std::move(records_);
    r.frame_records = std::move(frame_records_);
    return r;
}

}  // namespace parsifal
