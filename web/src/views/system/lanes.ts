// Lanes: which lines of the machine are drawn on which strip of the time line.
import { short } from '../../draw/numbers';
import type { SystemLine } from './api';
import { measured } from './words';

export interface Lane {
  id: string;
  title: string;
  unit: string;
  lines: SystemLine[];
  /** The upper end of its scale; the lower one is 0. */
  top: number;
}

const LANES: readonly (readonly [id: string, title: string, unit: string, kinds: readonly string[]])[] = [
  ['cpu', 'Processors', '%', ['cpu', 'cgroup_cpu', 'iowait', 'steal', 'pressure_cpu', 'pressure_io']],
  ['throttled', 'Kept from running', 'threads', ['throttled']],
  ['gpu', 'GPU', '%', ['gpu', 'gpu_sm', 'gpu_tensor', 'gpu_bandwidth']],
  ['memory', 'Memory', '%', ['memory', 'cgroup_memory', 'gpu_memory', 'pressure_memory']],
  ['training_memory', 'Training’s memory', 'bytes', ['training_memory', 'swap']],
  ['disk', 'Disk', 'bytes/s', ['disk_read', 'disk_written']],
  ['disk_busy', 'Disk busy', '%', ['disk_busy']],
  ['network', 'Network', 'bytes/s', ['received', 'sent']],
  ['training_cpu', 'Training’s processors', 'processors', ['training_cpu']],
  ['gpu_power', 'GPU power', 'watts', ['gpu_power']],
  ['gpu_temperature', 'GPU temperature', 'celsius', ['gpu_temperature']],
];

/** Those that are shown at first; the others are one click away. */
export const USUAL_LANES: ReadonlySet<string> = new Set(['cpu', 'throttled', 'gpu', 'memory', 'training_memory', 'disk', 'network']);

/** Lines that can be told apart in a lane. */
export const MOST_LINES = 8;

export function largest(values: readonly (number | null)[]): number {
  let most = 0;
  for (const value of values) if (value !== null && value > most) most = value;
  return most;
}

/** The next of 1, 2, 5, 10, ... (of 1, 2, 4, ... in bytes), so that a scale ends at a round number. */
export function roundTop(value: number, unit: string): number {
  if (unit === '%') return 100;
  if (!(value > 0)) return 1;
  if (unit.startsWith('bytes')) return 2 ** Math.ceil(Math.log2(value));
  const ten = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * ten).find((step) => step >= value * 0.9999)!;
}

/** Lanes that have any line, in the order of the table above. Cores are the heat map's. */
export function lanesOf(system: readonly SystemLine[]): Lane[] {
  return LANES.flatMap(([id, title, unit, kinds]) => {
    const lines = kinds.flatMap((kind) => system.filter((line) => line.kind === kind && line.values.some((value) => value !== null)));
    const worthShowing = id === 'throttled' || id === 'disk_busy' ? lines.some(({ values }) => largest(values) > 0) : lines.length > 0;
    if (!worthShowing) return [];
    return [{ id, title, unit, lines, top: roundTop(Math.max(...lines.map(({ values }) => largest(values))), unit) }];
  });
}

/** "read from disk sda", with the machine where there are several. */
export function lineName(line: Pick<SystemLine, 'label' | 'part' | 'instance'>, manyMachines: boolean): string {
  return [line.label, line.part, manyMachines ? `on ${line.instance}` : ''].filter(Boolean).join(' ');
}

export function machinesIn(system: readonly SystemLine[]): number {
  return new Set(system.map(({ kind, instance }) => (kind.startsWith('gpu') ? '' : instance)).filter(Boolean)).size;
}

/** The upper end of a scale in words: "100 %", "8 GiB". */
export function topInWords(lane: Lane): string {
  if (lane.unit === 'bytes' || lane.unit === 'bytes/s') return measured(lane.top, lane.unit).replace(/\.0+ /, ' ');
  return lane.unit === '%' ? '100 %' : short(lane.top);
}

/** The mean of what is known, null where nothing is. */
export function meanOf(values: readonly (number | null)[]): number | null {
  let [sum, count] = [0, 0];
  for (const value of values) {
    if (value === null) continue;
    sum += value;
    ++count;
  }
  return count === 0 ? null : sum / count;
}
