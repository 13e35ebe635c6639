// NaN and infinities of a course: no line shows them, so they have crosses on the axis and words of their own.
import type { Course } from '../data/course';

/** An SVG path. */
export function holesPath(course: Course, x: (step: number) => number, y: number): string {
  return (course.holes ?? []).map((step) => `M${(x(step) - 3).toFixed(1)} ${y - 3}l6 6m0 -6l-6 6`).join('');
}

export function holesInWords(course: Course): string {
  const count = course.holes?.length ?? 0;
  return count === 0 ? '' : `, not finite at ${count} ${count === 1 ? 'place' : 'places'} (first step ${course.holes![0]})`;
}
