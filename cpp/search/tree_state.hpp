// A saved search: open nodes with the frames they live in, records, pseudo-costs and counts. Plain vectors, for
// a file; the search goes on from them as if it had not stopped.
#pragma once

#include <vector>

#include "search/branching.hpp"
#include "search/model.hpp"
#include "search/search.hpp"

namespace parsifal {

struct NodeState {
    Index frame;                   // position in TreeState::frames
    std::vector<signed char> fix;  // on the frame's columns
    std::vector<Index> index;
    std::vector<double> v;
    double bound;
    int depth, record;
    std::vector<Index> candidate;  // position in the frame
    std::vector<double> fraction, candidate_v;
    std::vector<Index> branch;
};

struct TreeState {
    std::vector<FrameState> frames;
    std::vector<NodeState> nodes;
    std::vector<Record> records;
    std::vector<FrameRecord> frame_records;
    bool records_dropped = false;
    SeenGains pseudo_costs;
    std::vector<Index> support;
    double objective = INFINITY, pruned = INFINITY;
    bool improved = false;
    double nodes_seen = 0, solves = 0, frames_made = 0, depth = 0;
};

}  // namespace parsifal
