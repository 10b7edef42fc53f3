"""Mutated model files: each opens and predicts numbers, or is refused with an error of ours; nothing dies of it."""

from __future__ import annotations

import contextlib
import io
import json
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, issparse

import comitia
from comitia import ENSEMBLES, ComitiaError, ModelFileError
from comitia.datasets import make_joint
from comitia.losses import Constraints
from comitia.model_file._model import known_types
from tests.attack.run import Log, clock

SECONDS = 60
DATA = make_joint(60, 4, 3, dependence=0.7, random_state=1).dataset
FRAME = pd.DataFrame(DATA.X[:, :2], columns=["a", "b"]).assign(
    colour=pd.Categorical.from_codes(np.arange(60) % 3, ["red", "green", "blue"]), text=["u", "v"] * 30
)
BINARY = np.array(["no", "yes"])[DATA.Y[:, 0]]


LIMITS = Constraints(at_least=1, at_most=2, implies=((0, 1),))
FITTED: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "array": (DATA.X, DATA.Y, {"loss": "f1", "oob_score": True}),
    "frame": (FRAME, DATA.Y, {"loss": "f1"}),
    "binary": (DATA.X, BINARY, {"loss": "f1"}),
    "sparse": (csr_array(DATA.X), csr_array(DATA.Y), {"loss": "jaccard", "reading": "seen", "sparse_output": True}),
    "limits": (
        DATA.X,
        DATA.Y,
        {"oob_score": True, "aggregation": "oob", "calibration": "isotonic", "constraints": LIMITS},
    ),
    "cuts": (DATA.X, DATA.Y, {"oob_score": True, "loss": "macro-f1", "calibration": "oob", "pool": "median"}),
}
"""What models are fitted on and with, so that files hold whatever an ensemble may keep."""
MADE = {**ENSEMBLES, "bagging": comitia.MultilabelBaggingClassifier, "voting": comitia.MultilabelVotingClassifier}
"""Whatever can be saved; the last two with ensembles of ours as members, since files of others need trust."""


def prepare(folder: Path) -> None:
    """Save models of every ensemble: of arrays, frames and sparse matrices, chosen, calibrated and limited."""
    for kind, make in MADE.items():
        for name, (X, Y, options) in FITTED.items():
            with warnings.catch_warnings(action="ignore"):
                model = _small(kind, make, name, options).fit(X, Y)
                if kind == "voting" and "calibration" in options:
                    model.tune(X, Y)
            comitia.save(model, folder / f"{kind}-{name}.skops")


def _small(kind: str, make: Any, name: str, options: dict[str, Any]) -> Any:
    both = [("trees", comitia.EMODTClassifier(8)), ("lines", comitia.EBRClassifier(n_estimators=8))]
    if kind == "committee":
        return make(both, **{key: value for key, value in options.items() if key != "oob_score"})
    if kind == "voting":  # what is out of bag is unknown there, and nothing is chosen by it
        return make(both, **{k: v for k, v in options.items() if k != "oob_score" and v != "oob"}, weights=[1, 2])
    if kind == "bagging":
        return make(comitia.EMODTClassifier(2), 12 if len(options) > 2 else 4, random_state=0, **options)
    if kind == "ecc" and name in ("sparse", "limits"):
        options = {**options, "chain_method": "joint"}
    # Calibrations and cuts need what several members have not seen of every instance.
    return make(n_estimators=4 if len(options) < 3 else 12, random_state=0, **options)


def work(folder: Path, cases: range, seed: int) -> None:
    """Mutate, open and use a model file for each case."""
    models = sorted(folder.glob("*.skops"))
    originals = {path.stem: _members(path) for path in models}
    for path in models:  # compiled once, before any clock runs
        _use(comitia.load(path), path.stem, np.random.default_rng(0))
    log = Log(folder)
    warnings.simplefilter("ignore")
    for case in cases:
        rng = np.random.default_rng([seed, case])
        log.begin(case)
        name = models[rng.integers(len(models))].stem
        path = folder / "mutant.bin"
        path.write_bytes(mutant(originals[name], rng))
        with clock(SECONDS):
            log.end(case, _ending(path, name, rng, case))


