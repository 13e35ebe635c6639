// The time line as shapes: phases stacked above, the machine's lines below, all on one axis.
import { categoryOf } from '../../draw/colours';
import { sampledStretches } from '../../draw/samples';
import { byStepOrder, phaseWords } from '../../draw/phase_colours';
import type { Theme } from '../../draw/theme';
import type { PhaseLine, Timeline, Values } from './api';
import { MOST_LINES, meanOf, topInWords, type Lane } from './lanes';
import { phaseFill } from './phase_bars';
import { px, type Drawing, type Shape } from './shapes';
import { LEFT, RIGHT, type TimeAxis } from './time_axis';
import { percent } from './words';

export const MARKS_HIGH = 14; // where rules fired
const PHASES_HIGH = 120;
const LANE_HIGH = 58;
const GAP = 14;
const AXIS_HIGH = 22;

export type Colours = Pick<Theme, 'dark' | 'ground' | 'text' | 'muted' | 'line'>;

/** Of each phase its share in each bucket: of one worker, or the mean of all that know it there. */
export function stackedPhases(lines: readonly PhaseLine[], worker: string | undefined, buckets: number): { phase: string; values: Values }[] {
  const chosen = lines.filter((line) => worker === undefined || line.worker === worker);
  const phases = [...new Set(chosen.map(({ phase }) => phase))].sort(byStepOrder);
  const workers = [...new Set(chosen.map((line) => line.worker))];
  const knows = workers.map((each) => knownBuckets(chosen.filter((line) => line.worker === each), buckets));
  return phases.map((phase) => {
    const values: Values = Array.from({ length: buckets }, (_, i) => {
      let [sum, known] = [0, 0];
      workers.forEach((each, w) => {
        if (!knows[w]![i]) return;
        ++known;
        sum += chosen.find((line) => line.worker === each && line.phase === phase)?.values[i] ?? 0;
      });
      return known === 0 ? null : sum / known;
    });
    return { phase, values };
  });
}

function knownBuckets(lines: readonly PhaseLine[], buckets: number): boolean[] {
  return Array.from({ length: buckets }, (_, i) => lines.some(({ values }) => values[i] !== null && values[i] !== undefined));
}

/** Stretches of buckets for which `known` holds: [first, behind the last). */
export function knownRuns(buckets: number, known: (bucket: number) => boolean): [number, number][] {
  const runs: [number, number][] = [];
  for (let i = 0; i < buckets; ++i) {
    if (!known(i)) continue;
    const from = i;
    while (i < buckets && known(i)) ++i;
    runs.push([from, i]);
  }
  return runs;
}

/** A line through the middles of the buckets that are known, broken where more is missing than between samples; a lone value is a short stroke. */
export function linePath(values: Values, x: (bucket: number) => number, y: (value: number) => number): string {
  let path = '';
  for (const stretch of sampledStretches(values)) {
    const [first] = stretch as [number];
    if (stretch.length === 1) path += `M${px(x(first + 0.15))} ${px(y(values[first]!))}H${px(x(first + 0.85))}`;
    else stretch.forEach((at, i) => (path += `${i === 0 ? 'M' : 'L'}${px(x(at + 0.5))} ${px(y(values[at]!))}`));
  }
  return path;
}

/** From one border to the next above it, over all stretches where it is known; buckets are as wide as they are. */
function bandPath(low: readonly number[], high: readonly number[], runs: readonly [number, number][], x: (bucket: number) => number, y: (share: number) => number): string {
  let path = '';
  for (const [from, to] of runs) {
    path += `M${px(x(from))} ${px(y(high[from]!))}`;
    for (let i = from; i < to; ++i) path += `V${px(y(high[i]!))}H${px(x(i + 1))}`;
    for (let i = to - 1; i >= from; --i) path += `V${px(y(low[i]!))}H${px(x(i))}`;
    path += 'Z';
  }
  return path;
}

export interface TimeLineLayout extends Drawing {
  /** Where the plot ends and the axis begins. */
  bottom: number;
}

