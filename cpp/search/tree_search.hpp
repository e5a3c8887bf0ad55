// The search of a tree, for any model.
#pragma once

#include <exception>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "search/search.hpp"
#include "search/tree.hpp"
#include "search/worker.hpp"

namespace parsifal {

// The root node.
template <NodeModel Model>
void plant(Tree<Model>& tree, const FrameState& root, const Fixes& fix) {
    const std::shared_ptr<typename Model::Frame> frame = tree.model().gather(root);
    tree.register_frame(*frame);
    Worker<Model> worker(tree, 0);
    if constexpr (CompletingSolver<typename Model::Solver>)
        if (tree.options().at_once && worker.completes_at_once(frame, fix)) return;
    auto node = worker.evaluate(frame, fix, frame->start(), {}, 0, -INFINITY);
    if (!node) return;
    if constexpr (CompletingSolver<typename Model::Solver>)
        if (worker.completes_root(*node)) return;
    tree.push(std::move(node));
}

// Runs the workers until the search ends or is paused; the first of them begins with `first`.
template <NodeModel Model>
void work(Tree<Model>& tree, const SearchOptions& options, const std::function<bool(const SearchState&)>& poll,
          const std::function<void()>& first) {
    if (options.here) {
        tree.listen_with(poll);
        tree.lose_workers(options.threads - 1);
        if (first) first();
        Worker<Model>(tree, 0).loop();
        return;
    }
    // The workers are threads of their own even if there is one, so that the caller's can listen for Ctrl-C.
    Joined workers;
    for (int t = 0; t < options.threads; ++t) {
        try {
            workers.start([&tree, &first, t] {
                try {
                    if (t == 0 && first) first();
                    Worker<Model>(tree, t).loop();
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
    workers.join();
}

// As `search` in search.hpp; `root` and `fix` are on the columns that are not out at the root.
template <NodeModel Model>
SearchResult search_tree(const Model& model, const FrameState& root, const Fixes& fix, const std::vector<Index>& twin,
                         double objective, const SearchOptions& options, const SearchCalls& calls) {
    Fixes root_fix = Fixes::Constant(model.size(), -1);
    root_fix(root.columns) = fix;
    Tree<Model> tree(model, std::move(root_fix), twin, objective, options);
    std::function<void()> first;
    if (calls.state) {
        tree.restore(*calls.state);
    } else {
        // With thousands of columns the root node takes seconds, too: a worker solves it, so that somebody listens.
        tree.hold(0);
        first = [&] { plant(tree, root, fix); };
    }
    do {
        work(tree, options, calls.poll, first);
        first = nullptr;
        // A worker that failed has lost its node.
        if (calls.save && !tree.failed()) calls.save(tree.save());
    } while (tree.unpause());
    return tree.result();
}

}  // namespace parsifal