def _ending(path: Path, name: str, rng: np.random.Generator, case: int) -> str:
    try:
        opened = comitia.load(path)
    except ModelFileError as error:
        if "\n" in str(error) or _out_of_bounds(error):
            return f"WRONG: case {case}: refused by {error!r}"
        return "refused when opened"
    except BaseException as error:
        return f"WRONG: case {case}: opening raised {error!r}"
    try:
        _use(opened, name, rng)
    except ComitiaError:
        return "refused when used"
    except BaseException as error:
        return f"WRONG: case {case} ({name}): using raised {error!r}"
    return "opened and predicts numbers"


def _out_of_bounds(error: BaseException | None) -> bool:
    """Whether compiled code has left an array, which without the checks would have been a crash."""
    while error is not None:
        if isinstance(error, IndexError) and str(error) == "index is out of bounds":
            return True
        error = error.__cause__
    return False


def _use(model: Any, name: str, rng: np.random.Generator) -> None:
    X = FRAME if "frame" in name else FITTED[name.partition("-")[2]][0] * 10.0 ** rng.integers(-3, 4)
    p = _dense(model.predict_proba(X))
    assert len(p) == 60
    assert np.isfinite(p).all()
    assert (p >= 0).all()
    assert (p <= 1 + 1e-9).all()
    losses = ["hamming", "subset01", "f1", "jaccard"]
    hows = ["gmv", "bmv", "ctp", "ptc-mode", "ptc-mbr", *(["ctp-joint"] if model.supports_joint else [])]
    model.predict(X)
    model.set_params(loss=losses[rng.integers(4)], aggregation=hows[rng.integers(len(hows))])
    predicted = _dense(model.predict(X))
    assert len(predicted) == 60
    if "binary" not in name:
        assert np.isin(predicted, (0, 1)).all()


def _dense(found: Any) -> Any:
    return found.toarray() if issparse(found) else found


def mutant(members: dict[str, bytes], rng: np.random.Generator) -> bytes:
    """Return a model file with one to three things changed."""
    members = dict(members)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        kind = rng.choice(["array", "schema", "member"], p=[0.55, 0.35, 0.1])
        if kind == "array":
            names = [name for name in members if name.endswith(".npy")]
            if names:
                name = names[rng.integers(len(names))]
                members[name] = _mutated_array(members[name], rng)
        elif kind == "schema":
            with contextlib.suppress(ValueError, KeyError):
                tree = json.loads(members["schema.json"])
                _mutate_schema(tree, rng)
                members["schema.json"] = json.dumps(tree).encode()
        else:
            _mutate_members(members, rng)
    file = _archive(members, zipfile.ZIP_DEFLATED if rng.random() < 0.01 else zipfile.ZIP_STORED, rng)
    return _flipped(file, rng) if rng.random() < 0.05 else file


DTYPES = (
    "b1",
    "i1",
    "i2",
    "i4",
    "i8",
    "u1",
    "u2",
    "u4",
    "u8",
    "f2",
    "f4",
    "f8",
    "c16",
    ">i4",
    ">i8",
    ">f8",
    "U3",
    "S2",
)
NUMBERS = (0, 1, -1, 2, 3, 5, 127, -128, 255, 2**15, 2**31 - 1, -(2**31), 2**32, 2**53, 2**62, 0.5, -0.5, 1e308, -1e308)
ODD = (*NUMBERS, np.nan, np.inf, -np.inf, 5e-324)


def _mutated_array(content: bytes, rng: np.random.Generator) -> bytes:
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except Exception:  # it was mutated before
        return _flipped(content, rng)
    kind = rng.integers(9)
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        if kind <= 3 and array.size:  # some other values
            array = array.copy()
            flat = array.reshape(-1)
            for _ in range(rng.choice([1, 1, 2, 5])):
                _put(flat, int(rng.integers(flat.size)), rng)
        elif kind == 4:
            with contextlib.suppress(ValueError, TypeError):
                array = array.astype(DTYPES[rng.integers(len(DTYPES))])
        elif kind == 5:
            array = _other_shape(array, rng)
        elif kind == 6 and array.ndim:
            array = rng.permuted(array, axis=int(rng.integers(array.ndim)))
        elif kind == 7 and array.size:  # the bytes are the same, and mean something else
            other = np.dtype(DTYPES[rng.integers(12)])
            if array.nbytes % other.itemsize == 0:
                array = np.frombuffer(array.tobytes(), other)
                if rng.random() < 0.5:
                    array = array.astype(np.load(io.BytesIO(content)).dtype)
        else:
            return _flipped(content, rng)
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _put(flat: Any, at: int, rng: np.random.Generator) -> None:
    with contextlib.suppress(ValueError, OverflowError, TypeError):
        if rng.random() < 0.5 and flat.dtype.kind in "iuf":
            near = flat[rng.integers(flat.size)]
            flat[at] = near + rng.integers(-2, 3)
        else:
            flat[at] = ODD[rng.integers(len(ODD))]


