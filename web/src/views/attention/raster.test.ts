import { describe, expect, it } from 'vitest';

import { Raster } from './raster';

/** The opacity of a column, from the top. */
function column(raster: Raster, x: number): number[] {
  return Array.from({ length: raster.height }, (_, y) => raster.alphaAt(x, y));
}

describe('Raster', () => {
  it('draws a level line as wide as it is asked to', () => {
    const raster = new Raster(20, 10);
    raster.add({ from: 5, to: 5, width: 4, opacity: 1 });
    raster.flush(255, 0, 0);
    expect(column(raster, 10)).toEqual([0, 0, 0, 255, 255, 255, 255, 0, 0, 0]);
  });

  it('makes lines thinner than a pixel fainter', () => {
    const raster = new Raster(20, 4);
    raster.add({ from: 1.5, to: 1.5, width: 0.2, opacity: 1 });
    raster.flush(0, 0, 0);
    expect(column(raster, 3)).toEqual([0, 51, 0, 0]);
  });

  it('draws of a steep line what lies within the picture', () => {
    const raster = new Raster(100, 50);
    raster.add({ from: -1000, to: 1000, width: 1, opacity: 1 });
    raster.flush(0, 0, 0);
    expect(Math.max(...column(raster, 51))).toBe(255);
    expect(Math.max(...column(raster, 40))).toBe(0);
    expect(Math.max(...column(raster, 60))).toBe(0);
  });

  it('leaves the gaps of a dash, and lays one layer over another', () => {
    const raster = new Raster(20, 4);
    raster.add({ from: 2, to: 2, width: 2, opacity: 1 }, [3, 2]);
    raster.flush(0, 0, 0);
    expect([0, 1, 2, 3, 4, 5].map((x) => raster.alphaAt(x, 2))).toEqual([255, 255, 255, 0, 0, 255]);
    raster.add({ from: 2, to: 2, width: 2, opacity: 0.5 });
    raster.flush(255, 255, 255);
    const image = raster.alphaAt(3, 2);
    expect(image).toBeGreaterThan(126);
    expect(image).toBeLessThan(129);
    expect(raster.alphaAt(0, 2)).toBe(255);
  });

  it('draws 20,000 links in a fraction of a second', () => {
    const raster = new Raster(460, 640);
    const start = performance.now();
    for (let i = 0; i < 20000; i++) raster.add({ from: (i * 7919) % 640, to: (i * 104729) % 640, width: 0.5, opacity: 0.7 });
    raster.flush(0, 80, 160);
    const took = performance.now() - start;
    expect(raster.alphaAt(200, 320)).toBeGreaterThan(200);
    expect(took).toBeLessThan(2000); // a machine that others use too; alone it is some 60 ms
  });
});
