// In words, which series have steps that the server has not read yet.
import { count } from '../../draw/numbers';
import type { Series } from '../series';

/** What is not drawn because it has not been read. */
export function stillReading(all: readonly Series[]): string {
  const reading = all.filter(({ words }) => words.left > 0);
  if (reading.length === 0) return '';
  const last = Math.min(...reading.map(({ words }) => words.last_step));
  const upTo = last < 0 ? 'nothing of the slowest' : `the slowest up to step ${count(last)}`;
  return `${count(reading.length)} of ${count(all.length)} series are still being read, ${upTo}: what is missing is not drawn. `;
}
