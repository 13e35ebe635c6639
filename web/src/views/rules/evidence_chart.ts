// The watched number around a firing: its course, the threshold, and where the rule fired.
import type { Course } from '../../data/course';
import { s } from '../../draw/dom';
import { short } from '../../draw/numbers';
import { holesInWords, holesPath } from '../course_holes';

export interface ChartQuestion {
  title: string;
  course: Course;
  threshold: number;
  firedAt: number;
  /** The evidence's own number, also where the series has another. */
  value: number;
  quantity: string;
  /** The series is being loaded: nothing is drawn for it yet. */
  reading?: boolean;
}

const WIDTH = 560;
const HEIGHT = 200;
const LEFT = 70;
const BOTTOM = 24;
const TOP = 14;
const RIGHT = 14;

interface Scale {
  at(value: number): number;
  lowest: number;
  highest: number;
  logarithmic: boolean;
}

/** Logarithmic when all that is shown is positive and spans three decades or more. */
export function scaleOf(values: readonly number[], from: number, to: number): Scale {
  const finite = values.filter(Number.isFinite);
  let lowest = Math.min(...finite);
  let highest = Math.max(...finite);
  if (finite.length === 0) [lowest, highest] = [0, 1];
  const logarithmic = lowest > 0 && highest / lowest >= 1000;
  if (logarithmic) {
    const [a, b] = [Math.log10(lowest) - 0.1, Math.log10(highest) + 0.1];
    return { lowest, highest, logarithmic, at: (value) => from + ((Math.log10(value) - a) / (b - a)) * (to - from) };
  }
  const room = (highest - lowest || Math.abs(highest) || 1) * 0.08;
  const [a, b] = [lowest - room, highest + room];
  return { lowest, highest, logarithmic, at: (value) => from + ((value - a) / (b - a)) * (to - from) };
}

/** Pieces of a line: a number that is not finite, or not above zero on a logarithmic scale, interrupts it. */
export function lineOf(course: Course, x: (step: number) => number, scale: Scale): string {
  let path = '';
  let up = true;
  for (let i = 0; i < course.steps.length; ++i) {
    const value = course.values[i]!;
    if (!Number.isFinite(value) || (scale.logarithmic && value <= 0)) {
      up = true;
      continue;
    }
    path += `${up ? 'M' : 'L'}${x(course.steps[i]!).toFixed(1)} ${scale.at(value).toFixed(1)}`;
    if (up && i + 1 === course.steps.length) path += 'h0.1';
    up = false;
  }
  return path;
}

export function chartInWords({ title, course, threshold, firedAt, quantity, value, reading }: ChartQuestion): string {
  const firing = `the threshold is ${short(threshold)}; fired at step ${firedAt} with ${short(value)}.`;
  if (reading) return `${quantity} of ${title} is being read; ${firing}`;
  const values = Array.from(course.values).filter(Number.isFinite);
  const span = values.length === 0 ? 'has no finite value' : `lies between ${short(Math.min(...values))} and ${short(Math.max(...values))}`;
  return `${quantity} of ${title} ${span} over ${course.steps.length} points${holesInWords(course)}; ${firing}`;
}

export function evidenceChart(question: ChartQuestion): SVGSVGElement {
  const { course, threshold, firedAt, value: fired } = question;
  const steps = Array.from(course.steps);
  const first = Math.min(firedAt, ...steps);
  const last = Math.max(firedAt, ...steps);
  const inner = WIDTH - LEFT - RIGHT;
  const x = (step: number) => LEFT + (last > first ? (step - first) / (last - first) : 0.5) * inner;
  const scale = scaleOf([...Array.from(course.values), threshold, fired], HEIGHT - BOTTOM, TOP);
  const y = Number.isFinite(fired) && !(scale.logarithmic && fired <= 0) ? scale.at(fired) : HEIGHT - BOTTOM;
  const thresholdY = scale.at(threshold);
  return s(
    'svg',
    { class: 'rule-chart', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': chartInWords(question) },
    s('path', { class: 'grid', fill: 'none', d: `M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}` }),
    s('path', { class: 'value', d: lineOf(course, x, scale) }),
    s('path', { class: 'hole', d: holesPath(course, x, HEIGHT - BOTTOM) }),
    Number.isFinite(thresholdY) && s('path', { class: 'threshold', d: `M${LEFT} ${thresholdY}H${WIDTH - RIGHT}` }),
    Number.isFinite(thresholdY) && s('text', { x: WIDTH - RIGHT, y: thresholdY - 4, 'text-anchor': 'end' }, `threshold ${short(threshold)}`),
    s('path', { class: 'firing', d: `M${x(firedAt)} ${TOP}V${HEIGHT - BOTTOM}` }),
    s('path', { class: 'firing', d: `M${x(firedAt) - 5} ${y - 5}l10 10m0 -10l-10 10` }),
    s('text', { x: LEFT - 6, y: TOP + 10, 'text-anchor': 'end' }, short(scale.highest)),
    s('text', { x: LEFT - 6, y: HEIGHT - BOTTOM, 'text-anchor': 'end' }, short(scale.lowest)),
    question.reading && s('text', { x: LEFT + inner / 2, y: TOP + 10, 'text-anchor': 'middle' }, 'reading the course …'),
    first < last && s('text', { x: LEFT, y: HEIGHT - 6 }, `step ${first}`),
    s('text', { x: WIDTH - RIGHT, y: HEIGHT - 6, 'text-anchor': 'end' }, `step ${last}${scale.logarithmic ? ', logarithmic' : ''}`),
  );
}
