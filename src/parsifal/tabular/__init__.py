"""Files of data and of models: tables read and encoded, models written as plain JSON."""

from __future__ import annotations

from parsifal.tabular.encoding import Encoded, encode
from parsifal.tabular.modelfile import SavedModel
from parsifal.tabular.proof import load_proof, save_proof
from parsifal.tabular.reading import Source, Table, read_table
from parsifal.tabular.recipe import Recipe
from parsifal.tabular.settling import Remark, Settled, settle

__all__ = [
    "Encoded",
    "Recipe",
    "Remark",
    "SavedModel",
    "Settled",
    "Source",
    "Table",
    "encode",
    "load_proof",
    "read_table",
    "save_proof",
    "settle",
]
