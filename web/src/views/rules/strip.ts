// Strip: a line of steps with a mark wherever a rule fired.
import { s } from '../../draw/dom';
import { severitySign } from './words';

export interface Mark {
  step: number;
  lastStep: number;
  severity: string;
}

export interface StripRange {
  first: number;
  last: number;
}

const PLACES = 300; // marks of a kind that can be distinguished

/** The place of a step, from 0 to 1. */
export function stripPlace(range: StripRange, step: number): number {
  return range.last > range.first ? (step - range.first) / (range.last - range.first) : 0.5;
}

/** Within a margin for half a mark. */
function percent(place: number): string {
  return `${(2 + 96 * place).toFixed(2)}%`;
}

/** By severity of a shape of their own: a note is a dot, a warning a triangle, an error a cross. Around (0, 12). */
function shapeOf(severity: string): string {
  if (severity === 'error') return 'M-4 7l8 10m0 -10l-8 10';
  if (severity === 'warning') return 'M0 6l5 10h-10z';
  return 'M-2.5 12a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0';
}

/** At most one mark of a kind at each place: many firings cost no more than the width. */
function thinned(marks: readonly Mark[], range: StripRange): Mark[] {
  const seen = new Set<string>();
  return marks.filter((mark) => {
    const place = `${mark.severity} ${Math.round(PLACES * stripPlace(range, mark.step))}`;
    return !seen.has(place) && seen.add(place);
  });
}

/** `label` says it in words. `judgedTo`: nothing behind this step was judged. */
export function strip(
  range: StripRange,
  marks: readonly Mark[],
  label: string,
  cursor: number | null,
  judgedTo = range.last,
): SVGSVGElement {
  const inside = (step: number) => step >= range.first && step <= range.last;
  const at = (step: number) => percent(stripPlace(range, Math.min(step, range.last)));
  const line = (name: string, from: string, to: string) => s('line', { class: name, x1: from, x2: to, y1: 12, y2: 12 });
  const drawn = thinned(marks.filter((mark) => inside(mark.step)), range);
  const end = range.last > range.first ? at(judgedTo) : percent(1);
  return s(
    'svg',
    { class: 'rule-strip', role: 'img', 'aria-label': label },
    line('axis', percent(0), end),
    judgedTo < range.last && line('axis unjudged', end, percent(1)),
    ...drawn.filter((mark) => mark.lastStep > mark.step).map((mark) => line('lasting', at(mark.step), at(mark.lastStep))),
    ...drawn.map((mark) => s('svg', { x: at(mark.step), overflow: 'visible', class: severitySign(mark.severity).tone }, s('path', { class: 'mark', d: shapeOf(mark.severity) }))),
    cursor !== null && inside(cursor) && s('line', { class: 'cursor', x1: at(cursor), x2: at(cursor), y1: 0, y2: 24 }),
  );
}
