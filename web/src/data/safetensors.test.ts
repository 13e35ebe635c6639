import { describe, expect, it } from 'vitest';

import { decodeArrays } from './safetensors';

function documentOf(header: object, data: Uint8Array): Uint8Array {
  let text = JSON.stringify(header);
  text += ' '.repeat((64 - ((8 + text.length) % 64)) % 64);
  const bytes = new Uint8Array(8 + text.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(new TextEncoder().encode(text), 8);
  bytes.set(data, 8 + text.length);
  return bytes;
}

function one(dtype: string, shape: number[], data: Uint8Array): ArrayLike<number> {
  return decodeArrays(documentOf({ x: { dtype, shape, data_offsets: [0, data.length] } }, data)).get('x').values();
}

describe('decodeArrays', () => {
  it('gives the stored bits of every dtype', () => {
    expect([...(one('F32', [2], new Uint8Array(new Float32Array([1.5, -0]).buffer)) as Float32Array)]).toEqual([1.5, -0]);
    expect(Array.from(one('I64', [1], new Uint8Array(new BigInt64Array([-3n]).buffer)))).toEqual([-3]);
    expect(Array.from(one('BF16', [3], new Uint8Array(new Uint16Array([0x3f80, 0xc000, 0x7f80]).buffer)))).toEqual([1, -2, Infinity]);
    expect(Array.from(one('F16', [3], new Uint8Array(new Uint16Array([0x3c00, 0x0001, 0xfc00]).buffer)))).toEqual([1, 2 ** -24, -Infinity]);
    expect(Array.from(one('F8_E4M3', [3], new Uint8Array([0x38, 0x7e, 0x7f])))).toEqual([1, 448, NaN]);
    expect(Array.from(one('F8_E5M2', [3], new Uint8Array([0x3c, 0x7b, 0x7c])))).toEqual([1, 57344, Infinity]);
  });

  it('reads metadata and refuses what is cut off', () => {
    const header = { __metadata__: { tokens: '["a"]' }, x: { dtype: 'U8', shape: [2], data_offsets: [0, 2] } };
    const arrays = decodeArrays(documentOf(header, new Uint8Array([7, 8])));
    expect(arrays.json<string[]>('tokens')).toEqual(['a']);
    expect(() => arrays.get('y')).toThrow('no array "y"');
    expect(() => decodeArrays(documentOf(header, new Uint8Array([7])))).toThrow('cut off');
  });
});
