#include "search/search.hpp"

#include "search/least_squares.hpp"
#include "search/tree_search.hpp"

namespace parsifal {

SearchResult search(const Survivors& root, const ConstFix& fix, const ConstVector& w, const ConstVector& diagonal,
                    const std::vector<Index>& twin, double objective, const SearchOptions& options,
                    const SearchCalls& calls, const Data& data) {
    const LeastSquares model(root, options.rank, options.tighten_at_most, twin, data);
    FrameState live;
    for (Index j = 0; j < root.size(); ++j)
        if (fix[j] >= 0) live.columns.push_back(j);
    live.w = w(live.columns);
    live.diagonal = diagonal(live.columns);
    live.tightened = (live.diagonal.array() > 0).any();
    return search_tree(model, live, fix(live.columns), twin, objective, options, calls);
}

}  // namespace parsifal
