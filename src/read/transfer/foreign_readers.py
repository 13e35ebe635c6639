"""Reads an export with the readers of its format and compares it with the JSON export of the same run.

usage: foreign_readers.py FORMAT OUT TRUTH.json        prints what differs and exits 1 when anything does
"""
import collections
import csv
import io
import json
import math
import pathlib
import sys

import numpy as np

NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
WIDENED = {"bfloat16": "float32", "float8_e4m3": "float32", "float8_e5m2": "float32"}
UNREADABLE_FOR_SMDEBUG = ("int8 int16 uint16 uint32 uint64 complex64 bfloat16 float8_e4m3 float8_e5m2").split()
DRAWN = "mean std min max abs_mean l2".split()

problems = []
compared = 0


def number(value):
    return NOT_FINITE[value] if isinstance(value, str) else value


def expect(found, expected, what):
    """Arrays and numbers, NaN equal to NaN."""
    global compared
    compared += 1
    found, expected = np.asarray(found), np.asarray(expected)
    same = found.shape == expected.shape and found.dtype.kind == expected.dtype.kind
    if same and expected.dtype.kind in "fc":
        same = np.array_equal(found, expected.astype(found.dtype), equal_nan=True)
    elif same:
        same = np.array_equal(found, expected)
    if not same:
        problems.append(f"{what}: expected {expected!r}, found {found!r}")


def array_of(record):
    """The record's elements as NumPy holds them."""
    if record["dtype"] == "string":
        return np.array(record["elements"], dtype=str).reshape(record["shape"])
    dtype = np.dtype(WIDENED.get(record["dtype"], record["dtype"]))
    if dtype.kind == "c":
        elements = [complex(number(real), number(imaginary)) for real, imaginary in record["elements"]]
    else:
        elements = [number(element) for element in record["elements"]]
    return np.array(elements, dtype=dtype).reshape(record["shape"])


def reductions_of(record):
    names = "min max mean std variance sum l1 l2 prod".split()
    return {key: number(record[key]) for name in names for key in (name, "abs_" + name) if key in record}


def without_second(records):
    """The records as formats hold them that have one place for a name: see kTwiceUnderOneName."""
    whole = {(record["worker"], record["step"], record["tensor"]) for record in records if record["form"] == "value"}
    taken, kept = set(), []
    for record in records:
        place = (record["worker"], record["step"], record["tensor"])
        if record["form"] == "scalar" and place in whole:
            continue
        record = {key: value for key, value in record.items() if (*place, key) not in taken}
        if record["form"] == "reductions":
            taken |= {(*place, key) for key in reductions_of(record)}
        kept.append(record)
    return kept


def what_of(record):
    return f"{record['form']} of {record['tensor']} at step {record['step']} of {record['worker']}"


def check_arrays(records, load):
    """npz and safetensors: load(worker, step) gives the arrays of a step by name."""
    for record in records:
        arrays = load(record["worker"], record["step"])
        if record["form"] == "value":
            expect(arrays[record["tensor"]], array_of(record), what_of(record))
        elif record["form"] == "scalar":
            expect(arrays[record["tensor"]], np.float64(number(record["value"])), what_of(record))
        for name, value in reductions_of(record).items():
            expect(arrays[f"reductions/{name}/{record['tensor']}"], np.float64(value), f"{name}, {what_of(record)}")
        if "histogram" in record:
            expect(arrays["histograms/" + record["tensor"]], np.array(record["histogram"], float), what_of(record))


def check_npz(out, records):
    def load(worker, step):
        return np.load(out / worker / f"{step:012}.npz", allow_pickle=False)

    check_arrays(records, load)


