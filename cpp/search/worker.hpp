// A worker takes nodes from the tree, branches, solves the children and hands them back.
#pragma once

#include <memory>
#include <vector>

#include "bound/restarts.hpp"
#include "search/tree.hpp"

namespace parsifal {

// How a node came about: a side of a column below the record of its parent; column < 0: the same node solved again.
struct Decision {
    int parent = -1;
    Index column = -1;
    signed char side = 0;
};

template <NodeModel Model>
class Worker {
  public:
    using Frame = typename Model::Frame;
    using FramePtr = std::shared_ptr<const Frame>;
    using Solver = typename Model::Solver;
    using NodePtr = typename Tree<Model>::NodePtr;

    Worker(Tree<Model>& tree, int id) : tree_(tree), id_(id) {}

    void loop();

    // Solves one node. Returns it if it must be branched on; null if its bound passes the cutoff.
    NodePtr evaluate(const FramePtr& frame, Fixes fix, const VectorXd& start, const Decision& decision, int depth,
                     double parent_bound);

    bool completes_at_once(const FramePtr& frame, const Fixes& fix);
    bool completes_root(Node<Frame>& node);

  private:
    void enter(const FramePtr& frame);
    NodePtr unrelaxed(const FramePtr& frame, Fixes fix, const Decision& decision, int depth, double bound);
    bool completes(const Node<Frame>& node, int solves);
    void offer(const Fixes& fix, std::vector<Index> support);
    std::vector<NodePtr> exhaust(NodePtr node);
    Index in_the_way(const Node<Frame>& node) const;
    std::vector<NodePtr> towards_relaxation(NodePtr node, Index position);
    int note(const Node<Frame>& node, const Decision& decision, RecordKind kind, double bound);
    std::vector<NodePtr> expand(NodePtr node);
    NodePtr reframe(NodePtr node);
    Candidate pick(const Node<Frame>& node, const VectorXd& v);
    Fixes decide(const Node<Frame>& node, Index position, signed char side) const;
    bool possible(const Frame& frame, Fixes& fix) const;
    void any_candidate(Node<Frame>& node) const;
    bool integral(const Fixes& fix) const;
    void offer_rounding(const Fixes& fix);
    void wander(double bound, int solves);
    Index fix_more(Fixes& fix, Record& entry);
    void collect_candidates(Node<Frame>& node) const;
    void write_record(Node<Frame>& node, Record entry);
    static Decision again(const Node<Frame>& node) { return {.parent = node.record}; }

    Tree<Model>& tree_;
    int id_;
    FramePtr frame_;
    std::unique_ptr<Solver> solver_;
    double solves_ = 0;
    int rounds_ = 0;
    std::unique_ptr<Restarts> restarts_;
    double walk_credit_ = 0;
};

}  // namespace parsifal

#include "search/worker.ipp"
#include "search/worker_completions.ipp"
#include "search/worker_incumbents.ipp"
