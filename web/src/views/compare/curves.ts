// The losses of both runs over the same steps.
import { loadCourse, type Course } from '../../data/course';
import { SourceError, type Source } from '../../data/source';
import { s } from '../../draw/dom';
import { short } from '../../draw/numbers';
import { holesInWords, holesPath } from '../course_holes';

interface Choice {
  id: string;
  name: string;
  collections: string[];
}

export interface Curves {
  name: string;
  a: Course;
  b: Course;
}

const MOST = 4;
const BUCKETS = 500;

/** Losses that both runs have, by name. */
export async function commonLosses(source: Source, a: string, b: string): Promise<{ id: string; name: string }[]> {
  const losses = async (run: string) => (await source.json<{ tensors: Choice[] }>(`/runs/${run}/series/choices`)).tensors.filter((each) => each.collections.includes('losses'));
  const [ofA, ofB] = await Promise.all([losses(a), losses(b)]);
  return ofA.filter((each) => ofB.some((other) => other.name === each.name)).slice(0, MOST);
}

/** Empty when one of the runs has no losses. */
export async function loadCurves(source: Source, a: string, b: string): Promise<Curves[]> {
  try {
    const losses = await commonLosses(source, a, b);
    return await Promise.all(losses.map(async ({ id, name }) => {
      const [ofA, ofB] = await Promise.all([a, b].map((run) => loadCourse(source, { run, tensor: id, buckets: BUCKETS })));
      return { name, a: ofA!, b: ofB! };
    }));
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return [];
  }
}

const WIDTH = 760;
const HEIGHT = 220;
const LEFT = 60;
const RIGHT = 10;
const TOP = 10;
const BOTTOM = 34;

function path(course: Course, x: (step: number) => number, y: (value: number) => number): string {
  let text = '';
  let up = true;
  for (let i = 0; i < course.steps.length; ++i) {
    const value = course.values[i]!;
    const finite = Number.isFinite(value);
    if (finite) text += `${up ? 'M' : 'L'}${x(course.steps[i]!).toFixed(1)} ${y(value).toFixed(1)}`;
    up = !finite;
  }
  return text;
}

function extent(values: readonly number[]): [number, number] {
  let [lowest, highest] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    lowest = Math.min(lowest, value);
    highest = Math.max(highest, value);
  }
  return lowest > highest ? [0, 1] : [lowest, highest];
}

function lastOf(course: Course): string {
  return course.values.length === 0 ? 'nothing' : short(course.values[course.values.length - 1]!);
}

/** One loss of both runs; the line of B is dashed. */
export function curvesChart({ name, a, b }: Curves, names: { a: string; b: string }, partedAt: number | null): SVGSVGElement {
  const [first, last] = extent([...Array.from(a.steps), ...Array.from(b.steps)]);
  const [lowest, highest] = extent([...Array.from(a.values), ...Array.from(b.values)]);
  const x = (step: number) => LEFT + ((step - first) / Math.max(1, last - first)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) => HEIGHT - BOTTOM - ((value - lowest) / (highest - lowest || 1)) * (HEIGHT - BOTTOM - TOP);
  const parted = partedAt !== null && partedAt >= first && partedAt <= last;
  const words = `${name} over steps ${first} to ${last}: ${names.a} ends at ${lastOf(a)}${holesInWords(a)}, ${names.b} at ${lastOf(b)}${holesInWords(b)}${parted ? `; they part at step ${partedAt}` : ''}.`;
  return s(
    'svg',
    { class: 'compare-curves', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': words },
    s('path', { class: 'frame', d: `M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}` }),
    parted && s('path', { class: 'parting', d: `M${x(partedAt)} ${TOP}V${HEIGHT - BOTTOM}` }),
    s('path', { class: 'a', d: path(a, x, y) }),
    s('path', { class: 'b', d: path(b, x, y) }),
    s('path', { class: 'hole', d: holesPath(a, x, HEIGHT - BOTTOM) + holesPath(b, x, HEIGHT - BOTTOM) }),
    s('text', { x: LEFT - 6, y: TOP + 10, 'text-anchor': 'end' }, short(highest)),
    s('text', { x: LEFT - 6, y: HEIGHT - BOTTOM, 'text-anchor': 'end' }, short(lowest)),
    s('text', { x: LEFT, y: HEIGHT - BOTTOM + 14 }, `step ${first}`),
    s('text', { x: WIDTH - RIGHT, y: HEIGHT - BOTTOM + 14, 'text-anchor': 'end' }, `step ${last}`),
    s('text', { x: LEFT, y: HEIGHT - 4 }, `${name}: ${names.a} —, ${names.b} – –${parted ? `, part at step ${partedAt}` : ''}`),
  );
}
