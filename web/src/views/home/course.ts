// The course of one number as an SVG path in a box; what is not finite leaves a gap.
export function coursePath(steps: ArrayLike<number>, values: ArrayLike<number>, width: number, height: number): string {
  const finite = Array.from(values).filter(Number.isFinite);
  if (finite.length === 0) return '';
  const low = finite.reduce((a, b) => Math.min(a, b));
  const span = finite.reduce((a, b) => Math.max(a, b)) - low || 1;
  const first = steps[0]!;
  const length = steps[steps.length - 1]! - first || 1;
  let path = '';
  let pen = 'M';
  for (let i = 0; i < values.length; ++i) {
    const value = values[i]!;
    if (!Number.isFinite(value)) {
      pen = 'M';
      continue;
    }
    path += `${pen}${(((steps[i]! - first) / length) * width).toFixed(1)} ${(height - 3 - ((value - low) / span) * (height - 6)).toFixed(1)}`;
    pen = 'L';
  }
  return path;
}
