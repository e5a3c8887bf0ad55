// The compiled core without Python: a few known answers, for compilers, standard libraries and processors that have no
// interpreter here (scripts/portable.py). Exit code 0 and a digest of generated data, or what was wrong.
#include <Eigen/Cholesky>
#include <bit>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/threads.hpp"
#include "read/generate.hpp"
#include "read/gram.hpp"
#include "read/scan.hpp"
#include "search/search.hpp"

namespace {

using namespace parsifal;

void require(bool holds, const std::string& what) {
    if (!holds) throw std::runtime_error(what);
}

// Numbers that do not depend on the standard library's distributions.
MatrixXd random_matrix(Index rows, Index columns, unsigned seed) {
    std::mt19937 engine(seed);
    MatrixXd out(rows, columns);
    for (Index j = 0; j < columns; ++j)
        for (Index i = 0; i < rows; ++i) out(i, j) = static_cast<double>(engine()) / 0x1p31 - 1.0;
    return out;
}

std::uint64_t digest(const std::vector<float>& entries) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const float entry : entries) hash = (hash ^ std::bit_cast<std::uint32_t>(entry)) * 0x100000001b3u;
    return hash;
}

// Random123's known answer, and the digest of two columns, which every machine must make the same.
std::uint64_t generated() {
    const std::uint32_t zeros[4] = {}, published[4] = {0x5F6FB709, 0x0D893F64, 0x4F121F81, 0x4F730A48};
    std::uint32_t words[4];
    philox(zeros, zeros, words);
    for (int word = 0; word < 4; ++word) require(words[word] == published[word], "philox differs");
    std::vector<float> first(3 * kGroupRows), second(first.size());
    generate_column(7, 2, 3, 5, nullptr, 0.0f, 1.0f, first.data());
    generate_column(7, 2, 3, 6, first.data(), 0.5f, 0.8660254f, second.data());
    first.insert(first.end(), second.begin(), second.end());
    return digest(first);
}

struct Sums {
    std::vector<double> xv, sums, squares;
    explicit Sums(std::size_t p) : xv(p), sums(p), squares(p) {}
    ScanOutput out() { return {xv.data(), sums.data(), squares.data()}; }
    bool operator==(const Sums&) const = default;
};

template <class T>
void scanned(DType dtype, Index n, Index p, bool row_major) {
    const MatrixXd x = random_matrix(n, p, 1);
    std::vector<T> stored(static_cast<std::size_t>(n * p));
    for (Index j = 0; j < p; ++j)
        for (Index i = 0; i < n; ++i)
            stored[static_cast<std::size_t>(row_major ? i * p + j : j * n + i)] = static_cast<T>(x(i, j));
    const auto item = static_cast<std::ptrdiff_t>(sizeof(T));
    const StridedMatrix matrix{reinterpret_cast<const std::byte*>(stored.data()),
                               dtype,
                               static_cast<std::size_t>(n),
                               static_cast<std::size_t>(p),
                               row_major ? p * item : item,
                               row_major ? item : n * item};
    const VectorXd v = random_matrix(n, 1, 2), weight = random_matrix(n, 1, 3), shift = random_matrix(p, 1, 4);
    for (const double* weights : {static_cast<const double*>(nullptr), weight.data()}) {
        const ScanInput in{v.data(), shift.data(), weights, weights};
        Sums one(static_cast<std::size_t>(p)), three(one);
        require(scan(matrix, in, one.out(), {1}), "a scan is not finite");
        require(scan(matrix, in, three.out(), {3}), "a scan is not finite");
        require(one == three, "a scan depends on the number of threads");
        for (Index j = 0; j < p; ++j) {
            double xv = 0, sum = 0, square = 0;
            for (Index i = 0; i < n; ++i) {
                const double d = static_cast<double>(static_cast<T>(x(i, j))) - shift[j], a = weights ? weight[i] : 1;
                xv += v[i] * d;
                sum += a * d;
                square += a * d * d;
            }
            const auto at = static_cast<std::size_t>(j);
            const double most = 1e-12 * static_cast<double>(n);
            require(std::abs(one.xv[at] - xv) + std::abs(one.sums[at] - sum) < most, "a scan's sums are wrong");
            require(std::abs(one.squares[at] - square) < most, "a scan's squares are wrong");
        }
    }
}

// c(S) by a Cholesky factor; the least over all supports of k columns.
double enumerated(const MatrixXd& x, const VectorXd& y, double gamma, Index k, std::vector<Index>& support) {
    double best = INFINITY;
    for (unsigned set = 0; set < 1u << x.cols(); ++set) {
        if (std::popcount(set) != k) continue;
        std::vector<Index> columns;
        for (Index j = 0; j < x.cols(); ++j)
            if (set >> j & 1u) columns.push_back(j);
        const MatrixXd part = x(Eigen::all, columns);
        MatrixXd system = part.transpose() * part;
        system.diagonal().array() += 1 / gamma;
        const VectorXd w = system.llt().solve(part.transpose() * y);
        const double value = (y - part * w).squaredNorm() / 2 + w.squaredNorm() / (2 * gamma);
        if (value < best) best = value, support = columns;
    }
    return best;
}

void searched(double gamma, int threads) {
    const Index n = 30, p = 12, k = 4;
    const MatrixXd x = random_matrix(n, p, 5);
    const VectorXd y = x.leftCols(k).rowwise().sum() + 2 * random_matrix(n, 1, 6);
    const MatrixXd products = gram(x, x, {1});
    const VectorXd start = VectorXd::Zero(p), slope = x.transpose() * y;
    const Quadratic problem{{gamma, 0.0, k}, products, start, slope, y.squaredNorm() / 2};
    SearchOptions options;
    options.gap = {.relative = 1e-7, .absolute = 0};
    options.threads = threads;
    options.rank = p;
    const SearchResult found =
        search(GramSurvivors(problem), Fixes::Zero(p), start, VectorXd::Zero(p), std::vector<Index>(p, -1),
               y.squaredNorm() / 2, options, {.poll = [](const SearchState&) { return false; }}, Data());
    std::vector<Index> support;
    const double least = enumerated(x, y, gamma, k, support);
    require(found.stop == SearchStop::optimal, "a search did not end");
    require(found.support == support, "a search found another support than enumeration");
    require(std::abs(found.objective - least) < 1e-9 * least, "a search's objective is wrong");
    require(found.lower_bound <= least * (1 + 1e-12), "a search's lower bound is above the optimum");
    require(found.lower_bound >= least * (1 - 2e-7), "a search's lower bound is too low");
}

void stopped() {
    const Alarm alarm(0.0, [] {});
    bool rang = false;
    try {
        parallel_for(8, {2, alarm}, [](std::size_t) {});
    } catch (const TimeUp&) {
        rang = true;
    }
    require(rang, "an alarm was not heard");
}

}  // namespace

int main() {
    try {
        const std::uint64_t data = generated();
        for (const bool row_major : {false, true})
            for (const Index n : {1, 7, 64, 515})
                for (const Index p : {1, 9, 70}) {
                    scanned<double>(DType::f64, n, p, row_major);
                    scanned<float>(DType::f32, n, p, row_major);
                }
        for (const double gamma : {0.05, 1.0, 100.0})
            for (const int threads : {1, 2}) searched(gamma, threads);
        stopped();
        std::printf("generated %016llx\n", static_cast<unsigned long long>(data));
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
