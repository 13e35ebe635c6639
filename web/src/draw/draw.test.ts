import { describe, expect, it } from 'vitest';

import { blueOrange, categories, colourAt, inkOn, viridis } from './colours';
import { h } from './dom';
import { csvOf, fileName, npyOf } from './files';
import { age, bytes, count, duration, exact, numberOf, short } from './numbers';
import { SvgWriter } from './svg';

function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const level = parseInt(hex.slice(i, i + 2), 16) / 255;
    return level <= 0.04045 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

describe('colours', () => {
  it('are those of the maps at their ends and their middle', () => {
    expect(colourAt(viridis(), 0)).toBe('rgb(68 1 84)');
    expect(colourAt(viridis(), 1)).toBe('rgb(253 231 37)');
    expect(colourAt(viridis(), 7)).toBe('rgb(253 231 37)');
    expect(inkOn(viridis(), 0)).toBe('#fff');
    expect(inkOn(viridis(), 1)).toBe('#000');
    const [r, g, b] = blueOrange().subarray(3 * 127, 3 * 127 + 3);
    expect(Math.max(r!, g!, b!) - Math.min(r!, g!, b!)).toBeLessThan(12); // zero has no colour
  });

  it('of kinds stand out from both grounds', () => {
    for (const { light, dark } of categories) {
      expect(contrast(light, '#ffffff')).toBeGreaterThanOrEqual(3);
      expect(contrast(dark, '#11181f')).toBeGreaterThanOrEqual(3);
    }
  });
});

describe('numbers', () => {
  it('are short', () => {
    expect([0, -0, 0.5, 1 / 3, -1.5e-9, 123456.7, 1234567, 6.02e23, NaN, Infinity, -Infinity].map((x) => short(x))).toEqual([
      '0', '−0', '0.5', '0.3333', '−1.5e-9', '123,457', '1,234,567', '6.02e23', 'NaN', '∞', '−∞',
    ]);
    expect(short(999.96)).toBe('1000');
  });

  it('are exact: the text gives the bits back', () => {
    for (const x of [0.1, 1 / 3, 1e-45, 3.4028234663852886e38, 16777217, -0, 5e-324]) {
      expect(Object.is(Number(exact(x)), x)).toBe(true);
      const single = Math.fround(x);
      expect(Object.is(Math.fround(Number(exact(single, 'F32'))), single)).toBe(true);
    }
    expect(exact(Math.fround(0.1), 'F32')).toBe('0.1');
  });

  it('have units', () => {
    expect(count(-1234567.25)).toBe('-1,234,567.25');
    expect([bytes(12), bytes(1536), bytes(5e9)]).toEqual(['12 B', '1.50 KiB', '4.66 GiB']);
    expect([duration(20), duration(61000), duration(7200000), duration(90061000)]).toEqual(['20 ms', '1 min 1 s', '2 h', '1 d 1 h']);
    expect(age(1000, 66000)).toBe('1 min 5 s ago');
    expect(age(1000, 66000, 1)).toBe('1 min ago');
    expect([numberOf(2), numberOf('-Infinity'), numberOf('NaN'), numberOf(null)]).toEqual([2, -Infinity, NaN, NaN]);
  });
});

describe('what is written', () => {
  it('has texts as texts', () => {
    const name = '<img onerror=alert(1)>\u202e';
    const paragraph = h('p', { title: name, hidden: false }, name, 3, null);
    expect(paragraph.children.length).toBe(0);
    expect([paragraph.title, paragraph.textContent]).toEqual(['<img onerror=alert(1)>\\u{202e}', '<img onerror=alert(1)>\\u{202e}3']);
    expect(new SvgWriter(10, 10, name).text(1, 2, name).toString()).not.toMatch(/<img|\u202e/);
    expect(() => h('p', { style: 'x' })).toThrow('content security policy');
  });

  it('is no formula in a spreadsheet', async () => {
    expect(await csvOf([['=1+1', 'a,"b"', -2], ['-x', '', 0.1]]).text()).toBe('\'=1+1,"a,""b""",-2\r\n\'-x,,0.1\r\n');
  });

  it('is what NumPy reads', async () => {
    const data = new Uint8Array(new Float32Array([1, 2, 3]).buffer);
    const npy = new Uint8Array(await npyOf('F32', [3], data)!.arrayBuffer());
    expect(npy.length).toBe(64 * 2 + 12);
    expect(new TextDecoder('latin1').decode(npy.subarray(0, 128))).toContain("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }");
    expect(npyOf('BF16', [1], data)).toBeUndefined();
    expect(fileName('run/1', 'a b', 12)).toBe('run_1-a_b-12');
  });
});
