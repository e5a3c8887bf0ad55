// The state of a search that its workers share: open nodes, incumbent, bound, records. One mutex guards it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "alarm.hpp"
#include "branching.hpp"
#include "frame.hpp"
#include "search.hpp"

namespace parsifal {

struct Node {
    std::shared_ptr<const Frame> frame;
    Fixes fix;  // on the frame's columns
    std::vector<Index> index;
    std::vector<double> v;  // sparse primal point: start for the children
    double bound = -INFINITY;
    int depth = 0;
    int record = -1;
    std::vector<Candidate> candidates;  // fractional columns, for branching

    size_t bytes() const {
        // 80: what the allocator adds to five blocks.
        return sizeof(Node) + 80 + static_cast<size_t>(fix.size()) + 8 * (index.capacity() + v.capacity()) +
               sizeof(Candidate) * candidates.capacity();
    }
    VectorXd dense() const;
};

using NodePtr = std::unique_ptr<Node>;

class Tree {
  public:
    Tree(const Quadratic& root, const std::vector<Index>& twin, double objective, const SearchOptions& options);

    const Quadratic& root() const { return root_; }
    const SearchOptions& options() const { return options_; }
    PseudoCosts& pseudo() { return pseudo_; }

    // Twins: the earlier one that column j repeats (-1: none), and the later ones that repeat it.
    bool has_twins() const { return has_twins_; }
    Index earlier(Index j) const { return twin_[static_cast<size_t>(j)]; }
    const std::vector<Index>& later(Index j) const { return later_[static_cast<size_t>(j)]; }

    double objective() const { return objective_; }
    double cutoff() const { return cutoff(objective_); }
    double cutoff(double objective) const;
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
    SearchResult result();

    // A search put aside, and taken up again. Only while no worker runs.
    TreeState save() const;
    void restore(const TreeState& state);
    // After a pause: makes ready for workers again. False if the search has ended.
    bool unpause();

  private:
    SearchState snapshot() const;
    void finish(SearchStop stop);
    void pause();
    void account(Frame& frame);
    void insert(NodePtr node);
    NodePtr pop();
    bool worth_diving(const Node& child) const;

    const Quadratic& root_;
    const std::vector<Index>& twin_;
    std::vector<std::vector<Index>> later_;
    bool has_twins_ = false;
    const SearchOptions& options_;
    PseudoCosts pseudo_;
    std::atomic<double> objective_;
    std::atomic<bool> halt_{false};
    const Alarm alarm_{&halt_};

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
    double nodes_before_ = 0, paused_at_ = 0, pause_after_ = INFINITY;
    double start_, nodes_ = 0, solves_ = 0, frames_ = 0, depth_ = 0, pruned_ = INFINITY;
    std::vector<Record> records_;
    std::vector<FrameRecord> frame_records_;
    double record_bytes_ = 0;
    bool records_dropped_ = false;
};

}  // namespace parsifal
