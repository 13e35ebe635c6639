"""Reads a trace with Perfetto's own messages (PyPI: perfetto) and compares it with the Chrome trace of the same run.

usage: perfetto_reader.py TRACE CHROME.json        prints what differs and exits 1 when anything does
"""
import collections
import json
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

OWN_CLOCK = 64


class Sequence:
    """What Perfetto keeps of a sequence of packets: its clock, its defaults, its texts."""

    def __init__(self):
        self.clock_ns = None
        self.track = None
        self.names, self.categories = {}, {}


def read(path):
    """Slices as (process, track, category, name, start ns, duration ns), counters as (process, name, ns, value), flows."""
    trace = perfetto.Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    rows, processes, sequences = {}, {}, collections.defaultdict(Sequence)
    opened, slices, counters = collections.defaultdict(list), [], []
    flows = collections.defaultdict(dict)
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            row = packet.track_descriptor
            rows[row.uuid] = row
            if row.HasField("process"):
                processes[row.uuid] = row.process.process_name
            continue
        sequence = sequences[packet.trusted_packet_sequence_id]
        if packet.sequence_flags & perfetto.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED:
            sequence.names, sequence.categories = {}, {}
        if packet.HasField("clock_snapshot"):
            clocks = {clock.clock_id: clock for clock in packet.clock_snapshot.clocks}
            assert clocks[OWN_CLOCK].is_incremental and not clocks[perfetto.BUILTIN_CLOCK_BOOTTIME].is_incremental
            sequence.clock_ns = clocks[OWN_CLOCK].timestamp
        if packet.HasField("trace_packet_defaults"):
            assert packet.trace_packet_defaults.timestamp_clock_id == OWN_CLOCK
            sequence.track = packet.trace_packet_defaults.track_event_defaults.track_uuid
        if not packet.HasField("track_event"):
            continue
        sequence.names.update((entry.iid, entry.name) for entry in packet.interned_data.event_names)
        sequence.categories.update((entry.iid, entry.name) for entry in packet.interned_data.event_categories)
        sequence.clock_ns += packet.timestamp
        event, row = packet.track_event, rows[sequence.track]
        process = processes[row.parent_uuid]
        if event.type == perfetto.TrackEvent.TYPE_COUNTER:
            counters.append((process, row.name, sequence.clock_ns, event.double_counter_value))
        elif event.type == perfetto.TrackEvent.TYPE_SLICE_BEGIN:
            name = sequence.names[event.name_iid] if event.name_iid else event.name
            category = sequence.categories[event.category_iids[0]] if event.category_iids else "step"
            track = row.thread.thread_name if row.HasField("thread") else row.name
            opened[sequence.track].append((process, track, category, name, sequence.clock_ns))
            for number in event.flow_ids:
                flows[number]["s"] = sequence.clock_ns
            for number in event.terminating_flow_ids:
                flows[number]["f"] = sequence.clock_ns
        elif event.type == perfetto.TrackEvent.TYPE_SLICE_END:
            begun = opened[sequence.track].pop()
            slices.append((*begun, sequence.clock_ns - begun[-1]))
    assert not any(opened.values()), "a slice never ends"
    return slices, counters, sorted((flow["s"], flow["f"]) for flow in flows.values())


def read_chrome(path):
    """The same of a Chrome trace."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    base = document["baseTimeNanoseconds"]
    names = {}
    for event in document["traceEvents"]:
        if event["ph"] == "M" and event["name"].endswith("_name"):
            names[event["name"], event["pid"], event["tid"]] = event["args"]["name"]
    slices, counters, flows = [], [], collections.defaultdict(dict)
    for event in document["traceEvents"]:
        if event["ph"] == "M":
            continue
        at = base + round(event["ts"] * 1000)
        process = names["process_name", event["pid"], 0]
        if event["ph"] == "X":
            track = names["thread_name", event["pid"], event["tid"]]
            slices.append((process, track, event["cat"], event["name"], at, round(event["dur"] * 1000)))
        elif event["ph"] == "C":
            counters.append((process, event["name"], at, float(next(iter(event["args"].values())))))
        else:
            flows[event["id"]][event["ph"]] = at
    return slices, counters, sorted((flow["s"], flow["f"]) for flow in flows.values())


def main(trace, chrome):
    found, expected = read(trace), read_chrome(chrome)
    problems = 0
    for what, ours, theirs in zip(("slices", "counters", "flows"), found, expected):
        print(f"{what}: {len(ours)} found, {len(theirs)} expected")
        for item in sorted(set(ours) ^ set(theirs))[:10]:
            print(f"  {'found' if item in ours else 'missing'}: {item}")
        problems += sorted(ours) != sorted(theirs)
    sys.exit(1 if problems or not expected[0] else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
