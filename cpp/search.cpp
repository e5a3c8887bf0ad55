#include "search.hpp"

#include <exception>
#include <system_error>
#include <thread>

#include "tree.hpp"
#include "tree_state.hpp"
#include "worker.hpp"

namespace parsifal {

namespace {

// The root node.
void plant(Tree& tree, const Quadratic& root, const ConstFix& fix, const ConstVector& w, const ConstVector& diagonal) {
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
}

// Runs the workers until the search ends or is paused; the first of them begins with `first`.
void work(Tree& tree, const SearchOptions& options, const std::function<bool(const SearchState&)>& poll,
          const std::function<void()>& first) {
    // The workers are threads of their own even if there is one, so that the caller's can listen for Ctrl-C.
    std::vector<std::jthread> workers;
    workers.reserve(static_cast<size_t>(options.threads));
    for (int t = 0; t < options.threads; ++t) {
        try {
            workers.emplace_back([&tree, &first, t] {
                try {
                    if (t == 0 && first) first();
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
}

}  // namespace

SearchResult search(const Quadratic& root, const ConstFix& fix, const ConstVector& w, const ConstVector& diagonal,
                    const std::vector<Index>& twin, double objective, const SearchOptions& options,
                    const std::function<bool(const SearchState&)>& poll, const TreeState* state,
                    const std::function<void(const TreeState&)>& save) {
    Tree tree(root, twin, objective, options);
    std::function<void()> first;
    if (state) {
        tree.restore(*state);
    } else {
        // With thousands of columns the root node takes seconds, too: a worker solves it, so that somebody listens.
        tree.hold(0);
        first = [&] { plant(tree, root, fix, w, diagonal); };
    }
    do {
        work(tree, options, poll, first);
        first = nullptr;
        // A worker that failed has lost its node.
        if (save && !tree.failed()) save(tree.save());
    } while (tree.unpause());
    return tree.result();
}

}  // namespace parsifal
