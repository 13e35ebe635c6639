import { expect, it } from 'vitest';

import type { Edge, Vertex } from './api';
import { BOX, edgePath, layoutOf } from './layout';

const thing = (node: string, distance: number): Vertex => ({ node, kind: 'artifact', name: node, type: 'DataSet', distance, job: null });
const edge = (source: string, destination: string): Edge => ({ source, destination, type: 'Produced' });

const vertices = [thing('job', 0), thing('a', -1), thing('b', -1), thing('model', 1), thing('raw', -2)];
const edges = [edge('raw', 'b'), edge('a', 'job'), edge('b', 'job'), edge('job', 'model')];

it('stands in columns by distance, what led to the start on the left', () => {
  const layout = layoutOf(vertices, edges, 100);
  const x = (node: string) => layout.placed.find(({ vertex }) => vertex.node === node)!.x;
  expect(x('raw')).toBeLessThan(x('a'));
  expect(x('a')).toBe(x('b'));
  expect(x('a')).toBeLessThan(x('job'));
  expect(x('job')).toBeLessThan(x('model'));
  expect(layout.edges).toHaveLength(4);
  expect(layout.left).toBe(0);
  expect(layout.placed[0]!.vertex.node).toBe('job');
});

it('covers nothing, and stays within its size', () => {
  const many = [thing('start', 0), ...Array.from({ length: 60 }, (_, i) => thing(`n${i}`, 1 + (i % 3)))];
  const { placed, width, height } = layoutOf(many, [], 1000);
  for (const a of placed) {
    expect(a.x >= 0 && a.y >= 0 && a.x + BOX.width <= width && a.y + BOX.height <= height).toBe(true);
    for (const b of placed) expect(a === b || a.x !== b.x || Math.abs(a.y - b.y) >= BOX.height).toBe(true);
  }
});

it('leaves the farthest out when there are too many, with their edges', () => {
  const layout = layoutOf(vertices, edges, 3);
  expect(layout.placed.map(({ vertex }) => vertex.node)).toEqual(['job', 'a', 'b']);
  expect(layout.left).toBe(2);
  expect(layout.edges.map(({ edge: { source } }) => source)).toEqual(['a', 'b']);
});

it('puts a thing beside those that it hangs on', () => {
  const wide = [thing('s', 0), thing('up', 1), thing('down', 1), thing('of-down', 2), thing('a-of-up', 2)];
  const layout = layoutOf(wide, [edge('s', 'up'), edge('s', 'down'), edge('up', 'a-of-up'), edge('down', 'of-down')], 100);
  const y = (node: string) => layout.placed.find(({ vertex }) => vertex.node === node)!.y;
  expect(y('down') < y('up')).toBe(y('of-down') < y('a-of-up'));
});

it('draws edges between columns both ways and within one', () => {
  const [a, b] = layoutOf([thing('a', 0), thing('b', 1)], [], 9).placed as [never, never];
  expect(edgePath(a, b)).toMatch(/^M190 23C/);
  expect(edgePath(b, a)).toMatch(/^M260 23C/);
  expect(edgePath(a, a)).toMatch(/^M190 23C/);
});
