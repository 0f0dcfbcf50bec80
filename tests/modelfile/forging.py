"""Write model files that `save_model` would not write: changed, forged, and of version 2 of the format."""

import io
import json
import zipfile
from copy import copy

import numpy as np
import skops.io

from headcount.modelfile import manifest


def members_of(path):
    """Return all members of a zip."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def repack(path, change=None, seal=True, extra=(), compression=zipfile.ZIP_STORED):
    """Rewrite a model file with changed fields of the manifest or members and, unless ``seal`` is false, matching checksums."""
    members = members_of(path)
    fields = json.loads(members.pop("manifest.json"))
    if change is not None:
        change(fields, members)
    fields.pop("seal", None)
    first = manifest.sealed(fields, members) if seal else json.dumps(fields | {"seal": "0" * 64}).encode()
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("manifest.json", first)
        for name, data in [*members.items(), *extra]:
            archive.writestr(name, data)


def forge(path, change):
    """Rewrite a model file whose nodes and arrays, by number, ``change(nodes, arrays)`` has changed."""

    def changed(_, members):
        nodes = json.loads(members["model.json"])["nodes"]
        numbers = sorted(int(name.removesuffix(".npy")) for name in members if name.endswith(".npy"))
        arrays = [np.load(io.BytesIO(members[f"{number}.npy"])) for number in numbers]
        change(nodes, arrays)
        members.clear()
        members["model.json"] = json.dumps({"nodes": nodes}).encode()
        for number, array in enumerate(arrays):
            file = io.BytesIO()
            np.save(file, array)
            members[f"{number}.npy"] = file.getvalue()

    repack(path, changed)


def learnt(nodes, kind):
    """Return what the first fitted node of a type, or quantifier of a class, has learnt, by name."""
    node = next(node for node in nodes if kind in (node["type"], node.get("class")) and node["learnt"]["dict"])
    return dict(node["learnt"]["dict"]), node


def set_learnt(node, name, value):
    """Replace what a node has learnt under a name."""
    node["learnt"] = {"dict": [[key, value if key == name else one] for key, one in node["learnt"]["dict"]]}


def save_version_2(model, path):
    """Write a model file as version 2 of the format was written: by skops."""
    quantifier = copy(model.quantifier)
    if getattr(quantifier, "validation_items_", None) is not None:
        quantifier.validation_items_ = None
    held = {"quantifier": quantifier, "reference": model.reference, "reference_codes": model.reference_codes}
    rows, features = model.kept_items() or (None, None)
    body = skops.io.dumps(held | {"item_rows": rows, "item_features": features}, compression=zipfile.ZIP_DEFLATED)
    fields = manifest.described(model, "2026-11-01T00:00:00+00:00") | {"version": 2}
    members = {"model.skops": body}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", manifest.sealed(fields, members))
        archive.writestr("model.skops", body)


def change_body(change):
    """Return a change for `repack` that alters the members of the skops file of version 2."""

    def changed(_, members):
        with zipfile.ZipFile(io.BytesIO(members["model.skops"])) as archive:
            content = {name: archive.read(name) for name in archive.namelist()}
        change(content)
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in content.items():
                archive.writestr(name, data)
        members["model.skops"] = out.getvalue()

    return changed