def check_safetensors(out, records):
    from safetensors import safe_open
    from safetensors.numpy import load_file

    def load(worker, step):
        file = out / worker / f"{step:012}.safetensors"
        with safe_open(file, framework="np") as document:
            metadata, keys = document.metadata(), set(document.keys())
        assert metadata["step"] == str(step) and metadata["worker"] == worker, metadata
        arrays = {}
        # safetensors for NumPy has neither bfloat16 nor float8; its header and offsets are checked all the same.
        plain = {record["tensor"] for record in records if record.get("dtype") not in WIDENED}
        try:
            arrays = load_file(file)
        except (KeyError, TypeError, AttributeError):
            with safe_open(file, framework="np") as document:
                arrays = {key: document.get_tensor(key) for key in keys if key in plain or "/" in key}
        for key, dtype in metadata.items():
            name = key.removeprefix("dtype:")
            if key.startswith("dtype:complex") or dtype in ("complex64", "complex128"):
                arrays[name] = arrays[name].view(dtype)[..., 0]
            elif dtype == "string":
                note = json.loads(metadata["strings:" + name])
                stream = io.BytesIO(arrays[name].tobytes())
                texts = [stream.read(length).decode() for length in note["lengths"]]
                arrays[name] = np.array(texts, dtype=str).reshape(note["shape"])
        return arrays

    check_arrays([record for record in records if record.get("dtype") not in WIDENED], load)


