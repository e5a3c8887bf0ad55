#include "read/gram.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace parsifal {

MatrixXd gram(const ConstMatrix& a, const ConstMatrix& b, const Team& team) {
    constexpr Index width = 96;
    const bool symmetric = a.data() == b.data() && a.cols() == b.cols() && a.outerStride() == b.outerStride();
    MatrixXd result(a.cols(), b.cols());
    std::vector<std::pair<Index, Index>> blocks;
    for (Index j = 0; j < b.cols(); j += width)
        for (Index i = symmetric ? j : 0; i < a.cols(); i += width) blocks.emplace_back(i, j);
    const double work = static_cast<double>(a.rows()) * static_cast<double>(a.cols()) * static_cast<double>(b.cols());
    parallel_for(blocks.size(), team.worth(work < 1e7 ? 0 : kBytesWorthThreads), [&](std::size_t task) {
        const auto [i, j] = blocks[task];
        const Index rows = std::min(width, a.cols() - i), columns = std::min(width, b.cols() - j);
        multiply_transposed(a.middleCols(i, rows), b.middleCols(j, columns), result.block(i, j, rows, columns));
        if (symmetric && i != j) result.block(j, i, columns, rows) = result.block(i, j, rows, columns).transpose();
    });
    return result;
}

MatrixXd submatrix(const ConstMatrix& a, const std::vector<Index>& keep, const Team& team) {
    const auto m = static_cast<Index>(keep.size());
    MatrixXd result(m, m);
    parallel_for(keep.size(), team.worth(sizeof(double) * keep.size() * keep.size()), [&](std::size_t task) {
        const auto column = a.col(keep[task]);
        double* to = result.col(static_cast<Index>(task)).data();
        for (Index i = 0; i < m; ++i) to[i] = column[keep[static_cast<std::size_t>(i)]];
    });
    return result;
}

}  // namespace parsifal
