// Reads a safetensors document: what the server sends numbers in.

export type DType =
  | 'F64' | 'F32' | 'F16' | 'BF16' | 'F8_E4M3' | 'F8_E5M2'
  | 'I64' | 'I32' | 'I16' | 'I8' | 'U64' | 'U32' | 'U16' | 'U8' | 'BOOL';

export interface NdArray {
  dtype: DType;
  shape: number[];
  /** The packed little-endian bytes, row-major. */
  bytes: Uint8Array;
  /** The elements as numbers: a view without a copy for F64, F32, I32, U8 and their like, converted otherwise. */
  values(): ArrayLike<number>;
}

export class Arrays {
  constructor(
    readonly arrays: ReadonlyMap<string, NdArray>,
    readonly metadata: Readonly<Record<string, string>>,
  ) {}

  /** Throws when the document has no such array: the server's contract is broken. */
  get(name: string): NdArray {
    const found = this.arrays.get(name);
    if (!found) throw new Error(`the answer has no array "${name}", only ${[...this.arrays.keys()].join(', ')}`);
    return found;
  }

  has(name: string): boolean {
    return this.arrays.has(name);
  }

  f32(name: string): Float32Array {
    const values = this.get(name).values();
    return values instanceof Float32Array ? values : Float32Array.from(values);
  }

  f64(name: string): Float64Array {
    const values = this.get(name).values();
    return values instanceof Float64Array ? values : Float64Array.from(values);
  }

  u8(name: string): Uint8Array {
    return this.get(name).bytes;
  }

  /** A word of the metadata that holds JSON. */
  json<T>(key: string): T | undefined {
    const text = this.metadata[key];
    return text === undefined ? undefined : (JSON.parse(text) as T);
  }
}

const BYTES: Record<DType, number> = {
  F64: 8, F32: 4, F16: 2, BF16: 2, F8_E4M3: 1, F8_E5M2: 1,
  I64: 8, I32: 4, I16: 2, I8: 1, U64: 8, U32: 4, U16: 2, U8: 1, BOOL: 1,
};

/** A float with `exponentBits` and `mantissaBits`; e4m3 (OCP FP8) has no infinities, only NaN at all ones. */
function smallFloat(bits: number, exponentBits: number, mantissaBits: number, infinities: boolean): number {
  const sign = bits >> (exponentBits + mantissaBits) ? -1 : 1;
  const largest = (1 << exponentBits) - 1;
  const exponent = (bits >> mantissaBits) & largest;
  const mantissa = bits & ((1 << mantissaBits) - 1);
  const bias = (1 << (exponentBits - 1)) - 1;
  if (exponent === largest && infinities) return mantissa ? NaN : sign * Infinity;
  if (exponent === largest && mantissa === (1 << mantissaBits) - 1) return NaN;
  const fraction = mantissa / (1 << mantissaBits);
  return exponent === 0 ? sign * fraction * 2 ** (1 - bias) : sign * (1 + fraction) * 2 ** (exponent - bias);
}

function aligned(bytes: Uint8Array, size: number): { buffer: ArrayBuffer; offset: number } {
  if (bytes.byteOffset % size === 0) return { buffer: bytes.buffer as ArrayBuffer, offset: bytes.byteOffset };
  return { buffer: bytes.slice().buffer as ArrayBuffer, offset: 0 };
}

function valuesOf(dtype: DType, bytes: Uint8Array): ArrayLike<number> {
  const size = BYTES[dtype];
  const count = bytes.byteLength / size;
  const { buffer, offset } = aligned(bytes, size);
  switch (dtype) {
    case 'F64': return new Float64Array(buffer, offset, count);
    case 'F32': return new Float32Array(buffer, offset, count);
    case 'I32': return new Int32Array(buffer, offset, count);
    case 'U32': return new Uint32Array(buffer, offset, count);
    case 'I16': return new Int16Array(buffer, offset, count);
    case 'U16': return new Uint16Array(buffer, offset, count);
    case 'I8': return new Int8Array(buffer, offset, count);
    case 'U8': case 'BOOL': return bytes;
    case 'I64': return Float64Array.from(new BigInt64Array(buffer, offset, count), Number);
    case 'U64': return Float64Array.from(new BigUint64Array(buffer, offset, count), Number);
    case 'F16': return Float32Array.from(new Uint16Array(buffer, offset, count), (b) => smallFloat(b, 5, 10, true));
    case 'BF16': return Float32Array.from(new Uint16Array(buffer, offset, count), (b) => smallFloat(b, 8, 7, true));
    case 'F8_E4M3': return Float32Array.from(bytes, (b) => smallFloat(b, 4, 3, false));
    case 'F8_E5M2': return Float32Array.from(bytes, (b) => smallFloat(b, 5, 2, true));
  }
}

/** Packed little-endian bytes as an array. */
export function arrayOf(dtype: DType, shape: number[], bytes: Uint8Array): NdArray {
  return { dtype, shape, bytes, values: () => valuesOf(dtype, bytes) };
}

interface Entry {
  dtype: DType;
  shape: number[];
  data_offsets: [number, number];
}

export function decodeArrays(document: ArrayBuffer | Uint8Array): Arrays {
  const bytes = document instanceof Uint8Array ? document : new Uint8Array(document);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headerBytes = Number(view.getBigUint64(0, true));
  if (8 + headerBytes > bytes.byteLength) throw new Error(`an answer of ${bytes.byteLength} bytes ends in its header`);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + headerBytes))) as Record<string, unknown>;
  const start = 8 + headerBytes;
  const arrays = new Map<string, NdArray>();
  for (const [name, value] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const { dtype, shape, data_offsets } = value as Entry;
    const slice = bytes.subarray(start + data_offsets[0], start + data_offsets[1]);
    if (slice.byteLength !== data_offsets[1] - data_offsets[0]) throw new Error(`array "${name}" is cut off`);
    arrays.set(name, arrayOf(dtype, shape, slice));
  }
  return new Arrays(arrays, (header['__metadata__'] ?? {}) as Record<string, string>);
}
