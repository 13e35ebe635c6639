// Step time by phase: a bar for each worker, the slowest first, and a legend with shares and milliseconds.
import { h } from '../../draw/dom';
import { byStepOrder, phaseColour, phaseWords } from '../../draw/phase_colours';
import type { Theme } from '../../draw/theme';
import type { PhaseShare, ProfileAnswer, WorkerPart } from './api';
import { part, px, svgOf, swatch, type Drawing, type Shape } from './shapes';
import { percent, time } from './words';

const BAR = 26;
const GAP = 8;
const LABEL_PX = 7.2; // a character, on average

/** Ranks by skew. */
export function bySkew(workers: readonly WorkerPart[]): WorkerPart[] {
  return [...workers].sort((a, b) => (b.skew ?? 0) - (a.skew ?? 0) || (a.worker < b.worker ? -1 : 1));
}

export function inStepOrder(phases: readonly PhaseShare[]): PhaseShare[] {
  return [...phases].sort((a, b) => byStepOrder(a.phase, b.phase));
}

export function phaseFill(phase: string, dark: boolean): { fill: string; hatched: boolean } {
  const { light, dark: onDark, hatched } = phaseColour(phase);
  return { fill: dark ? onDark : light, hatched };
}

/** All bars have the width of the slowest worker's step: a bar that is shorter belongs to a worker that is faster. */
export function layoutBars(workers: readonly WorkerPart[], width: number, theme: Pick<Theme, 'dark' | 'ground' | 'text' | 'muted'>): Drawing {
  const label = workers.length > 1 ? Math.min(170, width * 0.3) : 0;
  const longest = workers.reduce((most, { median_ms }) => Math.max(most, median_ms ?? 0), 0);
  const shapes: Shape[] = [];
  workers.forEach((worker, row) => {
    const y = row * (BAR + GAP) + 2;
    const room = (width - label) * (longest > 0 && worker.median_ms !== null ? worker.median_ms / longest : 1);
    if (label > 0) shapes.push({ kind: 'text', x: 0, y: y + 12, text: worker.worker, fill: theme.text }, { kind: 'text', x: 0, y: y + 25, text: workerNote(worker, label < 160), fill: theme.muted, size: 11 });
    shapes.push(...barOf(worker, label, y, room, theme));
  });
  return { width, height: workers.length * (BAR + GAP) + 2, title: barsInWords(workers), shapes };
}

function barOf(worker: WorkerPart, left: number, y: number, width: number, theme: Pick<Theme, 'dark' | 'ground'>): Shape[] {
  const shapes: Shape[] = [];
  const sum = worker.phases.reduce((all, { share }) => all + (share ?? 0), 0) || 1;
  let x = left;
  for (const each of inStepOrder(worker.phases)) {
    const wide = ((each.share ?? 0) / sum) * width;
    const { fill, hatched } = phaseFill(each.phase, theme.dark);
    if (wide >= 0.5) shapes.push({ kind: 'rect', x, y, width: wide - (wide > 3 ? 1 : 0), height: BAR, fill, hatched, title: `${phaseWords(each.phase)}: ${percent(each.share)}, ${time(each.ms_per_step)} a step` });
    const text = `${phaseWords(each.phase)} ${percent(each.share)}`;
    const short = percent(each.share);
    const fits = wide > text.length * LABEL_PX + 12 ? text : wide > short.length * LABEL_PX + 10 ? short : '';
    if (fits !== '' && !hatched) shapes.push({ kind: 'text', x: x + 7, y: y + 17, text: fits, fill: theme.dark ? '#0b1620' : '#ffffff' });
    x += wide;
  }
  return shapes;
}

function workerNote({ median_ms, skew }: WorkerPart, isShort: boolean): string {
  return [time(median_ms), skew !== null && Math.abs(skew - 1) >= 0.005 ? `${skew.toFixed(2)} ×${isShort ? '' : ' the median'}` : ''].filter(Boolean).join(', ');
}

function barsInWords(workers: readonly WorkerPart[]): string {
  return workers.map(({ worker, phases }) => `${worker}: ${[...phases].sort((a, b) => (b.share ?? 0) - (a.share ?? 0)).slice(0, 5).map(({ phase, share }) => `${phaseWords(phase)} ${percent(share)}`).join(', ')}`).join('. ');
}

/** Of the worker that is shown first, the largest share first; a table, so that it is read as one. */
function legend(worker: WorkerPart, theme: Theme): HTMLElement {
  const rows = [...worker.phases].sort((a, b) => (b.share ?? 0) - (a.share ?? 0)).map((each) => {
    const { fill, hatched } = phaseFill(each.phase, theme.dark);
    return h('tr', { 'data-phase': each.phase },
      h('th', { scope: 'row' }, swatch(fill, hatched, theme.ground), phaseWords(each.phase)),
      h('td', { class: 'number' }, percent(each.share)),
      h('td', { class: 'number muted' }, each.ms_per_step === null ? '' : time(each.ms_per_step)));
  });
  return h('table', { class: 'phase-legend' },
    h('thead', { class: 'sr-only' }, h('tr', {}, ...['Phase', 'Share', 'A step'].map((head) => h('th', { scope: 'col' }, head)))),
    h('tbody', {}, ...rows));
}

/** Who recorded steps was watched, and writes none: a program in C++ that calls the hook, or one of another framework. */
function withoutPhases(steps: number): HTMLElement[] {
  if (steps > 0) {
    return [h('p', { class: 'muted' }, 'Steps were recorded, but not what their time was spent on. A PyTorch program that is started under ', h('code', {}, 'trainwarden run'), ' records this by itself. Any other program, such as one in C++, can save it as scalars of each step, in seconds: ', h('code', {}, 'phase/step'), ', ', h('code', {}, 'phase/forward'), ', ', h('code', {}, 'phase/backward'), ' …')];
  }
  return [h('p', { class: 'muted' }, 'No steps were recorded: the program was not started under a hook that sees them. This records them:'), h('pre', {}, 'trainwarden run -- python train.py')];
}

export function phasesPart(answer: ProfileAnswer, width: number, theme: Theme): HTMLElement {
  const workers = bySkew(answer.workers).filter(({ phases }) => phases.length > 0);
  if (workers.length === 0) {
    return part('phases', 'Step time by phase', ...withoutPhases(answer.steps.count));
  }
  const { count, divided } = answer.steps;
  const known = divided > 0 && divided < count ? `Divided from ${divided.toLocaleString('en')} of ${count.toLocaleString('en')} steps; ${knownOfAll(workers[0]!)} of all.` : '';
  const first = workers[0]!;
  return part('phases', 'Step time by phase',
    h('div', { class: 'phase-bars' }, svgOf(layoutBars(workers, width, theme), theme.ground)),
    workers.length > 1 && h('p', { class: 'muted' }, `In numbers, the slowest: ${first.worker}`),
    legend(first, theme),
    known !== '' && h('p', { class: 'muted' }, known));
}

/** "data wait and checkpoint are known". */
function knownOfAll({ phases }: WorkerPart): string {
  const known = inStepOrder(phases).filter((each) => each.known_of_all_steps).map(({ phase }) => phaseWords(phase));
  return known.length === 0 ? 'no phase is known' : `${known.slice(0, -1).join(', ')}${known.length > 1 ? ' and ' : ''}${known.at(-1)} ${known.length > 1 ? 'are' : 'is'} known`;
}

/** A triangle that points down at (x, y). */
export function marker(x: number, y: number): string {
  return `M${px(x - 4)} ${px(y - 7)}h8l-4 7z`;
}
