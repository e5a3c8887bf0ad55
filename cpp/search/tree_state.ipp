// Definitions of tree.hpp: a search saved, and resumed.
#pragma once

#include <map>

#include "search/tree.hpp"

namespace parsifal {

template <NodeModel Model>
TreeState Tree<Model>::save() const {
    const std::lock_guard lock(mutex_);
    TreeState state;
    std::map<const Frame*, Index> position;
    for (const NodePtr& node : heap_) {
        const Frame& frame = *node->frame;
        const auto [found, fresh] = position.emplace(&frame, static_cast<Index>(state.frames.size()));
        if (fresh) state.frames.push_back(model_.save(frame));
        const Fixes fix = node->unfolded();
        NodeState out{found->second,
                      std::vector<signed char>(fix.begin(), fix.end()),
                      node->index,
                      node->v,
                      node->bound,
                      node->depth,
                      node->record,
                      {},
                      {},
                      {},
                      node->branch};
        for (const Candidate& c : node->candidates) {
            out.candidate.push_back(c.position);
            out.fraction.push_back(c.fraction);
            out.candidate_v.push_back(c.v);
        }
        state.nodes.push_back(std::move(out));
    }
    state.records = records_;
    state.frame_records = frame_records_;
    state.records_dropped = records_dropped_ || options_.certificate_limit <= 0;
    state.pseudo_costs = pseudo_.save();
    state.support = support_;
    state.objective = objective_;
    state.improved = improved_;
    state.pruned = pruned_;
    state.nodes_seen = nodes_;
    state.solves = solves_;
    state.frames_made = frames_;
    state.depth = depth_;
    return state;
}

template <NodeModel Model>
void Tree<Model>::restore(const TreeState& state) {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Frame>> frames;
    for (const FrameState& f : state.frames) {
        frames.push_back(model_.gather(f));
        account(*frames.back());
    }
    for (const NodeState& n : state.nodes) {
        auto node = std::make_unique<Node<Frame>>();
        node->frame = frames.at(static_cast<size_t>(n.frame));
        node->fix = Eigen::Map<const Fixes>(n.fix.data(), static_cast<Index>(n.fix.size()));
        node->index = n.index;
        node->v = n.v;
        node->bound = n.bound;
        node->depth = n.depth;
        node->record = n.record;
        node->branch = n.branch;
        for (size_t c = 0; c < n.candidate.size(); ++c)
            node->candidates.push_back({n.candidate[c], node->frame->columns.at(static_cast<size_t>(n.candidate[c])),
                                        n.fraction[c], n.candidate_v[c]});
        insert(std::move(node));
    }
    records_ = state.records;
    frame_records_ = state.frame_records;
    records_dropped_ = state.records_dropped;
    for (const Record& r : records_)
        record_bytes_ += 64 + 16.0 * static_cast<double>(r.w.size()) + 8.0 * static_cast<double>(r.fixed.size());
    for (const FrameRecord& f : frame_records_) record_bytes_ += 16.0 * static_cast<double>(f.columns.size());
    pseudo_.restore(state.pseudo_costs);
    if (state.improved && state.objective < objective_) {
        objective_ = state.objective;
        support_ = state.support;
        improved_ = true;
    }
    pruned_ = state.pruned;
    nodes_before_ = state.nodes_seen;
    nodes_ = state.nodes_seen;
    solves_ = state.solves;
    frames_ = state.frames_made;
    depth_ = state.depth;
}

}  // namespace parsifal
