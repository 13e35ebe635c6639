// What the neuron view works out from an answer: sums that must agree, and the order of dimensions.
import type { Neuron } from './api';
import type { Selection } from './selection';

export interface Invariants {
  /** The largest difference between a sum of q × k over dimensions and q · k, and whether rounding explains it. */
  dotDifference: number;
  dotHolds: boolean;
  /** The largest difference between q · k times the scale and the scaled one, masked keys left out. */
  scaleDifference: number;
  scaleHolds: boolean;
  softmaxSum: number;
  /** All keys are here, so that their sum must be one. */
  wholeRow: boolean;
  softmaxHolds: boolean;
  /** The largest difference from the weights that the run has kept; null: it has kept none. */
  capturedDifference: number | null;
}

/** A float32 has 24 bits; a sum of n of them is off by n half units at most. */
const UNIT = 2 ** -24;

function isMasked(scaled: number): boolean {
  return scaled === -Infinity || scaled < -1e30;
}

export function invariantsOf(neuron: Neuron): Invariants {
  const { keys, size, product, dot, scaled, softmax, scale, captured } = neuron;
  const found: Invariants = {
    dotDifference: 0, dotHolds: true, scaleDifference: 0, scaleHolds: true, softmaxSum: 0,
    wholeRow: keys === neuron.origin.keyLength, softmaxHolds: true, capturedDifference: captured ? 0 : null,
  };
  for (let key = 0; key < keys; key++) {
    let [sum, bulk] = [0, 0];
    for (let at = key * size; at < (key + 1) * size; at++) {
      sum += product[at]!;
      bulk += Math.abs(product[at]!);
    }
    const difference = Math.abs(sum - dot[key]!);
    found.dotDifference = Math.max(found.dotDifference, difference);
    found.dotHolds &&= difference <= 4 * size * UNIT * bulk + 1e-30;
    if (!isMasked(scaled[key]!)) {
      const off = Math.abs(dot[key]! * scale - scaled[key]!);
      found.scaleDifference = Math.max(found.scaleDifference, off);
      found.scaleHolds &&= off <= 4 * size * UNIT * bulk * Math.abs(scale) + 1e-30;
    }
    found.softmaxSum += softmax[key]!;
    if (captured) found.capturedDifference = Math.max(found.capturedDifference!, Math.abs(captured[key]! - softmax[key]!));
  }
  found.softmaxHolds = found.wholeRow ? Math.abs(found.softmaxSum - 1) <= 1e-5 : found.softmaxSum <= 1 + 1e-5;
  return found;
}

/** Dimensions from the one to be shown first. */
export function orderOfDims(neuron: Neuron, dims: Selection['dims'], key: number): number[] {
  const order = Array.from({ length: neuron.size }, (_, dim) => dim);
  if (dims === 'index') return order;
  const by = dims === 'contribution' ? contributions(neuron, key) : variances(neuron);
  return order.sort((a, b) => by[b]! - by[a]! || a - b);
}

function contributions(neuron: Neuron, key: number): Float32Array {
  return neuron.product.subarray(key * neuron.size, (key + 1) * neuron.size);
}

/** How much each dimension of the keys differs from key to key. */
function variances(neuron: Neuron): Float64Array {
  const { size, keys, key } = neuron;
  return Float64Array.from({ length: size }, (_, dim) => {
    let [sum, squares] = [0, 0];
    for (let at = dim; at < keys * size; at += size) {
      sum += key[at]!;
      squares += key[at]! ** 2;
    }
    return keys === 0 ? 0 : squares / keys - (sum / keys) ** 2;
  });
}

/** Rows of a matrix, first to last, with their dimensions in another order: row 0 is the top row of the picture. */
export function rowsInOrder(values: Float32Array, size: number, first: number, count: number, order: readonly number[]): Float32Array {
  const out = new Float32Array(count * size);
  for (let row = 0; row < count; row++) {
    for (let place = 0; place < size; place++) out[row * size + place] = values[(first + row) * size + order[place]!]!;
  }
  return out;
}

export function largestSize(...arrays: readonly ArrayLike<number>[]): number {
  let most = 0;
  for (const values of arrays) for (let i = 0; i < values.length; i++) if (Number.isFinite(values[i])) most = Math.max(most, Math.abs(values[i]!));
  return most;
}
