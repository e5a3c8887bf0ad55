#include "search.hpp"

#include <exception>
#include <system_error>
#include <thread>

#include "tree.hpp"
#include "worker.hpp"

namespace parsifal {

SearchResult search(const Quadratic& root, const ConstFix& fix, const ConstVector& w, const ConstVector& diagonal,
                    const std::vector<Index>& twin, double objective, const SearchOptions& options,
                    const std::function<bool(const SearchState&)>& poll) {
    Tree tree(root, twin, objective, options);
    std::vector<Index> columns;
    for (Index j = 0; j < root.size(); ++j)
        if (fix[j] >= 0) columns.push_back(j);
    const Fixes fix_live = fix(columns);
    const VectorXd w_live = w(columns), diagonal_live = diagonal(columns);
    auto frame = make_frame(root, columns, w_live, diagonal_live);
    frame->tightened = (diagonal_live.array() > 0).any();
    tree.register_frame(*frame);
    if (NodePtr node = Worker(tree, 0).evaluate(frame, fix_live, frame->v0, -1, -1, 0, 0, -INFINITY))
        tree.push(std::move(node));

    // The workers are threads of their own even if there is one, so that the caller's can listen for Ctrl-C.
    std::vector<std::jthread> workers;
    workers.reserve(static_cast<size_t>(options.threads));
    for (int t = 0; t < options.threads; ++t) {
        try {
            workers.emplace_back([&tree, t] {
                try {
                    Worker(tree, t).loop();
                } catch (...) {
                    tree.fail(std::current_exception());
                }
            });
        } catch (const std::system_error&) {
            // No more threads to be had: those that started do the work.
            tree.lose_workers(options.threads - t);
            if (t == 0) throw;
            break;
        }
    }
    tree.supervise(poll);
    workers.clear();  // joins
    return tree.result();
}

}  // namespace parsifal
