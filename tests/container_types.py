"""Containers of every type that outcomes come in.

A container is made of a list of M lists. `TYPES` has, for each type, the function that makes it
and the outcomes that it can hold: "equal" means lists of equal length, "scored" no None, "binary"
only 0 and 1, "whole" no fractions.
"""

from __future__ import annotations

import array
import collections
import enum
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

Rows = list[list[Any]]


class Type(NamedTuple):
    make: Callable[[Rows], Any]
    holds: tuple[str, ...] = ()


class Category(enum.IntEnum):
    ZERO, ONE, TWO, THREE, FOUR = range(5)


class Tensor:
    """A stand-in for a tensor of torch: NumPy cannot convert it before it is detached."""

    def __init__(self, values, dtype: str = "torch.float32", attached: bool = True):
        self._values, self.dtype, self._attached = np.asarray(values, float), dtype, attached
        self.ndim, self.shape = self._values.ndim, self._values.shape

    def detach(self):
        return Tensor(self._values, self.dtype, attached=False)

    def cpu(self):
        return self

    def float(self):
        return Tensor(self._values, attached=self._attached)

    def item(self):
        return self._values.item()

    def tolist(self):
        return self._values.tolist()

    def __iter__(self):
        return (Tensor(value, self.dtype, self._attached) for value in self._values)

    def __len__(self):
        return len(self._values)

    def __array__(self, dtype=None, copy=None):
        if self._attached or self.dtype == "torch.bfloat16":
            raise RuntimeError("cannot convert this tensor")
        return self._values


def arrow_type(rows: Rows) -> pa.DataType:
    values = [value for row in rows for value in row]
    return pa.float64() if any(isinstance(value, float) for value in values) else pa.int64()


def dtype_of(rows: Rows) -> Any:
    return np.float64 if arrow_type(rows) == pa.float64() else np.int64


def strided(rows: Rows) -> np.ndarray:
    padded: np.ndarray = np.full((2 * len(rows), 3 * len(rows[0])), 7, dtype_of(rows))
    padded[::2, ::3] = rows
    return padded[::2, ::3]


def read_only(rows: Rows) -> np.ndarray:
    outcomes: np.ndarray = np.array(rows)
    outcomes.flags.writeable = False
    return outcomes


def masked(rows: Rows) -> np.ma.MaskedArray:
    mask = [[value is None for value in row] for row in rows]
    filled = [[1 if value is None else value for value in row] for row in rows]
    return np.ma.array(filled, mask=mask)


def object_rows(rows: Rows) -> np.ndarray:
    outcomes: np.ndarray = np.empty(len(rows), object)
    outcomes[:] = [np.array(row, object) for row in rows]
    return outcomes


def records(rows: Rows) -> np.ndarray:
    kind = [(f"s{i}", dtype_of(rows)) for i in range(len(rows[0]))]
    return np.array([tuple(row) for row in rows], kind)


def frame(dtype: str) -> Callable[[Rows], pd.DataFrame]:
    def make(rows: Rows) -> pd.DataFrame:
        names = [f"s{i}" for i in range(len(rows[0]))]
        nullable = pd.DataFrame(rows, columns=names, dtype=object)
        whole = "Float64" if dtype_of(rows) is np.float64 else "Int64"
        return nullable.astype(whole).astype(dtype)

    return make


def frame_of_mixed_types(rows: Rows) -> pd.DataFrame:
    outcomes = frame("Float64")(rows)
    kinds = ["object", "Float64", "category", "double[pyarrow]", "float64"]
    for i, name in enumerate(outcomes):
        outcomes[name] = outcomes[name].astype(kinds[i % len(kinds)])
    return outcomes.set_axis(outcomes.columns[::-1], axis=1)


def columns(rows: Rows) -> dict[str, list[Any]]:
    kind = float if dtype_of(rows) is np.float64 else int
    return {
        f"s{i}": [None if value is None else kind(value) for value in column]
        for i, column in enumerate(zip(*rows, strict=True))
    }


