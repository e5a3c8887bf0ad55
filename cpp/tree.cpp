#include "tree.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace parsifal {

namespace {

struct WorseBound {
    bool operator()(const NodePtr& a, const NodePtr& b) const { return a->bound > b->bound; }
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

VectorXd Node::dense() const {
    VectorXd x = VectorXd::Zero(frame->size());
    for (size_t i = 0; i < index.size(); ++i) x[index[i]] = v[i];
    return x;
}

Tree::Tree(const Quadratic& root, const std::vector<Index>& twin, double objective, const SearchOptions& options)
    : root_(root),
      twin_(twin),
      later_(twin.size()),
      options_(options),
      pseudo_(root.size()),
      objective_(objective),
      active_(options.threads),
      working_(static_cast<size_t>(options.threads), INFINITY),
      pause_after_(options.save_every),
      start_(now()) {
    for (size_t j = 0; j < twin.size(); ++j)
        if (twin[j] >= 0) {
            has_twins_ = true;
            later_[static_cast<size_t>(twin[j])].push_back(static_cast<Index>(j));
        }
}

double Tree::cutoff(double objective) const {
    return objective - std::max(options_.rel_gap * std::abs(objective), options_.abs_gap);
}

void Tree::offer(double value, const std::vector<Index>& support) {
    std::lock_guard lock(mutex_);
    if (value < objective_ - 1e-12 * std::abs(objective_.load())) {
        objective_ = value;
        support_ = support;
        improved_ = true;
    }
}

void Tree::prune(double bound) {
    std::lock_guard lock(mutex_);
    pruned_ = std::min(pruned_, bound);
}

// Open nodes keep their frames, which can be far larger than they are.
void Tree::account(Frame& frame) {
    frame.account = &frame_bytes_;
    frame_bytes_ += frame.bytes();
}

void Tree::register_frame(Frame& frame) {
    std::lock_guard lock(mutex_);
    account(frame);
    frame.id = static_cast<int>(frames_++);
    if (options_.certificate_limit <= 0 || records_dropped_) return;
    record_bytes_ += 16.0 * static_cast<double>(frame.size());
    frame_records_.push_back({frame.columns, frame.diagonal});
}

int Tree::record(Record entry) {
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

void Tree::finish(SearchStop stop) {
    if (done_) return;
    stop_ = stop;
    done_ = true;
    halt_ = true;
    wake_workers_.notify_all();
    wake_main_.notify_all();
}

// Workers end their nodes and hand them back: what is in the heap afterwards is the whole search.
void Tree::pause() {
    if (done_) return;
    stop_ = SearchStop::paused;
    done_ = true;
    paused_at_ = now();
    wake_workers_.notify_all();
}

bool Tree::unpause() {
    std::lock_guard lock(mutex_);
    if (stop_ != SearchStop::paused || error_) return false;
    // However large the state is to write, most of the time goes into the search.
    const double cost = now() - paused_at_;
    pause_after_ = now() - start_ + std::max(options_.save_every, 20 * cost);
    stop_ = SearchStop::optimal;
    done_ = false;
    active_ = options_.threads;
    std::fill(working_.begin(), working_.end(), INFINITY);
    return true;
}

SearchState Tree::snapshot() const {
    double bound = pruned_;
    for (const auto& node : heap_) bound = std::min(bound, node->bound);
    for (const double in_hand : working_) bound = std::min(bound, in_hand);
    // What fixing has excluded is bounded by the cutoff only.
    return {objective_, std::min(bound, cutoff()), nodes_, static_cast<double>(heap_.size()), now() - start_};
}

void Tree::insert(NodePtr node) {
    heap_bytes_ += static_cast<double>(node->bytes());
    const double bytes = heap_bytes_ + static_cast<double>(frame_bytes_);
    if (bytes > options_.memory_limit) depth_first_ = true;
    if (depth_first_ && bytes < 0.5 * options_.memory_limit) {
        depth_first_ = false;
        std::make_heap(heap_.begin(), heap_.end(), WorseBound{});
    }
    heap_.push_back(std::move(node));
    if (!depth_first_) std::push_heap(heap_.begin(), heap_.end(), WorseBound{});
}

NodePtr Tree::pop() {
    if (!depth_first_) std::pop_heap(heap_.begin(), heap_.end(), WorseBound{});
    NodePtr node = std::move(heap_.back());
    heap_.pop_back();
    heap_bytes_ -= static_cast<double>(node->bytes());
    return node;
}

void Tree::push(NodePtr node) {
    std::lock_guard lock(mutex_);
    insert(std::move(node));
}

void Tree::hold(int worker) {
    std::lock_guard lock(mutex_);
    working_[static_cast<size_t>(worker)] = -INFINITY;
}

void Tree::lose_workers(int count) {
    std::lock_guard lock(mutex_);
    active_ -= count;
    if (active_ == 0 && heap_.empty()) finish(SearchStop::optimal);
}

// A dive goes on while the child is not much worse than the best open node.
bool Tree::worth_diving(const Node& child) const {
    if (depth_first_ || heap_.empty()) return true;
    const double best = heap_.front()->bound;
    return child.bound <= best + 0.1 * (cutoff() - best);
}

NodePtr Tree::next(int worker, std::vector<NodePtr> children, double solves) {
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
    if (!done_ && now() - start_ > options_.time_limit) finish(SearchStop::time_limit);
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
        if (node->bound < cutoff()) break;
        pruned_ = std::min(pruned_, node->bound);
        node.reset();
    }
    in_hand = node->bound;
    ++nodes_;
    depth_ = std::max(depth_, static_cast<double>(node->depth));
    if (nodes_ - nodes_before_ > options_.node_limit) {
        --nodes_;
        in_hand = INFINITY;
        insert(std::move(node));
        finish(SearchStop::node_limit);
        return nullptr;
    }
    return node;
}

void Tree::supervise(const std::function<bool(const SearchState&)>& poll) {
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
        if (state.seconds > pause_after_) pause();
    }
}

void Tree::fail(std::exception_ptr error) {
    std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    finish(SearchStop::interrupted);
}

SearchResult Tree::result() {
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
    r.seconds = now() - start_;
    r.certificate_complete = options_.certificate_limit > 0 && !records_dropped_;
    r.records = std::move(records_);
    r.frame_records = std::move(frame_records_);
    return r;
}

}  // namespace parsifal
