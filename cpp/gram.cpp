#include "gram.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "threads.hpp"

namespace parsifal {

MatrixXd gram(const ConstMatrix& a, const ConstMatrix& b) {
    constexpr Index width = 96;
    const bool symmetric = a.data() == b.data() && a.cols() == b.cols() && a.outerStride() == b.outerStride();
    MatrixXd result(a.cols(), b.cols());
    std::vector<std::pair<Index, Index>> blocks;
    for (Index j = 0; j < b.cols(); j += width)
        for (Index i = symmetric ? j : 0; i < a.cols(); i += width) blocks.emplace_back(i, j);
    const double work = static_cast<double>(a.rows()) * static_cast<double>(a.cols()) * static_cast<double>(b.cols());
    parallel_for(blocks.size(), work < 1e7 ? 1 : available_cores(), [&](std::size_t task) {
        const auto [i, j] = blocks[task];
        const Index rows = std::min(width, a.cols() - i), columns = std::min(width, b.cols() - j);
        result.block(i, j, rows, columns).noalias() = a.middleCols(i, rows).transpose() * b.middleCols(j, columns);
        if (symmetric && i != j) result.block(j, i, columns, rows) = result.block(i, j, rows, columns).transpose();
    });
    return result;
}

}  // namespace parsifal
