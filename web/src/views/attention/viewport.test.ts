import { describe, expect, it } from 'vitest';

import { Viewport } from './viewport';

const sight = { width: 512, height: 512 };

describe('Viewport', () => {
  it('begins with all of it', () => {
    const view = new Viewport({ width: 4096, height: 4096 }, sight);
    expect([view.scale, view.x, view.y, view.whole]).toEqual([1 / 8, 0, 0, true]);
    expect(view.level(5)).toBe(3);
    expect(view.tiles(3, 256)).toEqual([0, 1, 0, 1]);
    expect(new Viewport({ width: 4, height: 4 }, sight).scale).toBe(32);
  });

  it('keeps what is under the pointer where it is', () => {
    const view = new Viewport({ width: 4096, height: 4096 }, sight);
    const before = view.cellAt(300, 200);
    view.zoom(4, 300, 200);
    expect(view.cellAt(300, 200)).toEqual(before);
    expect(view.level(5)).toBe(1);
    view.zoom(1 / 100, 0, 0);
    expect([view.whole, view.x]).toEqual([true, 0]);
  });

  it('never leaves the matrix', () => {
    const view = new Viewport({ width: 1000, height: 2000 }, sight);
    view.zoom(8, 0, 0);
    view.pan(1e6, -1e6);
    expect(view.x).toBeCloseTo(1000 - 512 / view.scale, 9);
    expect(view.y).toBe(0);
  });

  it('goes to a cell by the shortest way', () => {
    const view = new Viewport({ width: 4096, height: 4096 }, sight);
    view.zoom(8, 0, 0);
    expect(view.scale).toBe(1);
    view.reveal(600, 10);
    expect([view.x, view.y]).toEqual([89, 0]);
    view.reveal(600, 10);
    expect([view.x, view.y]).toEqual([89, 0]);
    expect(view.tiles(0, 256)).toEqual([0, 2, 0, 1]);
  });
});
