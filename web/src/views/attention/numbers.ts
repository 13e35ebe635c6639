// Numbers of a row of weights.
import { exact } from '../../draw/numbers';

/** The entropy of a row in nats, as the server's: 0 when one key has all, ln of the keys when each has the same. */
export function entropyNats(row: ArrayLike<number>): number {
  let entropy = 0;
  for (let i = 0; i < row.length; i++) {
    const weight = row[i]!;
    if (weight > 0) entropy -= weight * Math.log(weight);
  }
  return entropy;
}

/** 1 for the largest. Equal values have the same rank. */
export function rankOf(values: ArrayLike<number>, index: number): number {
  const value = values[index]!;
  let rank = 1;
  for (let i = 0; i < values.length; i++) if (values[i]! > value) rank++;
  return rank;
}

/** The indices of the largest values, largest first. */
export function largest(values: ArrayLike<number>, count: number): number[] {
  const order = Array.from({ length: values.length }, (_, i) => i);
  return order.sort((a, b) => values[b]! - values[a]! || a - b).slice(0, count);
}

export function argmax(values: ArrayLike<number>): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i]! > values[best]!) best = i;
  return best;
}

/** A 32-bit float for a file: written as a number, it is the shortest text that reads back as the same. */
export function forFile(value: number): number {
  return Number(exact(value, 'F32'));
}