export function layoutTimeLine(timeline: Timeline, phases: readonly { phase: string; values: Values }[], lanes: readonly Lane[], axis: TimeAxis, theme: Colours): TimeLineLayout {
  const { buckets } = timeline;
  const bucketMs = (timeline.to_unix_ms - timeline.from_unix_ms) / Math.max(1, buckets);
  const x = (bucket: number) => axis.x(timeline.from_unix_ms + bucket * bucketMs);
  const shapes: Shape[] = [];
  let top = MARKS_HIGH;
  const grid = (bottom: number) => axis.ticks().forEach((tick) => shapes.push({ kind: 'path', d: `M${px(tick.x)} ${MARKS_HIGH}V${px(bottom)}`, stroke: theme.line, width: 1, opacity: 0.6 }));
  const plots = (phases.length > 0 ? PHASES_HIGH + GAP : 0) + lanes.length * (LANE_HIGH + GAP);
  const bottom = MARKS_HIGH + Math.max(0, plots - GAP);
  grid(bottom);
  if (phases.length > 0) {
    shapes.push(...phaseShapes(phases, buckets, x, top, axis, theme));
    top += PHASES_HIGH + GAP;
  }
  for (const lane of lanes) {
    shapes.push(...laneShapes(lane, x, top, axis, theme));
    top += LANE_HIGH + GAP;
  }
  for (const tick of axis.ticks()) shapes.push({ kind: 'text', x: Math.min(Math.max(tick.x, axis.left + 20), axis.width - 28), y: bottom + 16, text: tick.text, fill: theme.muted, anchor: 'middle', size: 11 });
  return { width: axis.width, height: bottom + AXIS_HIGH, bottom, title: inWords(phases, lanes), shapes };
}

/** A strip's name, and from where to where it goes; with little room a line for each word. */
function gutter(title: string, high: string, top: number, { left }: TimeAxis, theme: Colours): Shape[] {
  const isNarrow = left < LEFT;
  const lines = isNarrow ? title.split(' ') : [title];
  return [
    ...lines.map((text, i): Shape => ({ kind: 'text', x: 0, y: top + 12 + 13 * i, text, fill: theme.text, bold: true, size: isNarrow ? 11 : undefined })),
    { kind: 'text', x: 0, y: top + 15 + 13 * lines.length, text: `0 – ${high}`, fill: theme.muted, size: isNarrow ? 10 : 11 },
  ];
}

function frame(top: number, height: number, { left, width }: TimeAxis, theme: Colours): Shape[] {
  return [
    { kind: 'path', d: `M${left} ${px(top + height)}H${px(width - RIGHT)}`, stroke: theme.line, width: 1 },
    { kind: 'path', d: `M${left} ${px(top)}H${px(width - RIGHT)}`, stroke: theme.line, width: 1, dash: '2 4' },
  ];
}

function phaseShapes(phases: readonly { phase: string; values: Values }[], buckets: number, x: (bucket: number) => number, top: number, axis: TimeAxis, theme: Colours): Shape[] {
  const shapes = [...gutter('Phases', '100 %', top, axis, theme), ...frame(top, PHASES_HIGH, axis, theme)];
  const runs = knownRuns(buckets, (i) => phases.some(({ values }) => values[i] !== null));
  const y = (share: number) => top + PHASES_HIGH * (1 - Math.min(1, share));
  let low = new Array<number>(buckets).fill(0);
  for (const { phase, values } of phases) {
    const high = low.map((below, i) => below + (values[i] ?? 0));
    const { fill, hatched } = phaseFill(phase, theme.dark);
    if (high.some((above, i) => above - low[i]! > 1e-4)) shapes.push({ kind: 'path', d: bandPath(low, high, runs, x, y), fill, hatched, title: phaseWords(phase) });
    low = high;
  }
  return shapes;
}

function laneShapes(lane: Lane, x: (bucket: number) => number, top: number, axis: TimeAxis, theme: Colours): Shape[] {
  const y = (value: number) => top + LANE_HIGH * (1 - Math.min(1, value / lane.top));
  const shapes = [...gutter(lane.title, topInWords(lane), top, axis, theme), ...frame(top, LANE_HIGH, axis, theme)];
  lane.lines.slice(0, MOST_LINES).forEach((line, i) => {
    const category = categoryOf(i);
    shapes.push({ kind: 'path', d: linePath(line.values, x, y), stroke: theme.dark ? category.dark : category.light, width: 1.5, dash: category.dash.length > 0 ? category.dash.join(' ') : undefined });
  });
  return shapes;
}

function inWords(phases: readonly { phase: string; values: Values }[], lanes: readonly Lane[]): string {
  const mix = phases.map(({ phase, values }) => ({ phase, mean: meanOf(values) ?? 0 })).sort((a, b) => b.mean - a.mean).slice(0, 4).map(({ phase, mean }) => `${phaseWords(phase)} ${percent(mean)}`);
  const machine = lanes.map(({ title }) => title.toLowerCase());
  return `Time line. ${mix.length > 0 ? `Phases on average: ${mix.join(', ')}. ` : ''}${machine.length > 0 ? `Below: ${machine.join(', ')}.` : ''}`;
}
