// A saved search, to and from a dict of arrays.
#pragma once

#include <nanobind/nanobind.h>

#include "search/tree_state.hpp"

nanobind::dict to_dict(const parsifal::TreeState& state);
parsifal::TreeState from_dict(const nanobind::dict& d, parsifal::Index columns);