def _other_shape(array: Any, rng: np.random.Generator) -> Any:
    match rng.integers(8):
        case 0:
            return array[: len(array) // 2] if array.ndim else array
        case 1:
            return array[..., :-1] if array.ndim else array
        case 2:
            return array[..., 1:] if array.ndim else array
        case 3:
            return np.concatenate([array, array]) if array.ndim else array
        case 4:
            return array.T
        case 5:
            return array.reshape(-1)
        case 6:
            return array[None]
        case _:
            return array[:0] if array.ndim else array


TEXTS = ("null", "true", "false", "0", "-1", "1", "7", "1e308", "NaN", "Infinity", "[]", "{}", '""', '"f1"', '"oob"')
HOSTILE = (*TEXTS, '"ctp-joint"', '"\\u001b[31m"', "[1, 2]", '{"a": 1}', "9" * 5000, '"' + "x" * 9999 + '"', "[" * 500)


def _mutate_schema(tree: Any, rng: np.random.Generator) -> None:
    places = list(_places(tree))
    holder, key = places[rng.integers(len(places))]
    node = holder[key]
    match rng.integers(9):
        case 0 | 1:
            texts = [(h, k) for h, k in places if h[k].get("__loader__") == "JsonNode"]
            holder, key = texts[rng.integers(len(texts))]
            holder[key] = {**holder[key], "content": HOSTILE[rng.integers(len(HOSTILE))], "__id__": _new(rng)}
        case 2:
            other_holder, other = places[rng.integers(len(places))]
            holder[key] = {**other_holder[other], "__id__": _new(rng)}
        case 3:
            if isinstance(holder, dict):
                del holder[key]
            else:
                holder.pop(key)
        case 4:
            loader = str(rng.choice(list(known_types())))
            module, _, name = str(rng.choice(sorted(known_types()[loader]))).rpartition(".")
            node.update(__module__=module, __class__=name)
            if rng.random() < 0.3:
                node["__loader__"] = loader
        case 5:
            other_holder, other = places[rng.integers(len(places))]
            node["__id__"] = other_holder[other].get("__id__")
        case 6:
            if isinstance(holder, list):
                holder.append(node)
            else:
                holder[str(rng.choice(["_beliefs", "members_", "loss", "predict", "_encoder", "n_jobs", "x"]))] = node
        case 7:
            arrays = [h[k] for h, k in places if "file" in h[k]]
            arrays[rng.integers(len(arrays))]["file"] = arrays[rng.integers(len(arrays))]["file"]
        case _:
            fields = [field for field in node if field != "content"]
            node[fields[rng.integers(len(fields))]] = [None, 1, "x", [], {}, True][rng.integers(6)]


def _new(rng: np.random.Generator) -> int:
    return int(rng.integers(1, 2**40))


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Where the nodes of a schema are, each in its dict or list."""
    items = list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree)) if isinstance(tree, list) else []
    for key, value in items:
        if isinstance(value, dict) and isinstance(value.get("__loader__"), str):
            yield tree, key
        yield from _places(value)


def _mutate_members(members: dict[str, bytes], rng: np.random.Generator) -> None:
    names = list(members)
    name, other = (names[rng.integers(len(names))] for _ in range(2))
    match rng.integers(5):
        case 0:
            del members[name]
        case 1:
            members[name] = members[name][: rng.integers(len(members[name]) + 1)]
        case 2:
            members[name], members[other] = members[other], members[name]
        case 3:
            members[name] = _flipped(members[name], rng)
        case _:
            members["more.npy"] = members[name]


def _flipped(content: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice([1, 2, 8])):
        if changed:
            changed[rng.integers(len(changed))] = rng.integers(256)
    return bytes(changed)


def _members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _archive(members: dict[str, bytes], compression: int, rng: np.random.Generator) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive, warnings.catch_warnings(action="ignore"):
        for name, content in members.items():
            archive.writestr(name, content)
        if members and rng.random() < 0.01:
            archive.writestr(*next(iter(members.items())))
    return buffer.getvalue()