def check_csv(out, records):
    rows = collections.defaultdict(list)
    with open(out, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows[row["worker"], int(row["step"]), row["tensor"], row["quantity"]].append((row["value"], row["element"]))
    for record in records:
        place = (record["worker"], record["step"], record["tensor"])
        if record["form"] == "value":
            dtype = np.dtype({"string": "U", **WIDENED}.get(record["dtype"], record["dtype"]))
            read = {"f": float, "c": complex, "U": str}.get(dtype.kind, int)
            flat = [read(value) for value, element in rows[*place, "value"] if element]
            found = np.array(flat, dtype=str if dtype.kind == "U" else dtype)
            expect(found, array_of(record).ravel(), what_of(record))
        elif record["form"] == "scalar":
            (found,) = [value for value, element in rows[*place, "value"] if not element]
            expect(float(found), float(number(record["value"])), what_of(record))
        for name, value in reductions_of(record).items():
            found = [float(text) for text, _ in rows[*place, name]]
            if not any(one == value or (one != one and value != value) for one in found):
                problems.append(f"{name} of {what_of(record)}: expected {value}, found {found}")


def check_smdebug(out, records):
    whole = {(record["worker"], record["step"], record["tensor"]) for record in records if record["form"] == "value"}
    import smdebug
    from smdebug.trials import create_trial

    trial = create_trial(str(out))
    assert sorted({record["step"] for record in records}) == trial.steps(), trial.steps()
    assert {record["tensor"] for record in records} == set(trial.tensor_names())
    for record in records:
        tensor, step = trial.tensor(record["tensor"]), record["step"]
        worker = "worker_" + str(int(record["worker"].split("-")[1]))
        mode = smdebug.modes[record["mode"].upper()]
        if mode != smdebug.modes.GLOBAL:
            assert trial.mode(step) == mode and trial.mode_step(step) == record["mode_step"], what_of(record)
        if record["form"] == "value" and record["dtype"] not in UNREADABLE_FOR_SMDEBUG and record["elements"]:
            expected = array_of(record)
            if expected.dtype.kind == "U":
                expected = expected.ravel()
            expect(tensor.value(step, worker=worker), expected, what_of(record))
        elif record["form"] == "scalar":
            expect(tensor.value(step, worker=worker), np.array([float(number(record["value"]))]), what_of(record))
        elif record["form"] == "statistics" and (record["worker"], step, record["tensor"]) not in whole:
            assert tuple(record["shape"]) == tuple(tensor.shape(step, worker=worker)), what_of(record)
        for name, value in reductions_of(record).items():
            found = tensor.reduction_value(step, name.removeprefix("abs_"), worker=worker, abs=name.startswith("abs_"))
            expect(np.float64(np.ravel(found)[0]), np.float64(value), f"{name} of {what_of(record)}")


class Board:
    """What TensorBoard's own reader finds in one of its runs, by tag and step."""

    def __init__(self, folder):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        events = EventAccumulator(str(folder), size_guidance={kind: 0 for kind in
                                                              ("scalars", "histograms", "images", "tensors")})
        events.Reload()
        tags = events.Tags()
        self.scalars = {tag: {event.step: event.value for event in events.Scalars(tag)} for tag in tags["scalars"]}
        self.histograms = {tag: {e.step: e.histogram_value for e in events.Histograms(tag)}
                           for tag in tags["histograms"]}
        self.images = {tag: {event.step: event for event in events.Images(tag)} for tag in tags["images"]}
        self.tensors = {tag: {event.step: event.tensor_proto for event in events.Tensors(tag)}
                        for tag in tags["tensors"]}
        self.plugins = {tag: events.SummaryMetadata(tag).plugin_data.plugin_name for tag in tags["tensors"]}


def check_plugins(folder):
    """The reader of today's TensorBoard sorts every record to a plugin."""
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    plugins = set()
    for file in folder.glob("*tfevents*"):
        for event in EventFileLoader(str(file)).Load():
            plugins |= {value.metadata.plugin_data.plugin_name for value in event.summary.value}
    assert plugins <= {"scalars", "histograms", "images", "text"}, plugins


def check_image(event, array, what):
    from PIL import Image

    found = np.asarray(Image.open(io.BytesIO(event.encoded_image_string)))
    expected = array if array.ndim == 2 else np.moveaxis(array, 0, -1)
    expect(found, expected, what)


def check_histogram(found, array, what):
    finite = array[np.isfinite(array)].astype(np.float64)
    expect(float(sum(found.bucket)), float(finite.size), what)
    expect(found.num, float(finite.size), what)
    expect(found.min, float(finite.min()), what)
    expect(found.max, float(finite.max()), what)


def check_tensorboard(out, records):
    boards = {}
    first = min(record["worker"] for record in records)
    for record in records:
        folder = out / record["mode"] if record["worker"] == first else out / record["worker"] / record["mode"]
        if folder not in boards:
            check_plugins(folder)
            boards[folder] = Board(folder)
        board, tensor, step, what = boards[folder], record["tensor"], record["step"], what_of(record)
        if record["form"] == "scalar":
            expect(board.scalars[tensor][step], float(np.float32(number(record["value"]))), what)
        elif record["form"] == "value" and record["dtype"] == "string":
            proto = board.tensors[tensor][step]
            assert board.plugins[tensor] == "text"
            found = np.array([text.decode() for text in proto.string_val], dtype=str)
            expect(found.reshape([dim.size for dim in proto.tensor_shape.dim]), array_of(record), what)
        elif record["form"] == "value" and array_of(record).dtype.kind != "c" and record["elements"]:
            array = array_of(record)
            if array.size == 1:
                expect(board.scalars[tensor][step], float(np.float32(array.ravel()[0])), what)
            elif np.isfinite(array).any():
                check_histogram(board.histograms[tensor][step], array, what)
            if "images/" + tensor in board.images:
                assert record["dtype"] == "uint8"
                check_image(board.images["images/" + tensor][step], array, what)
        drawn = DRAWN if record["form"] == "statistics" else None
        for name, value in reductions_of(record).items():
            if drawn is None or name in drawn:
                with np.errstate(over="ignore"):
                    expected = float(np.float32(value))
                expect(board.scalars[f"stats/{tensor}/{name}"][step], expected, f"{name} of {what}")


def check_mcap(out, records):
    from mcap.reader import NonSeekingReader, make_reader

    held = [record for record in records if len(record.get("elements", ())) <= 4096]
    with open(out, "rb") as file:
        read = list(NonSeekingReader(file, validate_crcs=True).iter_messages(log_time_order=False))
    messages = [(channel.topic, json.loads(message.data)) for _, channel, message in read]
    found = [message for topic, message in messages if "/event/" not in topic]
    expect(len(found), len(held), "messages")
    for (schema, channel, message), record in zip(read, held):
        if json.loads(message.data) != record:
            problems.append(f"{what_of(record)}: expected {record}, found {message.data!r}")
        expect(message.log_time, record["unix_ns"], f"time of {what_of(record)}")
        unknown = set(json.loads(message.data)) - set(json.loads(schema.data)["properties"])
        assert schema.name == "trainwarden." + record["form"] and not unknown, (schema, unknown)
        assert channel.topic.startswith(f"/{record['worker']}/{record['form']}/"), channel.topic
    # Through the index: by topic, and by time.
    with open(out, "rb") as file:
        reader = make_reader(file, validate_crcs=True)
        summary = reader.get_summary()
        expect(summary.statistics.message_count, len(messages), "messages by the summary")
        expect(sorted(summary.statistics.channel_message_counts.values()),
               sorted(collections.Counter(topic for topic, _ in messages).values()), "messages by channel")
        for topic in {topic for topic, _ in messages}:
            by_topic = [json.loads(message.data) for _, _, message in reader.iter_messages(topics=[topic])]
            expected = [message for name, message in messages if name == topic]
            assert sorted(by_topic, key=str) == sorted(expected, key=str), topic
        times = sorted({record["unix_ns"] for record in held})
        middle = times[len(times) // 2]
        late = [message for _, _, message in reader.iter_messages(start_time=middle)]
        expect(len(late), sum(message.log_time >= middle for _, _, message in read), "messages from a time on")
        (run,) = list(reader.iter_metadata())
        assert run.name == "trainwarden.run" and run.metadata["run_ended"] in ("true", "false"), run


def parquet_row(record):
    """What the table holds of a record; None: nothing."""
    row = {key: record[key] for key in ("step", "mode", "mode_step", "worker", "tensor", "form")}
    row["time"] = record["unix_ns"]
    if record["form"] == "scalar":
        row["value"] = number(record["value"])
    if record["form"] == "value":
        if record["dtype"].startswith(("complex", "string")) or len(record["elements"]) != 1:
            return None
        row["value"] = float(number(record["elements"][0]))
    if "dtype" in record:
        row |= {"dtype": record["dtype"], "shape": str(record["shape"])}
    if "hash" in record:
        row["hash"] = int(record["hash"], 16)
    counts = {key: value for key, value in record.items() if key == "count" or key.endswith("_count")}
    return row | counts | reductions_of(record)


def same_cell(found, expected):
    both_nan = found is not None and expected is not None and found != found and expected != expected
    return found == expected or both_nan


def check_parquet(out, records):
    import duckdb
    import pyarrow.parquet

    expected = [row for record in records if (row := parquet_row(record)) is not None]
    table = pyarrow.parquet.read_table(out)
    assert str(table.schema.field("time").type) == "timestamp[ns, tz=UTC]", table.schema
    by_arrow = table.set_column(3, "time", table["time"].cast("int64")).to_pylist()
    names = table.column_names
    duck = duckdb.execute(f"select * replace (epoch_ns(time) as time) from read_parquet('{out}')")
    assert [column[0] for column in duck.description] == names
    by_duck = [dict(zip(names, row)) for row in duck.fetchall()]
    for reader, rows in (("pyarrow", by_arrow), ("duckdb", by_duck)):
        expect(len(rows), len(expected), f"rows by {reader}")
        for row, wanted in zip(rows, expected):
            for name in names:
                if name == "tensor" and "\ufffd" in wanted[name]:
                    continue  # the truth has lost its bytes
                if not same_cell(row[name], wanted.get(name)):
                    problems.append(f"{reader}: {name} of {wanted}: found {row[name]!r}")


def main():
    name, out, truth = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    with open(truth, encoding="utf-8") as file:
        records = json.load(file)["records"]
    check = {"npz": check_npz, "safetensors": check_safetensors, "csv": check_csv, "smdebug": check_smdebug,
             "tensorboard": check_tensorboard, "mcap": check_mcap, "parquet": check_parquet}[name]
    check(out, records if name in ("csv", "mcap", "parquet") else without_second(records))
    print(*problems[:20], sep="\n")
    print(f"{compared} compared, {len(problems)} differ")
    return 1 if problems or not records else 0


if __name__ == "__main__":
    sys.exit(main())
