// A search put aside, to and from a dict of arrays.
#pragma once

#include <nanobind/nanobind.h>

#include "tree_state.hpp"

nanobind::dict to_dict(const parsifal::TreeState& state);
parsifal::TreeState from_dict(const nanobind::dict& d, parsifal::Index columns);
