"""Reads a Trainwarden run with NumPy, and libzstd where payloads are compressed. `python3 read_run.py RUN` lists it."""
import ctypes, json, pathlib, struct, sys, urllib.parse
import numpy as np

DTYPES = {"BOOL": "?", "BF16": "u2", "F8_E4M3": "u1", "F8_E5M2": "u1"}  # NumPy lacks the last three: their bits
COLUMNS = "tensor flags shape count nan_count zero_count min max abs_min abs_max sum mean variance l1 l2 hash approximate".split()
SAMPLES = [None, "delta8", "delta16", "delta32", "value"]
KINDS = "operator backward user kernel copy unknown python".split()
REDUCTIONS = "min max mean std variance sum l1 l2 prod".split()
def plain(name): return urllib.parse.unquote_to_bytes(name).decode("utf-8", "surrogateescape")

def tensors(document):  # (name, array) of a safetensors document
    start = 8 + int.from_bytes(document[:8], "little")
    header = json.loads(document[8:start])
    notes = header.pop("__metadata__", {})
    for key, entry in header.items():
        begin, end = entry["data_offsets"]
        dtype = DTYPES.get(entry["dtype"]) or entry["dtype"][0].lower() + str(int(entry["dtype"][1:]) // 8)
        array = np.frombuffer(document[start + begin:start + end], dtype).reshape(entry["shape"])
        if "strings:" + key in notes:
            note = json.loads(notes["strings:" + key])
            texts = np.split(array, np.cumsum(note["lengths"]))[:-1]
            array = np.array([bytes(text) for text in texts], object).reshape(note["shape"])
        elif "dtype:" + key in notes: array = array.view(notes["dtype:" + key])[..., 0]
        yield plain(key), array

def records(kind, columns, names):  # (tensor name, form, value)
    if kind == 3: return [(name, "value", array) for name, array in columns.items()]
    if kind == 5: return [(names.get(i, i), "scalar", value) for i, value in zip(columns["tensor"], columns["value"])]
    if kind == 14: return [(names.get(columns["tensor"][i], ""), "abs " * columns["abs"][i] + REDUCTIONS[code],
                            columns["value"][i]) for i, code in enumerate(columns["reduction"])]
    columns.setdefault("approximate", 0 * columns["flags"])  # missing where no row is
    columns["shape"] = np.split(columns["shape"], np.cumsum(columns["rank"]))[:-1]
    rows = [dict(zip(COLUMNS, row)) for row in zip(*(columns[key] for key in COLUMNS))]
    return [(names.get(row["tensor"]), "statistics" if row["flags"] & 1 else "shape", row) for row in rows]

def series(columns):  # (metric id, times, values) of a frame of samples
    taken, bits = {}, np.unpackbits(columns.get("present", np.zeros(0, "u1")), bitorder="little")
    rows = zip(*(columns[key] for key in "metric first encoding decimals sparse".split()))
    for metric, first, encoding, decimals, sparse in rows:
        times, at, scale = columns["tick"], taken.get(encoding, 0), 10.0 ** decimals
        if sparse: times, bits = times[bits[:len(times)] == 1], bits[-(-len(times) // 8) * 8:]
        values = np.full(len(times), first)
        if encoding: values[1:] = columns.get(SAMPLES[encoding], values)[at:at + len(times) - 1]
        if 0 < encoding < 4: values[1:] = np.cumsum([np.rint(first * scale), *values[1:]])[1:] / scale
        taken[encoding] = at + len(times) - 1
        yield metric, times, values

def narrow(columns, key, rows):
    values = columns.get(key, np.zeros(rows, "u1"))
    wide = values == np.iinfo(values.dtype).max
    values = values.astype("u8")
    values[wide] = columns.get(key + "_wide", values[:0])
    return values

def texts(columns, key):
    parts = np.split(columns[key + "_text"], np.cumsum(columns[key + "_length"]))[:-1]
    return [bytes(part).decode("utf-8", "surrogateescape") for part in parts]

def calls(columns):  # (name, kind, track, start in ns, duration in ns, sequence) of a frame of operator calls
    counts = columns.get("track_calls", np.zeros(0, "u4"))
    label, delta, duration, sequence = (narrow(columns, key, counts.sum()).astype("i8") for key in
                                        ("label", "start_delta", "duration", "sequence"))
    starts = [columns["start"][0] + np.cumsum(part) for part in np.split(delta, np.cumsum(counts))]
    tracks = np.repeat(np.array(texts(columns, "track"), object) if len(counts) else [], counts)
    names = texts(columns, "name") if len(counts) else []
    for row in zip(label, tracks, np.concatenate(starts), duration, sequence):
        pair = columns["first_sequence"][0] + row[4] - 1 if row[4] else -1
        yield names[columns["label_name"][row[0]]], KINDS[columns["label_kind"][row[0]]], *row[1:4], pair

def content(payload, flags):
    if not flags & 8: return payload
    library, size = ctypes.CDLL("libzstd.so.1"), ctypes.c_size_t
    library.ZSTD_getFrameContentSize.restype, library.ZSTD_decompress.restype = ctypes.c_uint64, size
    length = library.ZSTD_getFrameContentSize(payload, size(len(payload)))
    if length > 64 * len(payload): raise ValueError("a compressed payload that does not say how long its content is")
    out = ctypes.create_string_buffer(length)
    if library.ZSTD_decompress(out, size(length), payload, size(len(payload))) != length: raise ValueError("damaged")
    return out.raw

def frames(path):  # (kind, step, payload)
    data, at = path.read_bytes(), 0
    while at + 64 <= len(data):
        magic, kind, flags, size, offset, step = struct.unpack_from("<4sxBH8xQQ8xq", data, at)
        whole = magic == b"TWM1" and offset == at and at + 64 + size <= len(data)
        if whole: yield kind, step, content(data[at + 64:at + 64 + size], flags)
        at += 64 + (size + 63) // 64 * 64 if whole else 64  # after damage the next frame is at a multiple of 64

def journals(folder): return sorted(pathlib.Path(folder).glob("journal/*/seg-*.tw"))

def read_run(folder):  # (worker, global step, tensor name, form, value) of every step that was ended
    for path in journals(folder):
        names, found = {}, []
        for kind, step, payload in frames(path):
            if kind == 2: names.update((t["id"], plain(t["name"])) for t in json.loads(payload)["tensors"])
            if kind in (3, 4, 5, 14): found += [(step, r) for r in records(kind, dict(tensors(payload)), names)]
            if kind == 10: yield from ((path.parent.name, step, *r) for of, r in found if of == step)
            if kind == 10: found = []

def read_samples(folder):  # (worker, metric, times, values): what was sampled beside the steps, frame by frame
    for path in journals(folder):
        metrics = {}
        for kind, _, payload in frames(path):
            if kind == 2: metrics.update((m["id"], m) for m in json.loads(payload).get("metrics", []))
            if kind == 6: yield from ((path.parent.name, metrics[i], *s) for i, *s in series(dict(tensors(payload))))

def read_operators(folder):  # (worker, global step, call as above) of every operator call
    for path in journals(folder):
        for kind, step, payload in frames(path):
            if kind == 15: yield from ((path.parent.name, step, *call) for call in calls(dict(tensors(payload))))

if __name__ == "__main__":
    for record in read_run(sys.argv[1]): print(*record)
    for worker, metric, *samples in read_samples(sys.argv[1]): print(worker, metric["name"], *samples)
    for call in read_operators(sys.argv[1]): print(*map(repr, call))
