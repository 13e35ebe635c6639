// A line of a few numbers, as one SVG path. NaN leaves a gap.
import { s } from '../../draw/dom';

/** "M0 10L5 3": the points that are numbers, within `width` x `height`. */
export function linePath(xs: ArrayLike<number>, ys: ArrayLike<number>, width: number, height: number, low: number, high: number): string {
  const first = xs[0] ?? 0;
  let last = first;
  for (let i = 0; i < xs.length; ++i) if (!Number.isNaN(xs[i]!)) last = xs[i]!;
  const across = last === first ? 1 : last - first;
  const span = high === low ? 1 : high - low;
  let path = '';
  let pen = false;
  for (let i = 0; i < xs.length; ++i) {
    const y = ys[i]!;
    if (Number.isNaN(xs[i]!) || !Number.isFinite(y)) {
      pen = false;
      continue;
    }
    const px = ((xs[i]! - first) / across) * width;
    const py = high === low ? height / 2 : height - ((y - low) / span) * height;
    path += `${pen ? 'L' : 'M'}${px.toFixed(1)} ${py.toFixed(1)}`;
    pen = true;
  }
  return path;
}

export function finiteRange(values: ArrayLike<number>): [low: number, high: number] | null {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; ++i) {
    const value = values[i]!;
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}

export function sparkline(xs: ArrayLike<number>, ys: ArrayLike<number>, width = 90, height = 18): SVGElement {
  const range = finiteRange(ys);
  const drawing = s('svg', { width, height: height + 2, viewBox: `0 -1 ${width} ${height + 2}`, class: 'tn-spark', 'aria-hidden': 'true' });
  if (range) drawing.append(s('path', { d: linePath(xs, ys, width, height, range[0], range[1]) }));
  return drawing;
}