def lists(make: Callable[[pa.DataType], pa.DataType]) -> Callable[[Rows], pa.Array]:
    return lambda rows: pa.array(rows, make(arrow_type(rows)))


def fixed_size_list(rows: Rows) -> pa.Array:
    return pa.array(rows, pa.list_(arrow_type(rows), len(rows[0])))


def chunked(rows: Rows) -> pa.ChunkedArray:
    kind = pa.list_(arrow_type(rows))
    return pa.chunked_array([pa.array(rows[:1], kind), pa.array(rows[1:], kind)], kind)


def sliced(rows: Rows) -> pa.Array:
    kind = pa.list_(arrow_type(rows))
    return pa.array([[3, None], *rows, None], kind).slice(1, len(rows))


def encoded(encode: Callable[[pa.Array], pa.Array]) -> Callable[[Rows], pa.Array]:
    def make(rows: Rows) -> pa.Array:
        offsets = pa.array(np.cumsum([0, *map(len, rows)]), pa.int32())
        values = pa.array([value for row in rows for value in row], arrow_type(rows))
        return pa.ListArray.from_arrays(offsets, encode(values))

    return make


def decimals(rows: Rows) -> list[list[Decimal | None]]:
    return [[None if value is None else Decimal(value) for value in row] for row in rows]


def repeated_labels(rows: Rows) -> pd.DataFrame:
    rows_of_labels = [7, *[8] * (len(rows) - 1)]
    return pd.DataFrame(rows, rows_of_labels, [i % 2 for i in range(len(rows[0]))])


def mixed_row(row: list[Any]) -> list[Any]:
    """Return the values as bools, integers and floats in turn."""
    return [kind(value) for kind, value in zip((bool, int, float) * len(row), row, strict=False)]


def saved(rows: Rows) -> datasets.Dataset:
    kind = datasets.Value(str(arrow_type(rows)).replace("double", "float64"))
    return datasets.Dataset.from_dict({"R": rows}, features=datasets.Features({"R": [kind]}))


def polars_frame(rows: Rows, dtype: Any) -> pl.DataFrame:
    return pl.DataFrame(columns(rows)).cast(dtype)


def numpy_types() -> dict[str, Type]:
    whole = {"int8", "uint8", ">i2", "uint16", "int32", ">u4", "int64", "uint64"}
    real = {"float16", ">f2", "float32", "float64", ">f8", "longdouble"}
    types = {"numpy bool": Type(lambda rows: np.array(rows, bool), ("equal", "scored", "binary"))}
    for name in sorted(whole | real):
        holds = ("equal", "scored", *(["whole"] if name in whole else []))
        types[f"numpy {name}"] = Type(partial(np.array, dtype=name), holds)
    return types


SCORED = ("equal", "scored")
WHOLE = ("scored", "whole")

