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

const WIDTH = 300; // of the drawing's own coordinates; it is stretched to its place
const HEIGHT = 24;
const EDGE = 6;

export function stripX(range: StripRange, step: number): number {
  const span = Math.max(1, range.last - range.first);
  return EDGE + ((step - range.first) / span) * (WIDTH - 2 * EDGE);
}

/** Marks by severity have shapes of their own: a note is a dot, a warning a triangle, an error a cross. */
function shapeOf(severity: string, x: number): string {
  const y = HEIGHT / 2;
  if (severity === 'error') return `M${x - 4} ${y - 5}l8 10m0 -10l-8 10`;
  if (severity === 'warning') return `M${x} ${y - 6}l5 10h-10z`;
  return `M${x - 2} ${y}a2 2 0 1 0 4 0a2 2 0 1 0 -4 0`;
}

/** At most one mark of a kind on each of the drawing's units: many firings cost no more than its width. */
function thinned(marks: readonly Mark[], range: StripRange): Mark[] {
  const seen = new Set<string>();
  return marks.filter((mark) => {
    const place = `${mark.severity} ${Math.round(stripX(range, mark.step))}`;
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
  const end = stripX(range, Math.min(judgedTo, range.last));
  const drawn = thinned(marks.filter((mark) => inside(mark.step)), range);
  return s(
    'svg',
    { class: 'rule-strip', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
    s('path', { class: 'axis', d: `M${EDGE} ${HEIGHT / 2}H${end}` }),
    end < WIDTH - EDGE && s('path', { class: 'axis unjudged', d: `M${end} ${HEIGHT / 2}H${WIDTH - EDGE}` }),
    ...drawn
      .filter((mark) => mark.lastStep > mark.step)
      .map((mark) => s('path', { class: 'lasting', d: `M${stripX(range, mark.step)} ${HEIGHT / 2}H${stripX(range, Math.min(mark.lastStep, range.last))}` })),
    ...drawn.map((mark) => s('path', { class: `mark ${severitySign(mark.severity).tone}`, d: shapeOf(mark.severity, stripX(range, mark.step)) })),
    cursor !== null && inside(cursor) && s('path', { class: 'cursor', d: `M${stripX(range, cursor)} 0V${HEIGHT}` }),
  );
}
