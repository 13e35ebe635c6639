// CallIndex: the operator calls of a step by lane (track and depth), so that any stretch of a million is found and drawn
// at once. Calls of a lane follow each other, which is what the binary searches live on.
import { firstAtLeast, lastAtMost } from '../../data/step_times';

export interface CallColumns {
  names: readonly string[];
  tracks: readonly string[];
  name: ArrayLike<number>;
  track: ArrayLike<number>;
  kind: ArrayLike<number>;
  depth: ArrayLike<number>;
  /** Nanoseconds since the window's start. */
  start: Float64Array;
  duration: Float64Array;
  /** Pairs a call of the forward pass with that of the backward pass; -1 has no partner. */
  sequence?: ArrayLike<number>;
}

export interface CallLane {
  track: number;
  depth: number;
  /** Its calls: places [from, to) of `order`. */
  from: number;
  to: number;
}

/** What is drawn as one: a call, or several that are narrower than a pixel together. */
export interface CallBlock {
  start: number;
  end: number;
  /** The first of them. */
  call: number;
  many: number;
}

export class CallIndex {
  readonly lanes: CallLane[] = [];
  /** Calls by lane and start. */
  readonly order: Uint32Array;
  /** Nanoseconds; the end of the last call. */
  readonly end: number;
  private readonly starts: Float64Array;
  private readonly ends: Float64Array; // of a call, or of a longer one before it in the lane: they rise
  private readonly laneOf = new Map<number, CallLane>(); // by 2^16 track + depth

  constructor(readonly calls: CallColumns) {
    const { start, duration } = calls;
    this.order = this.sorted();
    this.starts = new Float64Array(start.length);
    this.ends = new Float64Array(start.length);
    let end = 0;
    for (const lane of this.lanes) {
      let last = -Infinity;
      for (let place = lane.from; place < lane.to; ++place) {
        const call = this.order[place]!;
        this.starts[place] = start[call]!;
        last = Math.max(last, start[call]! + duration[call]!);
        this.ends[place] = last;
      }
      end = Math.max(end, last);
    }
    this.end = end;
  }

  get count(): number {
    return this.calls.start.length;
  }

  /** The calls of a lane within [from, to), at most two blocks for each `pixel` nanoseconds. */
  blocks(lane: CallLane, from: number, to: number, pixel: number, add: (block: CallBlock) => void): void {
    const { starts, ends, order } = this;
    let place = lastAtMost(ends, from, lane.from, lane.to) + 1;
    while (place < lane.to && starts[place]! < to) {
      const start = starts[place]!;
      const first = place;
      if (ends[place]! - start >= pixel) {
        ++place;
      } else {
        const edge = (Math.floor(start / pixel) + 1) * pixel;
        place = Math.max(place + 1, firstAtLeast(starts, edge, place, lane.to));
        if (place - first > 1 && ends[place - 1]! - starts[place - 1]! >= pixel) --place; // the last of them is wide: it stands for itself
      }
      add({ start, end: ends[place - 1]!, call: order[first]!, many: place - first });
    }
  }

  /** The call of a lane at a time, with some room around it; undefined where there is none. */
  at(lane: CallLane, time: number, room: number): number | undefined {
    const place = lastAtMost(this.starts, time, lane.from, lane.to);
    for (const each of [place, place + 1]) {
      if (each < lane.from || each >= lane.to) continue;
      if (this.starts[each]! <= time + room && this.ends[each]! >= time - room) return this.order[each];
    }
    return undefined;
  }

  lane(track: number, depth: number): CallLane | undefined {
    return this.laneOf.get(65536 * track + depth);
  }

  /** The calls that a call made itself. */
  *children(call: number): Generator<number> {
    const { start, duration, track, depth } = this.calls;
    const lane = this.lane(track[call]!, depth[call]! + 1);
    if (!lane) return;
    const end = start[call]! + duration[call]!;
    let place = firstAtLeast(this.starts, start[call]!, lane.from, lane.to);
    for (; place < lane.to && this.starts[place]! < end; ++place) yield this.order[place]!;
  }

  parent(call: number): number | undefined {
    const { start, track, depth } = this.calls;
    const lane = depth[call] === 0 ? undefined : this.lane(track[call]!, depth[call]! - 1);
    if (!lane) return undefined;
    const place = lastAtMost(this.starts, start[call]!, lane.from, lane.to);
    return place >= lane.from && this.ends[place]! >= start[call]! ? this.order[place] : undefined;
  }

  /** The next one of the same lane, or the one before it. */
  neighbour(call: number, by: 1 | -1): number | undefined {
    const lane = this.lane(this.calls.track[call]!, this.calls.depth[call]!)!;
    let place = lastAtMost(this.starts, this.calls.start[call]!, lane.from, lane.to);
    while (place > lane.from && this.order[place] !== call && this.starts[place - 1] === this.starts[place]) --place;
    const next = place + by;
    return next < lane.from || next >= lane.to ? undefined : this.order[next];
  }

  /** Without the calls that it made. */
  ownTime(call: number): number {
    let own = this.calls.duration[call]!;
    for (const child of this.children(call)) own -= this.calls.duration[child]!;
    return Math.max(0, own);
  }

  /** The other call with its sequence number. */
  partner(call: number): number | undefined {
    const { sequence, kind } = this.calls;
    const wanted = sequence?.[call] ?? -1;
    if (!sequence || wanted < 0) return undefined;
    for (let other = 0; other < sequence.length; ++other) {
      if (sequence[other] === wanted && other !== call && kind[other] !== kind[call]) return other;
    }
    return undefined;
  }

  /** By counting: calls of a lane stay in the order in which they came, which is mostly that of their starts. */
  private sorted(): Uint32Array {
    const { track, depth, start } = this.calls;
    const counts = new Map<number, number>();
    const keys = new Uint32Array(start.length);
    let [last, current] = [-1, 0]; // neighbours share a lane often enough
    for (let i = 0; i < start.length; ++i) {
      const key = 65536 * track[i]! + Math.min(65535, depth[i]!);
      keys[i] = key;
      if (key !== last) {
        if (last >= 0) counts.set(last, current);
        last = key;
        current = counts.get(key) ?? 0;
      }
      ++current;
    }
    if (last >= 0) counts.set(last, current);
    const next = new Map<number, number>();
    let place = 0;
    for (const key of [...counts.keys()].sort((a, b) => a - b)) {
      const lane = { track: Math.floor(key / 65536), depth: key % 65536, from: place, to: place + counts.get(key)! };
      this.lanes.push(lane);
      this.laneOf.set(key, lane);
      next.set(key, place);
      place = lane.to;
    }
    const order = new Uint32Array(start.length);
    [last, current] = [-1, 0];
    for (let i = 0; i < start.length; ++i) {
      const key = keys[i]!;
      if (key !== last) {
        if (last >= 0) next.set(last, current);
        last = key;
        current = next.get(key)!;
      }
      order[current++] = i;
    }
    for (const { from, to } of this.lanes) sortByStart(order, start, from, to);
    return order;
  }
}

function sortByStart(order: Uint32Array, start: Float64Array, from: number, to: number): void {
  for (let i = from + 1; i < to; ++i) {
    if (start[order[i]!]! < start[order[i - 1]!]!) {
      order.subarray(from, to).sort((a, b) => start[a]! - start[b]! || a - b);
      return;
    }
  }
}