TYPES: dict[str, Type] = {
    "list": Type(lambda rows: rows),
    "tuple": Type(lambda rows: tuple(map(tuple, rows))),
    "deque": Type(lambda rows: collections.deque(map(collections.deque, rows))),
    "generator": Type(lambda rows: (iter(row) for row in rows)),
    "values of a dict": Type(lambda rows: dict(enumerate(rows)).values()),
    "floats": Type(lambda rows: [[*map(float, row)] for row in rows], ("scored",)),
    "bools, integers and floats": Type(
        lambda rows: [mixed_row(row) for row in rows], ("scored", "binary")
    ),
    "decimals": Type(decimals),
    "tensor": Type(Tensor, SCORED),
    "tensor of bfloat16": Type(lambda rows: Tensor(rows, "torch.bfloat16"), (*SCORED, "binary")),
    "list of tensors": Type(lambda rows: [Tensor(row) for row in rows], ("scored",)),
    "lists of tensors without axes": Type(
        lambda rows: [[Tensor(value) for value in row] for row in rows], ("scored",)
    ),
    "bools": Type(
        lambda rows: [[v if v is None else v == 1 for v in r] for r in rows], ("binary",)
    ),
    "IntEnum": Type(lambda rows: [list(map(Category, row)) for row in rows], WHOLE),
    "array.array": Type(lambda rows: [array.array("d", row) for row in rows], ("scored",)),
    "memoryview": Type(lambda rows: np.array(rows).data, SCORED),
    "memoryview of int8": Type(lambda rows: np.array(rows, np.int8).data, (*SCORED, "whole")),
    "list of memoryviews": Type(lambda rows: [memoryview(bytes(row)) for row in rows], WHOLE),
    "list of arrays": Type(lambda rows: [np.array(row) for row in rows], ("scored",)),
    "list of NumPy scalars": Type(lambda rows: [list(np.array(row)) for row in rows], ("scored",)),
    "list of 0-d arrays": Type(
        lambda rows: [[v if v is None else np.array(v) for v in row] for row in rows]
    ),
    **numpy_types(),
    "numpy strided": Type(strided, SCORED),
    "numpy Fortran": Type(lambda rows: np.asfortranarray(rows), SCORED),
    "numpy transposed": Type(lambda rows: np.array(rows).T.copy().T, SCORED),
    "numpy reversed": Type(lambda rows: np.array(rows)[:, ::-1], SCORED),
    "numpy read-only": Type(read_only, SCORED),
    "numpy object": Type(lambda rows: np.array(rows, object), ("equal",)),
    "numpy rows of objects": Type(object_rows),
    "numpy masked": Type(masked, ("equal",)),
    "numpy records": Type(records, SCORED),
    **{f"pandas {name}": Type(frame(name), SCORED) for name in ("float32", "float64")},
    **{
        f"pandas {name}": Type(frame(name), ("equal", *extra))
        for name, extra in {
            "object": (),
            "category": (),
            "Float64": (),
            "double[pyarrow]": (),
            "Int64": ("whole",),
            "Int8": ("whole",),
            "int64[pyarrow]": ("whole",),
            "int64": ("whole", "scored"),
            "boolean": ("binary",),
            "bool[pyarrow]": ("binary",),
            "bool": ("binary", "scored"),
        }.items()
    },
    "pandas mixed": Type(frame_of_mixed_types, SCORED),
    "pandas repeated labels": Type(repeated_labels, SCORED),
    "pandas index": Type(lambda rows: pd.DataFrame(rows, range(len(rows))[::-1]), SCORED),
    "pandas column": Type(lambda rows: pd.Series(rows, range(len(rows))[::-1], dtype=object)),
    "pandas column of arrays": Type(lambda rows: pd.Series(list(map(np.array, rows))), ("scored",)),
    "pandas Arrow column": Type(
        lambda rows: pd.Series(rows, dtype=pd.ArrowDtype(pa.list_(arrow_type(rows))))
    ),
    "polars": Type(lambda rows: pl.DataFrame(columns(rows)), ("equal",)),
    **{
        f"polars {dtype}": Type(partial(polars_frame, dtype=dtype), ("equal", *extra))
        for dtype, extra in (
            (pl.UInt8, ("whole",)),
            (pl.Boolean, ("binary",)),
            (pl.Float32, ()),
            (pl.Decimal(9, 3), ()),
        )
    },
    "polars lazy": Type(lambda rows: pl.LazyFrame(columns(rows)), ("equal",)),
    "polars column of decimals": Type(
        lambda rows: pl.Series(decimals(rows), dtype=pl.List(pl.Decimal(10, 3)))
    ),
    "polars column": Type(lambda rows: pl.Series("R", pa.array(rows, pa.list_(arrow_type(rows))))),
    "polars array": Type(lambda rows: pl.Series("R", np.array(rows)), SCORED),
    "Arrow list": Type(lists(pa.list_)),
    "Arrow large list": Type(lists(pa.large_list)),
    "Arrow list view": Type(lists(pa.list_view)),
    "Arrow float16": Type(
        lambda rows: pa.array(
            [[None if x is None else np.float16(x) for x in row] for row in rows],
            pa.list_(pa.float16()),
        )
    ),
    "Arrow bool": Type(lambda rows: pa.array(rows).cast(pa.list_(pa.bool_())), ("binary",)),
    "Arrow fixed-size list": Type(fixed_size_list, ("equal",)),
    "Arrow chunked": Type(chunked),
    "Arrow sliced": Type(sliced),
    "Arrow list view of int8": Type(lambda r: pa.array(r, pa.list_view(pa.int8())), ("whole",)),
    "Arrow decimals": Type(lambda rows: pa.array(decimals(rows), pa.list_(pa.decimal128(9, 3)))),
    "Arrow dictionary": Type(encoded(lambda values: values.dictionary_encode())),
    "Arrow run-end encoded": Type(encoded(pc.run_end_encode)),
    "Arrow scalars": Type(lambda rows: [list(row.values) for row in lists(pa.list_)(rows)]),
    "Arrow table": Type(lambda rows: pa.table(columns(rows)), ("equal",)),
    "Arrow record batch": Type(lambda rows: pa.table(columns(rows)).to_batches()[0], ("equal",)),
    "dataset column": Type(lambda rows: saved(rows)["R"]),
    "dataset NumPy": Type(lambda rows: saved(rows).with_format("numpy")["R"], ("scored",)),
    "dataset Arrow": Type(lambda rows: saved(rows).with_format("arrow")["R"]),
    "dataset pandas": Type(lambda rows: saved(rows).with_format("pandas")["R"], ("scored",)),
}


