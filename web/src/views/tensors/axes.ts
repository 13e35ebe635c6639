// Which dimensions of a tensor run down, across, and over pictures, and the index in the others.
export interface Axes {
  /** Dimensions, null for none. */
  over: number | null; // pictures below each other
  down: number | null;
  across: number | null;
  /** The index of each other dimension. */
  at: number[];
}

const LARGEST_KERNEL = 11;

/** Kernels of a weight [out, in, height, width]; channels of an activation [batch, channels, height, width]. */
function usualRows(shape: readonly number[]): number | null {
  if (shape.length < 3) return null;
  if (shape.length !== 4) return shape.length - 3;
  return shape[2]! <= LARGEST_KERNEL && shape[3]! <= LARGEST_KERNEL ? 0 : 1;
}

/** "over" only when requested: grids have none. */
export function axesOf(shape: readonly number[], params: Readonly<Record<string, string>>, withOver: boolean): Axes {
  const rank = shape.length;
  const asked = (word: string, fallback: number | null): number | null => {
    const text = params[word];
    if (text === undefined) return fallback;
    const dimension = Number(text);
    return text !== '' && Number.isInteger(dimension) && dimension >= 0 && dimension < rank ? dimension : null;
  };
  const across = asked('across', rank >= 2 ? rank - 1 : null);
  const down = asked('down', rank >= 2 ? rank - 2 : rank === 1 ? 0 : null);
  const over = withOver ? asked('over', usualRows(shape)) : null;
  const given = (params['at'] ?? '').split(',');
  const at = shape.map((size, dimension) => {
    const index = Number(given[dimension] ?? 0);
    return Number.isInteger(index) && index >= 0 && index < size ? index : 0;
  });
  return { over: over === down || over === across ? null : over, down: down === across ? null : down, across, at };
}

/** The part for the API: ranges where one is wanted of a dimension, and the order of those kept. */
export function sliceOf(shape: readonly number[], axes: Axes, ranges: Partial<Record<'over' | 'down' | 'across', readonly [number, number]>>): { slice: string; axes: string } {
  const parts = shape.map((_, dimension) => {
    for (const role of ['over', 'down', 'across'] as const) {
      if (axes[role] !== dimension) continue;
      const range = ranges[role];
      return range ? `${range[0]}:${range[1]}` : ':';
    }
    return String(axes.at[dimension] ?? 0);
  });
  const kept = [axes.over, axes.down, axes.across].filter((dimension): dimension is number => dimension !== null);
  return { slice: parts.join(','), axes: kept.join(',') };
}
