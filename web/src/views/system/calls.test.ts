// Calls of a window and flames: what is found, merged and laid out.
import { describe, expect, it } from 'vitest';

import { CallIndex, type CallBlock } from './call_index';
import { laneAt, ROW, rowsOf } from './call_rows';
import { callsIn } from './calls';
import { childrenOf, flameTree, layoutFlame, pathTo, searchFlame, timesByName } from './flame_layout';
import { fitting } from './fitting';
import { largestByPixel, memoryIn } from './memory_lane';
import { nestedCalls, sampleCalls, sampleFlame, type SampleCalls } from './profile_testing';

function indexOf(calls: readonly SampleCalls[]): CallIndex {
  return new CallIndex(callsIn(sampleCalls(calls)));
}

const call = (start: number, duration: number, depth = 0, track = 0): SampleCalls => ({ name: 0, track, kind: 0, depth, start, duration });

function blocksOf(index: CallIndex, from: number, to: number, pixel: number, lane = 0): CallBlock[] {
  const blocks: CallBlock[] = [];
  index.blocks(index.lanes[lane]!, from, to, pixel, (block) => blocks.push({ ...block }));
  return blocks;
}

describe('the calls of a step', () => {
  it('are found in any stretch, in whatever order they came', () => {
    const index = indexOf([call(50, 10), call(0, 10), call(20, 10), call(21, 3, 1), call(0, 60, 0, 1)]);
    expect(index.lanes).toEqual([{ track: 0, depth: 0, from: 0, to: 3 }, { track: 0, depth: 1, from: 3, to: 4 }, { track: 1, depth: 0, from: 4, to: 5 }]);
    expect(blocksOf(index, 15, 55, 1).map(({ call: each }) => each)).toEqual([2, 0]);
    expect(blocksOf(index, 30.5, 49, 1)).toEqual([]);
    expect(index.end).toBe(60);
  });

  it('that are narrower than a pixel are drawn as one', () => {
    const index = indexOf([...Array.from({ length: 1000 }, (_, i) => call(i, 0.5)), call(2000, 500)]);
    const blocks = blocksOf(index, 0, 3000, 100);
    expect(blocks.length).toBe(11);
    expect(blocks.slice(0, 10).map(({ many }) => many)).toEqual(new Array(10).fill(100));
    expect(blocks.at(-1)).toMatchObject({ start: 2000, end: 2500, many: 1 });
    expect(blocks.reduce((sum, { many }) => sum + many, 0)).toBe(1001);
  });

  it('that are wide stand for themselves, also right behind narrow ones', () => {
    const blocks = blocksOf(indexOf([call(0, 1), call(2, 1), call(4, 500)]), 0, 1000, 100);
    expect(blocks.map(({ start, end, many }) => [start, end, many])).toEqual([[0, 3, 2], [4, 504, 1]]);
  });

  it('know who made them, what they made, and what they took themselves', () => {
    const index = indexOf([call(0, 100), call(10, 20, 1), call(40, 30, 1), call(45, 5, 2)]);
    expect([...index.children(0)]).toEqual([1, 2]);
    expect([index.ownTime(0), index.ownTime(2), index.ownTime(3)]).toEqual([50, 25, 5]);
    expect([index.parent(3), index.parent(1), index.parent(0)]).toEqual([2, 0, undefined]);
    expect([index.neighbour(1, 1), index.neighbour(2, 1), index.neighbour(1, -1)]).toEqual([2, undefined, undefined]);
    expect([index.at(index.lane(0, 1)!, 15, 0), index.at(index.lane(0, 1)!, 35, 0), index.at(index.lane(0, 1)!, 35, 6)]).toEqual([1, undefined, 1]);
  });

  it('have partners by their sequence', () => {
    const columns = { ...callsIn(sampleCalls([call(0, 1), call(2, 1)])), kind: [0, 1], sequence: [7, 7] };
    expect(new CallIndex(columns).partner(0)).toBe(1);
    expect(new CallIndex({ ...columns, sequence: [-1, -1] }).partner(0)).toBeUndefined();
  });

  it('have rows by track and depth', () => {
    const { rows, height } = rowsOf(indexOf([call(0, 100), call(10, 20, 1), call(0, 5, 0, 1)]));
    expect(rows.map(({ track, lanes }) => [track, lanes.length])).toEqual([[0, 2], [1, 1]]);
    expect(laneAt(rows, rows[0]!.lanes[1]!.top + ROW / 2)).toMatchObject({ track: 0, depth: 1 });
    expect(laneAt(rows, height + 5)).toBeUndefined();
  });

  it('can be many', () => {
    const index = indexOf(nestedCalls(200_000));
    let drawn = 0;
    for (const lane of index.lanes) index.blocks(lane, 0, index.end, index.end / 1200, () => ++drawn);
    expect(drawn).toBeLessThanOrEqual(1300 * index.lanes.length);
    expect(index.lanes.length).toBe(10);
  }, 60_000);

  it('have a memory line whose peaks are never lost', () => {
    const [memory] = memoryIn(sampleCalls([call(0, 100)]));
    expect(memory!.time.length).toBe(200);
    const values = largestByPixel({ device: 0, time: Float64Array.of(0, 5, 5.5, 90), total: Float64Array.of(1, 9, 2, 3) }, { from: 0, to: 100 }, 10);
    expect([...values]).toEqual([9, 2, 2, 2, 2, 2, 2, 2, 2, 3]);
  });
});

