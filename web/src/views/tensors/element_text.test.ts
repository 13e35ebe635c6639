import { describe, expect, it } from 'vitest';

import { decodeArrays, type DType, type NdArray } from '../../data/safetensors';

import { Elements, floatText } from './element_text';

function arrayOf(dtype: DType, count: number, bytes: Uint8Array): NdArray {
  let text = JSON.stringify({ x: { dtype, shape: [count], data_offsets: [0, bytes.length] } });
  text += ' '.repeat((64 - ((8 + text.length) % 64)) % 64);
  const all = new Uint8Array(8 + text.length + bytes.length);
  new DataView(all.buffer).setBigUint64(0, BigInt(text.length), true);
  all.set(new TextEncoder().encode(text), 8);
  all.set(bytes, 8 + text.length);
  return decodeArrays(all).get('x');
}

/** All patterns of a float of 8 or 16 bits must come back from their text: no other pattern's value is nearer. */
function everyText(dtype: DType, word: string, bits: 8 | 16): void {
  const patterns = bits === 8 ? Uint8Array.from({ length: 256 }, (_, i) => i) : Uint16Array.from({ length: 65536 }, (_, i) => i);
  const array = arrayOf(dtype, patterns.length, new Uint8Array(patterns.buffer));
  const elements = new Elements(array, word);
  const values = array.values();
  const finite = [...new Set(Array.from(values).filter((x) => Number.isFinite(x)))].sort((a, b) => a - b);
  for (let i = 0; i < values.length; ++i) {
    const value = values[i]!;
    if (!Number.isFinite(value)) continue;
    const read = Number(elements.text(i));
    let low = 0;
    let high = finite.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (finite[middle]! <= read) low = middle;
      else high = middle;
    }
    const nearest = Math.abs(finite[low]! - read) <= Math.abs(finite[high]! - read) ? finite[low]! : finite[high]!;
    // A tie goes to the even one.
    if (Math.abs(nearest - read) < Math.abs(value - read)) throw new Error(`${word} ${value} became ${elements.text(i)}, which is nearer to ${nearest}`);
  }
}

describe('elementText', () => {
  it('gives every number of the small floats back', () => {
    everyText('F16', 'float16', 16);
    everyText('BF16', 'bfloat16', 16);
    everyText('F8_E4M3', 'float8_e4m3', 8);
    everyText('F8_E5M2', 'float8_e5m2', 8);
  });

  it('is the shortest that reads back in its dtype', () => {
    expect(floatText(Math.fround(0.1), 'float32')).toBe('0.1');
    expect(floatText(Math.fround(1e-45), 'float32')).toBe('1e-45');
    expect(floatText(16777217, 'float64')).toBe('16777217');
    expect(floatText(0.0999755859375, 'float16')).toBe('0.1');
    expect(floatText(-0, 'float32')).toBe('-0');
    expect([NaN, Infinity, -Infinity].map((x) => floatText(x, 'float32'))).toEqual(['nan', 'inf', '-inf']);
    for (let i = 0; i < 2000; ++i) {
      const value = Math.fround(Math.sin(i) * 10 ** ((i % 60) - 30));
      expect(Math.fround(Number(floatText(value, 'float32')))).toBe(value);
    }
  });

  it('keeps all digits of whole numbers, and both parts of complex ones', () => {
    const whole = arrayOf('I64', 2, new Uint8Array(new BigInt64Array([9007199254740993n, -1n]).buffer));
    expect([0, 1].map((i) => new Elements(whole, 'int64').text(i))).toEqual(['9007199254740993', '-1']);
    const complex = arrayOf('F32', 4, new Uint8Array(new Float32Array([1, -2, 0.5, NaN]).buffer));
    expect([0, 1].map((i) => new Elements(complex, 'complex64').text(i))).toEqual(['1-2j', '0.5+nanj']);
    expect(new Elements(arrayOf('BOOL', 2, new Uint8Array([0, 2])), 'bool').text(1)).toBe('true');
  });

  it('shows the stored bits', () => {
    expect(new Elements(arrayOf('F32', 2, new Uint8Array(new Float32Array([0, 1]).buffer)), 'float32').bits(1)).toBe('0x3f800000');
    expect(new Elements(arrayOf('BF16', 1, new Uint8Array([0x80, 0xbf])), 'bfloat16').bits(0)).toBe('0xbf80');
  });
});
