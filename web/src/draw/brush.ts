// Brushes: on which axes only some of the values count. As a word of a link: "lr~0.001~0.1,loss~0~1".

/** By the axis' id, the lowest and the highest value. */
export type Brushes = ReadonlyMap<string, readonly [low: number, high: number]>;

export function parseBrushes(word: string | undefined): Brushes {
  const brushes = new Map<string, readonly [number, number]>();
  for (const part of (word ?? '').split(',')) {
    const [id, low, high] = part.split('~');
    const range = [Number(low), Number(high)] as const;
    if (id && low && high && range.every(Number.isFinite)) brushes.set(unescaped(id), range);
  }
  return brushes;
}

/** undefined where there is none. */
export function formatBrushes(brushes: Brushes): string | undefined {
  const parts = [...brushes].map(([id, [low, high]]) => `${escape(id)}~${Number(low.toPrecision(6))}~${Number(high.toPrecision(6))}`);
  return parts.length === 0 ? undefined : parts.join(',');
}

/** Is each brushed value within? One that is not there is not. */
export function isWithin(brushes: Brushes, valueOf: (id: string) => number): boolean {
  for (const [id, [low, high]] of brushes) {
    const value = valueOf(id);
    if (!(value >= low && value <= high)) return false;
  }
  return true;
}

/** The same with another range on an axis, or without one. */
export function withBrush(brushes: Brushes, id: string, range: readonly [number, number] | undefined): Brushes {
  const changed = new Map(brushes);
  if (range) changed.set(id, range);
  else changed.delete(id);
  return changed;
}

function escape(id: string): string {
  return encodeURIComponent(id).replace(/~/g, '%7E');
}

function unescaped(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
