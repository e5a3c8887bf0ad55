// What is asked of single columns, where it is not the same for all: prices, signs, and side constraints.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "bound/side_rows.hpp"

namespace parsifal {

struct ColumnRules {
    std::vector<double> price;      // of every column
    std::vector<signed char> sign;  // 1: w_j >= 0, -1: w_j <= 0, 0: either
    SideRows rows;
    // Rows that say "at most so many of these" and share no column: for every column its cap, or -1, and their limits.
    // Empty: there are none.
    std::vector<Index> cap, most;
    bool uniform = true;  // whether all prices are the same
    bool any_sign = false;

    ColumnRules(std::vector<double> prices, std::vector<signed char> signs, SideRows side, std::vector<Index> caps,
                std::vector<Index> limits)
        : price(std::move(prices)),
          sign(std::move(signs)),
          rows(std::move(side)),
          cap(std::move(caps)),
          most(std::move(limits)) {
        for (const double own : price) uniform = uniform && own == price[0];
        for (const signed char own : sign) any_sign = any_sign || own != 0;
    }

    // How far a number reaches on the side that the column's sign allows.
    double reach(Index j, double value) const {
        const signed char own = sign[static_cast<size_t>(j)];
        return own == 0 ? std::abs(value) : std::max(0.0, own > 0 ? value : -value);
    }
    // Away from zero by its error; with a sign, to that side.
    double lengthened(Index j, double value, double error) const {
        const signed char own = sign[static_cast<size_t>(j)];
        return own == 0 ? value + std::copysign(error, value) : own > 0 ? value + error : value - error;
    }
    double price_of(Index j) const { return price[static_cast<size_t>(j)]; }
    double largest_price() const { return price.empty() ? 0.0 : *std::max_element(price.begin(), price.end()); }

    // On these columns alone (ascending), all others being out.
    std::shared_ptr<const ColumnRules> take(const std::vector<Index>& columns) const {
        std::vector<double> prices;
        std::vector<signed char> signs;
        std::vector<Index> caps;
        for (const Index j : columns) {
            prices.push_back(price[static_cast<size_t>(j)]);
            signs.push_back(sign[static_cast<size_t>(j)]);
            if (!most.empty()) caps.push_back(cap[static_cast<size_t>(j)]);
        }
        return std::make_shared<const ColumnRules>(std::move(prices), std::move(signs), rows.take(columns),
                                                   std::move(caps), most);
    }
};

}  // namespace parsifal
