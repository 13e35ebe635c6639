// In words, what of the numbers is not drawn: what the server has not read yet, and what it could not read.
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

/** What was read of a program's output, as GET /runs/{run}/series has it. */
export interface Output {
  cut_records: number;
  lost_values: number;
  metrics: { name: string; parse_errors: number; first_unreadable: string; given_up: number }[];
}

/** What stood there and is in no line. */
export function unreadOutput(output: Output | null | undefined): string {
  if (!output) return '';
  const parts = output.metrics.flatMap(({ name, parse_errors, first_unreadable, given_up }) => [
    parse_errors > 0 && `${count(parse_errors)} matches of ${name} in the output are no number, the first “${first_unreadable}”. `,
    given_up > 0 && `The search for ${name} took too long on ${count(given_up)} lines of the output. `,
  ]);
  const cut = output.cut_records > 0 && `Of ${count(output.cut_records)} lines of the output only the beginning was read. `;
  const lost = output.lost_values > 0 && `${count(output.lost_values)} values of the output could not be kept. `;
  return [...parts, cut, lost].filter((part) => part !== false).join('');
}
