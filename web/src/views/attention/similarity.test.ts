import { expect, it } from 'vitest';

import { groupedBySimilarity } from './similarity';

/** Pictures of 4 by 4: rows, columns, and the diagonal, each twice and a little different. */
const SIZE = 4;
function picture(bright: (row: number, column: number) => boolean, faint: number): number[] {
  return Array.from({ length: SIZE * SIZE }, (_, i) => (bright(Math.floor(i / SIZE), i % SIZE) ? 255 : faint));
}

const kinds = [(_: number, column: number) => column === 0, (row: number, column: number) => row === column, (row: number, column: number) => column === (row + 1) % SIZE];

it('puts heads that look alike into a group and beside one another', () => {
  const pictures = Uint8Array.from([0, 1, 2, 0, 1, 2].flatMap((kind, i) => picture(kinds[kind]!, i)));
  const { order, group, groups } = groupedBySimilarity(pictures, SIZE, 6);
  expect([...order].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(groups).toBe(3);
  for (const kind of [0, 1, 2]) {
    expect(group[kind]).toBe(group[kind + 3]);
    expect(Math.abs(order.indexOf(kind) - order.indexOf(kind + 3))).toBe(1);
  }
  expect(new Set(group).size).toBe(3);
  expect(group[order[0]!]).toBe(0); // groups are counted in the order in which they are shown
});

it('makes one group of heads that are all the same, and none of no heads', () => {
  const same = Uint8Array.from([1, 2, 3].flatMap(() => picture(kinds[0]!, 9)));
  expect(groupedBySimilarity(same, SIZE, 3)).toMatchObject({ groups: 1, group: [0, 0, 0] });
  expect(groupedBySimilarity(new Uint8Array(0), SIZE, 0)).toEqual({ order: [], group: [], groups: 0 });
});

it('does not mix heads of which nothing is known with others', () => {
  const pictures = Uint8Array.from([...picture(kinds[0]!, 0), ...Array(SIZE * SIZE).fill(0), ...picture(kinds[0]!, 1)]);
  const { group } = groupedBySimilarity(pictures, SIZE, 3);
  expect(group[0]).toBe(group[2]);
  expect(group[1]).not.toBe(group[0]);
});
