// The state of a search that its workers share: open nodes, incumbent, bound, records. One mutex guards it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/alarm.hpp"
#include "search/attempts.hpp"
#include "search/branching.hpp"
#include "search/model.hpp"
#include "search/search.hpp"
#include "search/tree_state.hpp"

namespace parsifal {

template <NodeFrame Frame>
struct Node {
    std::shared_ptr<const Frame> frame;
    Fixes fix;  // on the frame's columns; while the node waits, `folded` may stand in for it
    std::vector<std::int32_t> folded;
    Index width = 0;  // of the fixes that are folded
    std::vector<Index> index;
    std::vector<double> v;  // sparse primal point: start for the children
    double bound = -INFINITY;
    int depth = 0;
    int record = -1;
    std::vector<Candidate> candidates;  // fractional columns, for branching; none: its completions are gone through
    std::vector<Index> branch;          // positions to branch on one after the other; without all of them it is closed
    size_t done = 0;                    // the first of these are closed already

    size_t bytes() const {
        // 80: what the allocator adds to five blocks.
        return sizeof(Node) + 80 + static_cast<size_t>(fix.size()) +
               8 * (index.capacity() + v.capacity() + branch.capacity()) + sizeof(Candidate) * candidates.capacity() +
               4 * folded.capacity();
    }
    // The fixes of all columns, or of those that are fixed: 1 + position for in, -1 - position for out. In wide frames
    // most are free, and open nodes are many.
    void fold() {
        constexpr Index least = 4096;
        if (fix.size() < least || 4 * (fix.array() != 0).count() >= fix.size()) return;
        for (Index a = 0; a < fix.size(); ++a)
            if (fix[a] != 0) folded.push_back(static_cast<std::int32_t>(fix[a] > 0 ? 1 + a : -1 - a));
        width = fix.size();
        fix.resize(0);
        folded.shrink_to_fit();
        index.shrink_to_fit();
        v.shrink_to_fit();
        candidates.shrink_to_fit();
    }
    Fixes unfolded() const {
        if (width == 0) return fix;
        Fixes whole = Fixes::Zero(width);
        for (const std::int32_t mark : folded) whole[std::abs(mark) - 1] = mark > 0 ? 1 : -1;
        return whole;
    }
    void unfold() {
        if (width == 0) return;
        fix = unfolded();
        width = 0;
        std::vector<std::int32_t>().swap(folded);
    }
    VectorXd dense() const {
        VectorXd x = VectorXd::Zero(frame->size());
        for (size_t i = 0; i < index.size(); ++i) x[index[i]] = v[i];
        return x;
    }
};

template <NodeModel Model>
class Tree {
  public:
    using Frame = typename Model::Frame;
    using NodePtr = std::unique_ptr<Node<Frame>>;

    // `root_fix` on all columns of the model.
    Tree(const Model& model, Fixes root_fix, const std::vector<Index>& twin, double objective,
         const SearchOptions& options);

    const Model& model() const { return model_; }
    const SearchOptions& options() const { return options_; }
    const Fixes& root_fix() const { return root_fix_; }
    PseudoCosts& pseudo() { return pseudo_; }
    Attempts& attempts() { return attempts_; }

    // Twins: the earlier one that column j repeats (-1: none), and the later ones that repeat it.
    bool has_twins() const { return has_twins_; }
    Index earlier(Index j) const { return twin_[static_cast<size_t>(j)]; }
    const std::vector<Index>& later(Index j) const { return later_[static_cast<size_t>(j)]; }

    double nodes() const { return nodes_; }
    double objective() const { return objective_; }
    double cutoff() const { return options_.gap.cutoff(objective_); }
    bool prunes(double bound) const { return bound >= cutoff(); }
    bool halted() const { return halt_; }
    const Alarm& alarm() const { return alarm_; }  // rings when the search is to end

    // These take the mutex.
    void offer(double value, const std::vector<Index>& support);
    void prune(double bound);
    void register_frame(Frame& frame);
    int record(Record entry);

    // A worker's turn: hands back the children of its last node (and what they cost), gets the next node; null at the
    // end. Best bound first, with a dive into the better child; depth first past the memory limit.
    NodePtr next(int worker, std::vector<NodePtr> children, double solves);

    void push(NodePtr node);
    // Something without a bound yet is in a worker's hands, until its next turn.
    void hold(int worker);
    void lose_workers(int count);
    // A worker met an exception: stops the search; result() throws it.
    void fail(std::exception_ptr error);
    bool failed() const { return static_cast<bool>(error_); }
    // Waits for the workers, polling; returns when they are done.
    void supervise(const std::function<bool(const SearchState&)>& poll);
    // Where the caller's thread is the worker: it polls between two nodes.
    void listen_with(const std::function<bool(const SearchState&)>& poll) { poll_ = &poll; }
    SearchResult result();

    // A search saved, and resumed. Only while no worker runs.
    TreeState save() const;
    void restore(const TreeState& state);
    // After a pause: makes ready for workers again. False if the search has ended.
    bool unpause();

  private:
    SearchState snapshot() const;
    void finish(SearchStop stop);
    void listen(std::unique_lock<std::mutex>& lock, const std::function<bool(const SearchState&)>& poll);
    void pause();
    void account(Frame& frame);
    void insert(NodePtr node);
    NodePtr pop();
    bool worth_diving(const Node<Frame>& child) const;

    const Model& model_;
    const Fixes root_fix_;
    const std::vector<Index>& twin_;
    std::vector<std::vector<Index>> later_;
    bool has_twins_ = false;
    const SearchOptions& options_;
    PseudoCosts pseudo_;
    Attempts attempts_;
    std::atomic<double> objective_;
    std::atomic<bool> halt_{false};
    const Alarm alarm_{&halt_};
    std::atomic<double> nodes_{0};

    mutable std::mutex mutex_;
    std::condition_variable wake_workers_, wake_main_;
    std::atomic<std::int64_t> frame_bytes_{0};  // before the heap, whose frames count down when they go
    std::vector<NodePtr> heap_;
    double heap_bytes_ = 0;
    bool depth_first_ = false, done_ = false, improved_ = false;
    int active_;
    SearchStop stop_ = SearchStop::optimal;
    std::exception_ptr error_;
    std::vector<Index> support_;
    std::vector<double> working_;  // bound of the node that each worker has in hand; infinite: none
    const std::function<bool(const SearchState&)>* poll_ = nullptr;
    double listened_ = 0;
    double nodes_before_ = 0, paused_at_ = 0, pause_after_ = INFINITY;
    double start_, solves_ = 0, frames_ = 0, depth_ = 0, pruned_ = INFINITY;
    std::vector<Record> records_;
    std::vector<FrameRecord> frame_records_;
    double record_bytes_ = 0;
    bool records_dropped_ = false;
};

}  // namespace parsifal

#include "search/tree.ipp"
#include "search/tree_state.ipp"