it('names fit into their boxes', () => {
  expect(['aten::convolution', 'aten::convolution', 'aten::convolution', 'x'].map((name, i) => fitting(name, [20, 12, 6, 1][i]!))).toEqual(['aten::convolution', 'convolution', 'convo…', 'x']);
});

describe('a flame graph', () => {
  const tree = flameTree({ names: ['thread', 'a', 'b'], nodes: [[-1, 0, 0, 100, 0], [0, 1, 10, 60, 3], [0, 2, 40, 40, 1], [1, 1, 20, 20, 2], [1, 2, 30, 30, 1]] });

  it('has the widest first, and the whole as its root', () => {
    expect(tree.total[0]).toBe(100);
    expect([...childrenOf(tree, 2)]).toEqual([5, 4]);
    expect(pathTo(tree, 5)).toEqual([0, 1, 2, 5]);
    expect(layoutFlame(tree, 0, 0).map(({ node, depth, from, to }) => [node, depth, from, to])).toContainEqual([3, 2, 0.6, 1]);
  });

  it('shows what is enlarged at full width, with what is around it above', () => {
    const frames = layoutFlame(tree, 2, 0);
    expect(frames.slice(0, 3).map(({ node, to }) => [node, to])).toEqual([[0, 1], [1, 1], [2, 1]]);
    expect(frames.find(({ node }) => node === 5)).toMatchObject({ depth: 3, from: 0, to: 0.5 });
    expect(layoutFlame(tree, 0, 0.25).some(({ node }) => node === 4)).toBe(false);
  });

  it('counts what a search finds once', () => {
    expect(searchFlame(tree, 0, 'A')).toEqual({ names: new Set([0, 1]), share: 1 });
    expect(searchFlame(tree, 1, 'b').share).toBeCloseTo(0.7);
    expect(searchFlame(tree, 0, '').share).toBe(0);
  });

  it('sums up by name, one within its own like once', () => {
    expect(timesByName(tree, 0, 'total', 5)).toEqual([{ name: 'b', self: 70, total: 70 }, { name: 'a', self: 30, total: 60 }]);
  });

  it('of a real size has no frame out of its place', () => {
    const large = flameTree(sampleFlame());
    for (const { from, to } of layoutFlame(large, 0, 0)) expect(from >= 0 && to <= 1 && from <= to).toBe(true);
    expect(flameTree({ names: [], nodes: [] }).parent.length).toBe(1);
    expect(layoutFlame(flameTree({ names: [], nodes: [] }), 0, 0)).toEqual([]);
  });
});