def tensor_types() -> dict[str, Type]:
    """Return types of torch and JAX, which take seconds to import and are not in the test extra."""
    import jax.numpy as jnp  # type: ignore[import-not-found]
    import torch

    types = {"JAX": Type(jnp.array, SCORED), "torch": Type(torch.tensor, SCORED)}
    for name in ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int64"):
        holds = ("equal", "scored", *(["whole"] if "int" in name else []))
        types[f"torch {name}"] = Type(partial(torch.tensor, dtype=getattr(torch, name)), holds)
    return types | {
        "JAX bfloat16": Type(lambda rows: jnp.array(rows, jnp.bfloat16), SCORED),
        "JAX float8": Type(lambda rows: jnp.array(rows, jnp.float8_e5m2), ("scored", "binary")),
        "JAX scalars": Type(lambda rows: [list(map(jnp.array, row)) for row in rows], ("scored",)),
        "torch bool": Type(lambda r: torch.tensor(r).bool(), ("equal", "scored", "binary")),
        "torch gradient": Type(
            lambda rows: torch.tensor(rows, dtype=torch.bfloat16, requires_grad=True) * 1, SCORED
        ),
        "torch transposed": Type(lambda rows: torch.tensor(rows).T.contiguous().T, SCORED),
        "torch scalars": Type(
            lambda rows: [[torch.tensor(value) for value in row] for row in rows], ("scored",)
        ),
        "torch rows": Type(lambda rows: [torch.tensor(row) for row in rows], ("scored",)),
    }


def can_hold(kind: Type, rows: Rows, is_binary: bool = True) -> bool:
    """Return whether a container of a type can hold outcomes, which may be more than binary."""
    values = [value for row in rows for value in row]
    scored = [value for value in values if value is not None]
    facts = {
        "equal": len(set(map(len, rows))) == 1,
        "scored": len(scored) == len(values),
        "binary": is_binary and set(scored) <= {0, 1},
        "whole": not any(isinstance(value, float) for value in scored),
    }
    return all(facts[fact] for fact in kind.holds)
