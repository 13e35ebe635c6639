// What the machine does: the last values of what tells most, with their course.
import { h, s } from '../../draw/dom';
import { bytes, short } from '../../draw/numbers';
import { card } from './cards';
import { sampledStretches } from '../../draw/samples';
import { coursePath } from './course';

/** GET /runs/{run}/profile/timeline, as far as it is wanted here. */
export interface SystemTimeline {
  buckets: number;
  system: { kind: string; label: string; unit: string; instance: string; part: string; values: (number | null)[] }[];
}

type Line = SystemTimeline['system'][number];

// What of the container is known tells more than what is known of the whole machine.
const TOLD: readonly (readonly string[])[] = [['cgroup_cpu', 'cpu'], ['iowait'], ['throttled'], ['gpu'], ['gpu_memory'], ['cgroup_memory', 'memory'], ['training_memory'], ['disk_read'], ['received']];
const MOST_OF_A_KIND = 2; // GPUs, disks: all of them are in the view

function lastOf({ values }: Line): number | null {
  return [...values].reverse().find((value) => value !== null) ?? null;
}

function inUnit(value: number | null, unit: string): string {
  if (value === null) return '–';
  if (unit === 'bytes') return bytes(Math.round(value));
  if (unit === 'bytes/s') return `${bytes(Math.round(value))}/s`;
  return `${short(Math.abs(value) >= 10 ? Math.round(value) : value, 2)} ${unit}`;
}

export function toldLines(timeline: SystemTimeline): Line[] {
  return TOLD.flatMap((kinds) => {
    for (const kind of kinds) {
      const lines = timeline.system.filter((line) => line.kind === kind && lastOf(line) !== null);
      const matters = kind !== 'throttled' || lines.some(({ values }) => values.some((value) => (value ?? 0) > 0));
      if (lines.length > 0 && matters) return lines.slice(0, MOST_OF_A_KIND);
    }
    return [];
  });
}

/** Without the buckets between two samples; where more is missing there is a gap. */
function sampledPath(values: Line['values']): string {
  const places = sampledStretches(values).flatMap((stretch, i) => (i === 0 ? stretch : [stretch[0]! - 0.5, ...stretch]));
  return coursePath(places, places.map((at) => values[at] ?? NaN), 120, 22);
}

export function systemCard(timeline: SystemTimeline, link: string | undefined): HTMLElement | undefined {
  const lines = toldLines(timeline);
  if (lines.length === 0) return undefined;
  const rows = lines.map((line) => {
    return h('tr', {}, h('th', { scope: 'row' }, [line.label, line.part].filter(Boolean).join(' ')), h('td', { class: 'number' }, inUnit(lastOf(line), line.unit)),
      h('td', {}, s('svg', { viewBox: '0 0 120 22', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, s('path', { d: sampledPath(line.values) }))));
  });
  return card('System', h('table', { class: 'system-lines' },
    h('thead', { class: 'sr-only' }, h('tr', {}, h('th', { scope: 'col' }, 'What'), h('th', { scope: 'col' }, 'Last'), h('th', { scope: 'col' }, 'Trend'))),
    h('tbody', {}, ...rows)), link && h('p', {}, h('a', { href: link }, 'Where the time goes')));
}
