// Branch and bound on the dual.
//
// A node is a set of fixed columns with a dual point v whose value D(v) bounds every completion. Popping a node
// branches on one fractional column, solves both children from the parent's v, prunes those whose bound passes the
// cutoff, and fixes what the bound allows. Order: best bound first, with a dive into the better child; depth first once
// the open nodes exceed their memory.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "bound/data.hpp"
#include "bound/gap.hpp"
#include "bound/survivors.hpp"
#include "search/branching.hpp"
#include "search/model.hpp"

namespace parsifal {

struct TreeState;

enum class SearchStop { optimal = 0, time_limit = 1, node_limit = 2, interrupted = 3, paused = 4 };

struct SearchOptions {
    Gap gap;
    double time_limit = INFINITY;  // seconds
    double node_limit = INFINITY;
    int threads = 1;
    bool at_once = false;  // whether the root's completions are gone through before there is a relaxation
    bool here = false;     // by the calling thread, for what takes a moment: starting one would take longer
    Branching branching = Branching::pseudo;
    double memory_limit = 2e9;     // bytes of open nodes before the search turns depth first
    double certificate_limit = 0;  // bytes of tree records kept; 0: none
    double save_every = INFINITY;  // seconds between calls of `save`
    Index rank = 0;                // min(n, p) of the data: tightening can help only below it
    Index tighten_at_most = 100;   // columns
    double dive = 0.1;             // the part of the gap by which a child may be worse than the best node and go first
    bool completions = true;       // whether nodes with a relaxation may be closed by their completions
    double exhaust_work = 4e8;     // multiplications that a node without one is worth before it is split
};

struct SearchState {
    double objective, lower_bound, nodes, open, seconds;
};

// What a record says: a dual value, or that the completions of its node have been gone through.
enum class RecordKind : signed char { dual_value = 0, exhausted = 1 };

// One solved node, for the certificate. Node r's decision is (column, side) below `parent`; column < 0: the same node
// solved again (in a new frame). fixed: columns that v fixes for the subtree, +1 + j for in, -1 - j for out.
struct Record {
    int parent;
    Index column;
    signed char side;
    int frame;
    double bound;
    std::vector<Index> index;
    std::vector<double> w;
    std::vector<Index> fixed;
    RecordKind kind = RecordKind::dual_value;
};

struct SearchResult {
    SearchStop stop;
    double objective, lower_bound;
    std::vector<Index> support;  // empty with objective = the given one: nothing better was found
    bool improved = false;
    double nodes = 0, solves = 0, seconds = 0, frames = 0, depth = 0;
    bool certificate_complete = false;
    std::vector<Record> records;
    std::vector<FrameRecord> frame_records;
};

// Whom a search reports to, and where it takes up: `poll` is called from the calling thread about twenty times a
// second; true stops the search. `state` is a saved search of the same problem, or null; `save` gets the state now and
// then, and at the end, if it is given.
struct SearchCalls {
    std::function<bool(const SearchState&)> poll;
    const TreeState* state = nullptr;
    std::function<void(const TreeState&)> save = nullptr;
};

// `fix` and `w` are the root's fixes and relaxation solution, `diagonal` the root's tightening (zeros: none),
// `objective` the incumbent's value. twin[j] = i < j if column j repeats column i, which then goes first; -1 otherwise.
// `data` tell more than inner products where there is no ridge.
SearchResult search(const Survivors& root, const ConstFix& fix, const ConstVector& w, const ConstVector& diagonal,
                    const std::vector<Index>& twin, double objective, const SearchOptions& options,
                    const SearchCalls& calls, const Data& data);

}  // namespace parsifal
