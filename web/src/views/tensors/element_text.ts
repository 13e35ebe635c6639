// One element as text: the shortest that reads back to the same bits in its dtype; whole numbers with all digits.
import type { NdArray } from '../../data/safetensors';

/** How many decimal digits always suffice, and the distance test's type. */
const DIGITS: Partial<Record<string, number>> = { float32: 9, float16: 5, bfloat16: 4, float8_e4m3: 3, float8_e5m2: 3 };

/** Mantissa bits with the hidden one, and the exponent of the smallest normal number. */
const FORMATS: Partial<Record<string, readonly [bits: number, smallest: number]>> = {
  float16: [11, -14],
  bfloat16: [8, -126],
  float8_e4m3: [4, -6],
  float8_e5m2: [3, -14],
};

/** The nearest number of the dtype, ties to even; for numbers within its range. */
function rounded(value: number, dtype: string): number {
  if (dtype === 'float32') return Math.fround(value);
  const format = FORMATS[dtype];
  if (!format || value === 0) return value;
  const [bits, smallest] = format;
  const exponent = Math.max(Math.floor(Math.log2(Math.abs(value))), smallest);
  const unit = 2 ** (exponent - bits + 1);
  const units = value / unit;
  const down = Math.floor(units);
  const rest = units - down;
  return (rest > 0.5 || (rest === 0.5 && down % 2 !== 0) ? down + 1 : down) * unit;
}

/** "0.1" of the float32 0.1; "-0", "nan", "inf" as NumPy and Python read them. */
export function floatText(value: number, dtype: string): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0';
  const most = DIGITS[dtype];
  if (most === undefined) return String(value);
  for (let digits = 1; digits <= most; ++digits) {
    const text = value.toPrecision(digits);
    if (rounded(Number(text), dtype) === value) return String(Number(text));
  }
  return String(value);
}

/** The elements of an array of `dtype` (the run's word; complex ones are pairs), each as text, bits and number. */
export class Elements {
  readonly count: number;
  private readonly values: ArrayLike<number>;
  private readonly view: DataView;
  private readonly bytesEach: number;

  constructor(
    private readonly array: NdArray,
    private readonly dtype: string,
  ) {
    this.values = array.values();
    this.view = new DataView(array.bytes.buffer, array.bytes.byteOffset, array.bytes.byteLength);
    this.count = dtype.startsWith('complex') ? this.values.length / 2 : this.values.length;
    this.bytesEach = array.bytes.byteLength / Math.max(this.count, 1);
  }

  text(index: number): string {
    switch (this.dtype) {
      case 'int64': return this.view.getBigInt64(8 * index, true).toString();
      case 'uint64': return this.view.getBigUint64(8 * index, true).toString();
      case 'bool': return this.array.bytes[index] ? 'true' : 'false';
      case 'complex64': return this.pair(index, 'float32');
      case 'complex128': return this.pair(index, 'float64');
      default: return floatText(this.values[index]!, this.dtype);
    }
  }

  /** What is stored, beyond doubt: "0x3f800000". */
  bits(index: number): string {
    let text = '';
    for (let byte = this.bytesEach - 1; byte >= 0; --byte) {
      text += this.array.bytes[index * this.bytesEach + byte]!.toString(16).padStart(2, '0');
    }
    return `0x${text}`;
  }

  /** To be drawn; complex ones by magnitude. */
  number(index: number): number {
    return this.dtype.startsWith('complex')
      ? Math.hypot(this.values[2 * index]!, this.values[2 * index + 1]!)
      : this.values[index]!;
  }

  private pair(index: number, part: string): string {
    const imaginary = floatText(this.values[2 * index + 1]!, part);
    return `${floatText(this.values[2 * index]!, part)}${imaginary.startsWith('-') ? '' : '+'}${imaginary}j`;
  }
}
